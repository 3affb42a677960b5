import Foundation
import Testing

/// One Swift file of the repository.
private struct SourceFile {
  /// Its path below the repository.
  let name: String
  let lines: [String]

  /// A list of words, which no rule of style is for.
  private static let table = "CommonPasswordList.swift"

  static let all: Result<[SourceFile], any Error> = Result {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try ["Sources", "Tests", "db"].flatMap { folder in
      let names = FileManager.default.enumerator(atPath: root.path + "/" + folder)
      return try (names?.compactMap { $0 as? String } ?? [])
        .filter { $0.hasSuffix(".swift") && !$0.hasSuffix(table) }
        .map { name in
          let text = try String(
            contentsOfFile: "\(root.path)/\(folder)/\(name)",
            encoding: .utf8
          )
          return SourceFile(
            name: "\(folder)/\(name)",
            lines: text.components(separatedBy: "\n")
          )
        }
    }
  }

  /// The lines where `isWrong` holds, as `file:line`.
  func places(_ isWrong: (Int, String) -> Bool) -> [String] {
    lines.indices.filter { isWrong($0, lines[$0]) }.map { "\(name):\($0 + 1)" }
  }
}

/// The places where `isWrong` holds of a line, in all files.
private func places(_ isWrong: (SourceFile, Int, String) -> Bool) throws -> [String] {
  try SourceFile.all.get().flatMap { file in
    file.places { isWrong(file, $0, $1) }
  }
}

@Suite("The repository")
struct TidyTests {
  @Test func `has files that can be read at one sitting`() throws {
    let long = try SourceFile.all.get().filter {
      $0.lines.count > 401
    }.map(\.name)
    #expect(long.isEmpty, "\(long)")
    #expect(try SourceFile.all.get().count > 150)
  }

  @Test func `leaves nothing for later`() throws {
    // Spelt in two halves, or this file would be found.
    let marks = ["TO" + "DO", "FIX" + "ME", "X" + "XX:"]
    let found = try places { _, _, line in marks.contains { line.contains($0) } }
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `ignores no error and unwraps nothing by force`() throws {
    let attempt = "try" + "!"
    // A name or a bracket with a mark behind it, that is no comparison and stands in no text.
    let unwrap = try Regex(#"[A-Za-z0-9_\)\]]!($|[^=A-Za-z"])"#)
    let found = try places { _, _, line in
      let code = line.components(separatedBy: "//")[0].components(separatedBy: "\"")[0]
      return code.contains(attempt) || code.contains("as" + "!")
        || code.firstMatch(of: unwrap) != nil
    }
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `gives the reason for whatever the compiler can't check`() throws {
    let claims = ["@unchecked Sendable", "nonisolated(unsafe)", "unsafelyUnwrapped"]
    let found = try places { file, index, line in
      let isCode = !line.drop { $0 == " " }.hasPrefix("//") && !line.contains("\"")
      guard isCode, claims.contains(where: { line.contains($0) }) else { return false }
      let above = file.lines[..<index].reversed().prefix(3)
      return !above.contains { $0.drop { $0 == " " }.hasPrefix("//") }
    }
    #expect(found.isEmpty, "\(found)")
  }
}
