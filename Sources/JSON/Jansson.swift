internal import CJansson

/// Owner of one tree of jansson's; it is released exactly once, and never leaves this file.
struct Jansson: ~Copyable {
  private let root: UnsafeMutablePointer<json_t>

  /// Parses `bytes`, which `Scan` has found shallow enough for a recursive parser.
  init(_ bytes: UnsafeRawBufferPointer) throws(JSONError.Malformed) {
    var error = json_error_t()
    let flags = Int(JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL)
    let text = bytes.assumingMemoryBound(to: CChar.self)
    guard let root = json_loadb(text.baseAddress, text.count, flags, &error) else {
      throw JSONError.Malformed(error, isEmpty: bytes.allSatisfy(isWhitespace))
    }
    self.root = root
  }

  deinit { json_decref(root) }

  /// The tree as a value that needs no owner.
  borrowing func value() -> JSON { JSON(root) }
}

/// Whether JSON skips `byte` between tokens.
private func isWhitespace(_ byte: UInt8) -> Bool {
  byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
}

extension JSON {
  fileprivate init(_ node: UnsafeMutablePointer<json_t>) {
    switch node.pointee.type {
    case JSON_OBJECT: self = .object(JSONObject(node))
    case JSON_ARRAY:
      self = .array(
        (0..<json_array_size(node)).compactMap { json_array_get(node, $0).map(JSON.init) }
      )
    case JSON_STRING:
      self = .string(copy(json_string_value(node), json_string_length(node)))
    case JSON_INTEGER: self = .integer(Int64(json_integer_value(node)))
    case JSON_REAL: self = .real(json_real_value(node))
    case JSON_TRUE: self = .bool(true)
    case JSON_FALSE: self = .bool(false)
    default: self = .null
    }
  }
}

extension JSONObject {
  /// The members in the order of the text, which jansson keeps.
  fileprivate init(_ node: UnsafeMutablePointer<json_t>) {
    var members: [Member] = []
    members.reserveCapacity(json_object_size(node))
    var iterator = json_object_iter(node)
    while let current = iterator {
      if let value = json_object_iter_value(current) {
        let key = copy(json_object_iter_key(current), json_object_iter_key_len(current))
        members.append(Member(key: key, value: JSON(value)))
      }
      iterator = json_object_iter_next(node, current)
    }
    self.init(members)
  }
}

/// A copy of jansson's UTF-8, which it has checked.
private func copy(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
  String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
}

extension JSONError.Malformed {
  fileprivate init(_ error: json_error_t, isEmpty: Bool) {
    // jansson keeps its code in the last byte of the text; `json_error_code` reads it there.
    let code = withUnsafePointer(to: error) { json_error_code($0) }
    reason =
      switch code {
      case json_error_duplicate_key: .duplicateKey
      case json_error_stack_overflow: .tooDeep
      case json_error_invalid_utf8: .notUTF8
      case json_error_end_of_input_expected: .trailingBytes
      case json_error_null_byte_in_key: .nulInKey
      default: isEmpty ? .empty : .syntax
      }
    line = Int(error.line)
    column = Int(error.column)
  }
}

extension JSONError.Malformed: Error {}
