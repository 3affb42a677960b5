import EventLog
import HTTP
import Profiles
import Sodium

/// The parameters of a request's query; a "+" is a plus, and nothing unknown is passed over.
struct Query {
  private let values: [String: String]

  /// Reads a query that may hold the `known` parameters, each once.
  init(_ request: Request, known: Set<String>) throws(Problem) {
    guard let query = request.query else {
      values = [:]
      return
    }
    var values: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decode(parts[0]),
        let value = Self.decode(parts.count > 1 ? parts[1] : "")
      else { throw .malformedRequest("The query is not percent-encoded UTF-8.") }
      guard known.contains(name) else {
        throw .malformedRequest("The query parameter '\(name)' is not known here.")
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw .malformedRequest("The query parameter '\(name)' stands there twice.")
      }
    }
    self.values = values
  }

  subscript(name: String) -> String? { values[name] }

  /// Items of a page at most, and unless told otherwise.
  static let limits = 1...200
  static let defaultLimit = 50

  /// `limit`, how many items a page has.
  func limit() throws(Problem) -> Int {
    guard let text = values["limit"] else { return Self.defaultLimit }
    guard let limit = Int(text), Self.limits.contains(limit) else {
      throw .malformedRequest("The query parameter 'limit' is a number from 1 to 200.")
    }
    return limit
  }

  /// `cursor`, where a page begins, in the form that `convert` reads.
  func cursor<Value>(_ convert: (String) -> Value?) throws(Problem) -> Value? {
    guard let text = values["cursor"] else { return nil }
    guard let bytes = Base64URL.decode(text),
      let value = convert(String(decoding: bytes, as: UTF8.self))
    else { throw .malformedRequest("The query parameter 'cursor' is none that was given here.") }
    return value
  }

  /// The text of a cursor that `cursor` reads.
  static func cursor(_ value: some CustomStringConvertible) -> String {
    Base64URL.encode(Array(value.description.utf8))
  }

  /// `name` as one of a closed set of words; `standard` where it is absent.
  func choice<Value>(
    _ name: String,
    _ choices: [(String, Value)],
    standard: Value
  ) throws(Problem) -> Value {
    guard let text = values[name] else { return standard }
    guard let choice = choices.first(where: { $0.0 == text }) else {
      let words = choices.map { "'\($0.0)'" }.joined(separator: " or ")
      throw .malformedRequest("The query parameter '\(name)' is \(words).")
    }
    return choice.1
  }

  private static func decode(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      // Hexadecimal digits alone: a number's text might have a sign too.
      guard let high = rest.popFirst().flatMap(Self.digit),
        let low = rest.popFirst().flatMap(Self.digit)
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}
