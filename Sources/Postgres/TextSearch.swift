/// Words in the notation of PostgreSQL's text search; none of them has a meaning there.
public enum TextSearch {
  /// A `tsvector` of these words, without positions.
  public static func vector(_ words: [String]) -> String {
    words.map(quoted).joined(separator: " ")
  }

  /// A `tsquery` that finds what has, for each of these words, one that begins with it.
  public static func everyPrefix(_ words: [String]) -> String {
    words.map { quoted($0) + ":*" }.joined(separator: " & ")
  }

  private static func quoted(_ word: String) -> String {
    var literal = "'"
    for character in word.unicodeScalars {
      if character == "'" || character == "\\" { literal.unicodeScalars.append(character) }
      literal.unicodeScalars.append(character)
    }
    return literal + "'"
  }
}
