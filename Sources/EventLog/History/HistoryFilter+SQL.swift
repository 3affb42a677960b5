import Clocks
public import Postgres
import Profiles
import Sodium

extension HistoryFilter {
  /// A number that differs where the filters of two lists, or `list` which names the rest of them,
  /// differ; part of the cursors of that list.
  public func fingerprint(_ list: String) -> String {
    var text = list
    func add(_ name: String, _ value: String?) {
      guard let value else { return }
      // Lengths keep a name of a field from looking like another filter.
      text += " \(name) \(value.utf8.count) \(value)"
    }
    add("actor", actor?.text)
    for type in types.map(\.rawValue).sorted() { add("type", type) }
    for field in fields.sorted() { add("field", field) }
    add("since", since?.microseconds.description)
    add("until", until?.microseconds.description)
    return SHA256.digest(of: text.utf8).prefix(8).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  /// How a table is asked for types and fields: what stands for a condition on an array of them.
  public struct Columns: Sendable {
    let anyType: @Sendable (String) -> String
    let anyField: @Sendable (String) -> String

    /// Conditions made by these.
    public init(
      anyType: @escaping @Sendable (String) -> String,
      anyField: @escaping @Sendable (String) -> String
    ) {
      self.anyType = anyType
      self.anyField = anyField
    }

    /// Those of `events`.
    static let events = Columns(
      anyType: { "type = any (\($0))" },
      anyField: { "changed && \($0)" }
    )
  }

  /// The conditions of actor, types and fields on a table with these `columns`, for a statement
  /// that has `parameters` already.
  public func conditions(
    _ columns: Columns,
    _ parameters: inout Parameters
  ) -> [String] {
    var conditions: [String] = []
    func add(_ id: Identifier<Actor>) {
      parameters.add(id)
      conditions.append("actor_id = $\(parameters.count)::uuid")
    }
    switch actor {
    case .system: conditions += ["actor_id is null", "actor_kind = 3"]
    case .anyone(let id): add(id)
    case .user(let id):
      add(id)
      conditions.append("actor_kind = 1")
    case .operator(let id):
      add(id)
      conditions.append("actor_kind = 2")
    case nil: break
    }
    if !types.isEmpty {
      parameters.add(array: types) { $0.rawValue }
      conditions.append(columns.anyType("$\(parameters.count)::text[]"))
    }
    if !fields.isEmpty {
      parameters.add(array: fields) { $0 }
      conditions.append(columns.anyField("$\(parameters.count)::text[]"))
    }
    return conditions
  }
}
