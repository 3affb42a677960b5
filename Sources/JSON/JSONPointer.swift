/// A JSON Pointer (RFC 6901): the way from a document's root to one value.
public struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
  /// The pointer's text: "" is the root, "/a/0" the first element of the member `a`.
  public let description: String

  /// The root.
  public static let root = JSONPointer(text: "")

  private init(text: String) {
    description = text
  }

  /// The pointer that goes along `keys`, which are not escaped yet.
  public init(_ keys: some Sequence<String>) {
    var text = ""
    for key in keys {
      text += "/"
      for scalar in key.unicodeScalars {
        switch scalar {
        case "~": text += "~0"
        case "/": text += "~1"
        default: text.unicodeScalars.append(scalar)
        }
      }
    }
    description = text
  }

  /// The pointer to the member `key` of the value that this one names.
  public func appending(_ key: String) -> JSONPointer {
    JSONPointer(text: description + JSONPointer([key]).description)
  }

  /// The pointer to an element of the array that this one names.
  public func appending(_ index: Int) -> JSONPointer {
    JSONPointer(text: "\(description)/\(index)")
  }
}

extension JSONPointer: ExpressibleByStringLiteral {
  /// The pointer whose escaped text is `value`.
  public init(stringLiteral value: String) {
    self.init(text: value)
  }
}
