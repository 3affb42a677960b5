import EventLog
import Profiles
import Settings

/// What `jejak history` and `jejak audit` have in common: filters, order, length and form.
struct HistoryOptions {
  /// Entries unless told otherwise.
  static let usualLimit = 50

  /// How entries are printed.
  enum Form {
    case text
    case json
    case csv
  }

  let filter: HistoryFilter
  let order: History.Order
  let stream: Event.Stream?
  /// Entries at most; nil: all.
  let limit: Int?
  let form: Form

  static let options = [
    CommandOption("actor", "WHO", help: "By this one: an id, user:ID, operator:ID or system."),
    CommandOption(
      "type",
      "TYPE,…",
      help: "Of one of these types, such as ProfileUpdated or SignedIn."
    ),
    CommandOption(
      "field",
      "FIELD,…",
      help: "That changed one of these fields, such as email or attributes.height."
    ),
    CommandOption("since", "TIME", help: "From this instant or day (UTC) on, such as 2026-11-30."),
    CommandOption("until", "TIME", help: "Before this instant or day (UTC)."),
    CommandOption("order", "ORDER", help: "desc, newest first, or asc; desc unless given."),
    CommandOption(
      "limit",
      "N",
      help: "At most so many entries; \(usualLimit) unless given."
    ),
    CommandOption("all", help: "Every entry, however many."),
    CommandOption("json", help: "Print a JSON object a line."),
    CommandOption("csv", help: "Print CSV, a line for each field that changed."),
  ]

  init(_ arguments: CommandArguments) throws {
    do throws(HistoryFilterError) {
      filter = try HistoryFilter { arguments[$0] }
    } catch {
      throw UsageError("--\(error.parameter) \(error.expectation)")
    }
    let order = arguments["order"] ?? "desc"
    guard let order = History.Order(rawValue: order) else {
      throw UsageError("--order: expected desc or asc, not '\(order)'")
    }
    self.order = order
    stream = try arguments["stream"].map { name in
      guard let stream = Event.Stream.allCases.first(where: { $0.name == name }) else {
        throw UsageError("--stream: expected profile or access, not '\(name)'")
      }
      return stream
    }
    guard let limit = Int(arguments["limit"] ?? "\(Self.usualLimit)"), limit > 0 else {
      throw UsageError("--limit: expected a number above 0")
    }
    guard !arguments.has("all") || !arguments.has("limit") else {
      throw UsageError("--all and --limit exclude each other")
    }
    self.limit = arguments.has("all") ? nil : limit
    guard !arguments.has("json") || !arguments.has("csv") else {
      throw UsageError("--json and --csv exclude each other")
    }
    form = arguments.has("json") ? .json : arguments.has("csv") ? .csv : .text
  }
}
