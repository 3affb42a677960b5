import CLinux
import Glibc

/// A file of `KEY=value` lines, with the names of the environment; `#` begins a comment line.
struct SettingsFile {
  /// More than any settings file needs; a wrong path is not read whole.
  static let largestSize = 65_536

  let values: [String: (text: String, line: Int)]

  init(path: String) throws(UsageError) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw UsageError("cannot read \(path): \(String(cString: strerror(errno)))")
    }
    defer { _ = close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= Self.largestSize {
      let count = read(file, &chunk, chunk.count)
      guard count >= 0 else {
        throw UsageError("cannot read \(path): \(String(cString: strerror(errno)))")
      }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    guard bytes.count <= Self.largestSize else {
      throw UsageError("\(path) is too large for a settings file")
    }
    try self.init(text: String(decoding: bytes, as: UTF8.self), path: path)
  }

  init(text: String, path: String) throws(UsageError) {
    let known = Set(Setting.table.map(\.variable))
    var values: [String: (text: String, line: Int)] = [:]
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, line) in lines.enumerated() {
      let trimmed = line.trimmingSpaces
      if trimmed.isEmpty || trimmed.hasPrefix("#") { continue }
      guard let equals = trimmed.firstIndex(of: "=") else {
        throw UsageError("\(path):\(index + 1): expected KEY=value")
      }
      let key = String(trimmed[..<equals].trimmingSpaces)
      guard known.contains(key) else {
        throw UsageError("\(path):\(index + 1): unknown setting \(key)")
      }
      guard values[key] == nil else {
        throw UsageError("\(path):\(index + 1): \(key) is set twice")
      }
      let value = trimmed[trimmed.index(after: equals)...].trimmingSpaces
      values[key] = (String(value), index + 1)
    }
    self.values = values
  }
}

extension StringProtocol where SubSequence == Substring {
  /// Without spaces and tabs at its ends.
  var trimmingSpaces: Substring {
    var rest = self[...]
    while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
    return rest
  }
}
