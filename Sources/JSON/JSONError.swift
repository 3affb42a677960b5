/// Why a text is no value; it never carries the text itself.
public enum JSONError: Error, Hashable, Sendable {
  /// Not one strict JSON value in UTF-8: wrong syntax, a key twice, nested too deeply, bytes
  /// after the value, or none. Send another text.
  case malformed(Malformed)
  /// The number at `pointer` is no `Int64`, or not what a `Double` reads back as. Send it with
  /// fewer digits.
  case numberNotExact(pointer: JSONPointer)
  /// The string at `pointer` holds U+0000. Send it without.
  case nulCharacter(pointer: JSONPointer)

  /// Where a text stops being JSON.
  public struct Malformed: Hashable, Sendable {
    /// What is wrong, in words for a person.
    public enum Reason: String, Sendable {
      case syntax = "not JSON"
      case duplicateKey = "an object has the same member twice"
      case tooDeep = "nested too deeply"
      case notUTF8 = "not UTF-8"
      case trailingBytes = "something follows the value"
      case empty = "nothing there"
      case nulInKey = "a member's name holds U+0000"
    }

    /// What is wrong there.
    public let reason: Reason
    /// The line, from 1.
    public let line: Int
    /// The column in code points, from 1; 0 before the first.
    public let column: Int

    /// A place and what is wrong there.
    public init(reason: Reason, line: Int, column: Int) {
      self.reason = reason
      self.line = line
      self.column = column
    }
  }
}
