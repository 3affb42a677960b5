extension JSON {
  /// Reads the one strict JSON value that `bytes` are.
  ///
  /// Refused are duplicate keys, more than `maximumDepth` levels, anything but UTF-8, lone
  /// surrogates, U+0000, bytes after the value, and numbers that would change by being stored.
  public static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSON {
    let scan = Scan(bytes)
    if let offset = scan.tooDeepAt {
      throw .malformed(.init(reason: .tooDeep, at: offset, in: bytes))
    }
    guard scan.inexactNumbers.isEmpty else {
      throw inexactNumber(in: bytes, literals: scan.inexactNumbers)
    }
    let value = try load(bytes)
    if scan.mentionsNUL, let pointer = value.pointer(where: { $0.utf8.contains(0) }) {
      throw .nulCharacter(pointer: pointer)
    }
    return value
  }

  /// Reads the one strict JSON value that `bytes` are.
  public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON {
    // `withUnsafeBytes` is not declared with a typed error; a result carries ours out.
    let result: Result<JSON, JSONError> = bytes.withUnsafeBytes { buffer in
      do throws(JSONError) { return .success(try parse(buffer)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private static func load(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSON {
    do {
      return try Jansson(bytes).value()
    } catch {
      throw .malformed(error)
    }
  }

  /// The error that names the first of `literals`.
  ///
  /// jansson tells no path for a number, so each literal is replaced by a string that nobody
  /// can have sent, and that string is looked for in the result.
  private static func inexactNumber(
    in bytes: UnsafeRawBufferPointer,
    literals: [Range<Int>]
  ) -> JSONError {
    let marker = "number-\(UInt64.random(in: .min ... .max))-\(UInt64.random(in: .min ... .max))"
    var marked: [UInt8] = []
    marked.reserveCapacity(bytes.count + literals.count * (marker.utf8.count + 2))
    var copied = 0
    for literal in literals {
      marked += bytes[copied..<literal.lowerBound]
      marked += "\"\(marker)\"".utf8
      copied = literal.upperBound
    }
    marked += bytes[copied...]
    return marked.withUnsafeBytes { buffer in
      do throws(JSONError) {
        let pointer = try load(buffer).pointer { $0 == marker }
        return .numberNotExact(pointer: pointer ?? .root)
      } catch {
        return error
      }
    }
  }

  /// The way to the first string that satisfies `condition`.
  private func pointer(where condition: (String) -> Bool) -> JSONPointer? {
    var path: [String] = []
    return search(&path, condition) ? JSONPointer(path) : nil
  }

  private func search(_ path: inout [String], _ condition: (String) -> Bool) -> Bool {
    switch self {
    case .string(let text):
      return condition(text)
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        path.append(String(index))
        if element.search(&path, condition) { return true }
        path.removeLast()
      }
    case .object(let object):
      for member in object {
        path.append(member.key)
        if member.value.search(&path, condition) { return true }
        path.removeLast()
      }
    case .null, .bool, .integer, .real: break
    }
    return false
  }
}

extension JSONError.Malformed {
  init(reason: Reason, at offset: Int, in bytes: UnsafeRawBufferPointer) {
    let before = bytes[..<offset]
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    self.reason = reason
    line = 1 + before.count { $0 == UInt8(ascii: "\n") }
    // Continuation bytes of UTF-8 are no characters of their own.
    column = 1 + bytes[lineStart..<offset].count { $0 & 0xC0 != 0x80 }
  }
}
