internal import CUnistring
internal import Glibc

/// The words under which people are found, and the words of those who look for them.
///
/// Both go through `normal`, so that neither case, accents, width nor the way a character is
/// composed makes a difference.
public enum SearchWords {
  /// Bytes of a word that count; what is behind them is cut off, here as there.
  ///
  /// PostgreSQL takes words of up to 2046 bytes.
  public static let maximumLength = 256
  /// Code points of a query, at most.
  public static let maximumQueryLength = 200
  /// Words of a query, at most.
  public static let maximumQueryWords = 8

  /// The words of a person, each once, in order.
  ///
  /// Of each name every part between white space, and the parts of such a part at hyphens,
  /// apostrophes and plus signs, also joined. Of the address the whole, what stands before and after
  /// the @, the parts of both, and what begins behind a plus sign.
  public static func words(
    email: String,
    firstName: String?,
    lastName: String?
  ) -> [String] {
    var words: Set<String> = []
    for name in [firstName, lastName] {
      for word in split(normal(name ?? ""), isWhiteSpace) {
        let parts = split(word, isJoint)
        words.insert(word)
        words.formUnion(parts)
        words.insert(parts.joined())
      }
    }
    let address = normal(email)
    words.insert(address)
    for part in split(address, { $0 == "@" }) {
      words.insert(part)
      words.formUnion(split(part, isJointOfAddress))
    }
    let scalars = address.unicodeScalars
    for plus in scalars.indices where scalars[plus] == "+" {
      words.insert(String(scalars[scalars.index(after: plus)...]))
    }
    words.remove("")
    return Set(words.map(cut)).sorted(by: isOrdered)
  }

  /// The words of `query`, each the beginning of a word that is looked for.
  ///
  /// A plus sign parts them too: many clients send a space as one.
  public static func words(ofQuery query: String) -> [String] {
    let words = split(normal(query)) { isWhiteSpace($0) || $0 == "+" }
    return Set(words.map(cut)).sorted(by: isOrdered)
  }

  /// Whether each of `query`, the words of a query, begins one of `words`, those of a person.
  public static func areFound(_ query: [String], in words: [String]) -> Bool {
    query.allSatisfy { part in words.contains { $0.utf8.starts(with: part.utf8) } }
  }

  /// `text` without case and accents: Normalization Form KD, full case folding, without marks.
  static func normal(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.asciiLowercased }
    // Marks go first: the dot of İ is one, and would stay behind after folding.
    let plain = text.nfkd.unicodeScalars.filter { !isMark($0) }
    let folded = String(String.UnicodeScalarView(plain)).foldedCase
    var result = ""
    for scalar in folded.unicodeScalars where !isMark(scalar) {
      if let letters = letters[scalar] {
        result += letters
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Letters that no decomposition takes apart, and marks that stand for an apostrophe or hyphen.
  private static let letters: [Unicode.Scalar: String] = [
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h",
    "ŧ": "t", "ŋ": "n", "ɨ": "i", "ƀ": "b", "ɖ": "d", "ĸ": "k", "ə": "e",
    "\u{2018}": "'", "\u{2019}": "'", "\u{02BB}": "'", "\u{02BC}": "'", "\u{02B9}": "'",
    "\u{2032}": "'",
    "\u{2010}": "-", "\u{2011}": "-", "\u{2012}": "-", "\u{2013}": "-", "\u{2212}": "-",
  ]

  /// Whether it only changes the letter before it, or is not seen at all.
  ///
  /// Vowel signs of the scripts of India and south-east Asia are letters of their own: their
  /// classes are 0, 7 to 9 and 84 to 132.
  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.isASCII else { return false }
    let properties = scalar.properties
    let mark = properties.canonicalCombiningClass.rawValue
    return (10...36).contains(mark) || mark >= 200 || properties.isDefaultIgnorableCodePoint
  }

  /// Whether words end at it; a control character is part of none.
  private static func isWhiteSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || scalar.isControl
  }

  private static func isJoint(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "-" || scalar == "'" || scalar == "+"
  }

  private static func isJointOfAddress(_ scalar: Unicode.Scalar) -> Bool {
    ".+_-".unicodeScalars.contains(scalar)
  }

  private static func split(
    _ text: String,
    _ isBetween: (Unicode.Scalar) -> Bool
  ) -> [String] {
    text.unicodeScalars.split(whereSeparator: isBetween).map { String($0) }
  }

  /// The whole characters of `word` that fit into `maximumLength` bytes.
  private static func cut(_ word: String) -> String {
    guard word.utf8.count > maximumLength else { return word }
    var result = ""
    var count = 0
    for scalar in word.unicodeScalars {
      count += UTF8.width(scalar)
      guard count <= maximumLength else { break }
      result.unicodeScalars.append(scalar)
    }
    return result
  }

  /// The order of the bytes.
  private static func isOrdered(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}
