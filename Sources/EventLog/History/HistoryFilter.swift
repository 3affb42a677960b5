public import Clocks
public import Profiles

/// Which events a history or an audit shows; what is not said doesn't matter.
public struct HistoryFilter: Hashable, Sendable {
  /// Values that `type` and `field` may list.
  public static let listLimit = 20
  /// Code points of the name of a field.
  public static let fieldNameLimit = 200

  /// Who caused them.
  public enum Cause: Hashable, Sendable {
    /// The service itself, or someone it doesn't know.
    case system
    /// A user or a key, whichever has this id.
    case anyone(Identifier<Actor>)
    /// This user.
    case user(Identifier<Actor>)
    /// This API key.
    case `operator`(Identifier<Actor>)
  }

  /// Who caused them.
  public var actor: Cause?
  /// Any of these happened; empty: whatever happened.
  public var types: [Event.Kind] = []
  /// Any of these fields changed; empty: whatever changed, or nothing.
  public var fields: [String] = []
  /// The first instant.
  public var since: Timestamp?
  /// The first instant that is too late.
  public var until: Timestamp?

  /// Everything.
  public init() {}

  /// Whether it lets everything through.
  public var isEmpty: Bool { self == HistoryFilter() }
}

/// A value that a filter can't be made of.
public struct HistoryFilterError: Error {
  /// The parameter that has it.
  public let parameter: String
  /// What it has to be, such as "is a number".
  public let expectation: String
}

extension HistoryFilter {
  /// The names of the parameters that `init(_:)` asks for.
  public static let parameters = ["actor", "type", "field", "since", "until"]

  /// The filter whose parameters have the texts that `value` gives; nil where one is absent.
  public init(_ value: (String) -> String?) throws(HistoryFilterError) {
    if let text = value("actor") {
      guard let cause = Cause(text) else {
        throw HistoryFilterError(
          parameter: "actor",
          expectation: "is an id, user:ID, operator:ID or system"
        )
      }
      actor = cause
    }
    if let text = value("type") {
      types = try Self.list("type", text) { name throws(HistoryFilterError) in
        guard let kind = Event.Kind(rawValue: name) else {
          throw HistoryFilterError(
            parameter: "type",
            expectation: "is one or more, with commas between them, of "
              + Event.Kind.allCases.map(\.rawValue).joined(separator: ", ")
          )
        }
        return kind
      }
    }
    if let text = value("field") {
      fields = try Self.list("field", text) { name throws(HistoryFilterError) in
        guard (1...Self.fieldNameLimit).contains(name.unicodeScalars.count),
          !name.unicodeScalars.contains("\0")
        else {
          throw HistoryFilterError(
            parameter: "field",
            expectation:
              "is one or more names of 1 to \(Self.fieldNameLimit) characters, with commas "
              + "between them"
          )
        }
        return name
      }
    }
    since = try Self.instant("since", value("since"))
    until = try Self.instant("until", value("until"))
  }

  private static func instant(
    _ parameter: String,
    _ text: String?
  ) throws(HistoryFilterError) -> Timestamp? {
    guard let text else { return nil }
    guard let instant = Timestamp(text) ?? Timestamp(startOfDay: text) else {
      throw HistoryFilterError(
        parameter: parameter,
        expectation: "is an instant such as 2026-11-30T10:00:00Z, or a day such as 2026-11-30"
      )
    }
    return instant
  }

  /// Reads a list with commas between its values, each once; `\` takes what is special from the
  /// character behind it.
  private static func list<Element: Hashable>(
    _ parameter: String,
    _ text: String,
    _ convert: (String) throws(HistoryFilterError) -> Element
  ) throws(HistoryFilterError) -> [Element] {
    var texts = [""]
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if isEscaped || (scalar != "\\" && scalar != ",") {
        texts[texts.count - 1].unicodeScalars.append(scalar)
        isEscaped = false
      } else if scalar == "," {
        texts.append("")
      } else {
        isEscaped = true
      }
    }
    guard texts.count <= listLimit else {
      throw HistoryFilterError(
        parameter: parameter,
        expectation: "lists \(listLimit) values at most"
      )
    }
    var elements: [Element] = []
    for text in texts {
      let element = try convert(text)
      if !elements.contains(element) { elements.append(element) }
    }
    return elements
  }
}

extension HistoryFilter.Cause {
  /// Reads `system`, an id, `user:ID` or `operator:ID`.
  public init?(_ text: String) {
    if text == "system" {
      self = .system
    } else if let id = Identifier<Actor>(text) {
      self = .anyone(id)
    } else if text.hasPrefix("user:"), let id = Identifier<Actor>(text.dropFirst(5)) {
      self = .user(id)
    } else if text.hasPrefix("operator:"), let id = Identifier<Actor>(text.dropFirst(9)) {
      self = .operator(id)
    } else {
      return nil
    }
  }

  /// The text that `init(_:)` reads.
  var text: String {
    switch self {
    case .system: "system"
    case .anyone(let id): id.description
    case .user(let id): "user:\(id)"
    case .operator(let id): "operator:\(id)"
    }
  }
}
