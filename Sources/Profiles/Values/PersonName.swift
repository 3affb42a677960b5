/// A first or last name: whatever a person says it is, within a length, as visible text.
public struct PersonName: Hashable, Sendable {
  /// The name, trimmed, in Normalization Form C.
  public let text: String

  /// Code points in a name, at most.
  public static let maximumLength = 100

  /// The name that somebody typed.
  init(_ typed: String) throws(Problem) {
    let text = typed.trimmed.nfc
    var length = 0
    var isVisible = false
    for scalar in text.unicodeScalars {
      length += 1
      if scalar.isControl || scalar.isBidiControl || scalar.isLineSeparator
        || scalar.isNoncharacter
      {
        throw Problem(
          .forbiddenCharacter,
          "U+\(String(scalar.value, radix: 16, uppercase: true)) is not allowed in a name."
        )
      }
      if !isVisible {
        isVisible = scalar.isASCII || !scalar.properties.isDefaultIgnorableCodePoint
      }
    }
    guard length <= Self.maximumLength else {
      throw Problem(.tooLong, "A name has at most \(Self.maximumLength) characters.")
    }
    guard isVisible else {
      throw Problem(.tooShort, "A name has at least one visible character; null clears it.")
    }
    self.text = text
  }

  /// The name as it was stored, whatever today's rules say about it.
  init(stored text: String) {
    self.text = text
  }
}
