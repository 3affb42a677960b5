/// The members of a JSON object as slices of its text, which is not read any further.
///
/// For text that was written by this program: syntax is not checked, and a name that holds an
/// escape is not found.
public struct JSONMembers {
  private let text: ArraySlice<UInt8>
  private var members: [(name: Range<Int>, value: Range<Int>)] = []

  /// Cuts `text`, which is an object, at its members; nil where it is no object.
  public init?(of text: ArraySlice<UInt8>) {
    self.text = text
    guard text.first == UInt8(ascii: "{"), text.last == UInt8(ascii: "}") else { return nil }
    members.reserveCapacity(8)
    var index = text.startIndex + 1
    let end = text.endIndex - 1
    while index < end {
      let name = index + 1..<behindString(from: index) - 1
      // Behind the closing quote stands the colon.
      let start = name.upperBound + 2
      guard start <= end else { return nil }
      index = behindValue(from: start, end)
      members.append((name, start..<index))
      index += 1
    }
  }

  /// The text of the member's value; nil where there is no such member.
  public subscript(name: StaticString) -> ArraySlice<UInt8>? {
    let found = name.withUTF8Buffer { name in
      members.first { text[$0.name].elementsEqual(name) }
    }
    return found.map { text[$0.value] }
  }

  /// The index behind the string that begins at `start`.
  private func behindString(from start: Int) -> Int {
    var index = start + 1
    while index < text.endIndex, text[index] != UInt8(ascii: "\"") {
      index += text[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, text.endIndex)
  }

  /// The index of the comma behind the value that begins at `start`, or of the object's end.
  private func behindValue(from start: Int, _ end: Int) -> Int {
    var index = start
    var depth = 0
    while index < end {
      switch text[index] {
      case UInt8(ascii: "\""):
        index = behindString(from: index)
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ","):
        if depth == 0 { return index }
      default: break
      }
      index += 1
    }
    return end
  }
}
