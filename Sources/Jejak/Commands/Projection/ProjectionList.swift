import Clocks
import EventLog
import JSON
import Postgres
import Projections
import Settings

extension ProjectionVerb {
  static var list: Self {
    Self(name: "list", takesName: false, help: "shows them.", run: list)
  }

  private static func list(_ call: Call) throws -> ExitStatus {
    let connection = try BlockingConnection(
      target: call.target,
      applicationName: "jejak projection"
    )
    let states = try ProjectionState.read(ReadModels.all, connection)
    let open = try RebuildRecord.open(connection)
    if call.wantsJSON {
      let body = JSON.array(
        try states.map { json($0, open[$0.name], rows: try rows(of: $0, connection)) }
      )
      Output.write(String(decoding: body.bytes, as: UTF8.self) + "\n")
    } else {
      Output.write(TextTable.of(header, try states.map { line($0, try rows(of: $0, connection)) }))
      for state in states { Output.write(remarks(state, open[state.name])) }
      if try !Runner.isAnywhere(connection) {
        Output.write("nobody follows the log now: jejak serve does\n")
      }
    }
    return .success
  }

  private static let header = ["NAME", "MODE", "REVISION", "POSITION", "LAG", "ROWS", "STATE"]

  private static func line(_ state: ProjectionState, _ rows: Int64) -> [String] {
    let revision =
      state.revision == state.definedRevision
      ? "\(state.revision)" : "\(state.revision) of \(state.definedRevision)"
    return [
      state.name, state.mode.rawValue, revision, "\(state.position)", "\(state.lag)", "\(rows)",
      state.condition.rawValue,
    ]
  }

  /// What doesn't fit into the table, a line each.
  private static func remarks(_ state: ProjectionState, _ rebuild: RebuildRecord?) -> String {
    var text = ""
    if let stop = state.stop {
      text += "\(state.name) stopped at position \(stop.position), \(stop.time): \(stop.reason)\n"
      text += "  mend the cause, then: jejak projection resume \(state.name)\n"
    }
    if state.revision != state.definedRevision {
      text += """
        \(state.name) was built by revision \(state.revision), this release defines \
        \(state.definedRevision): jejak projection rebuild \(state.name)\n
        """
    }
    if let rebuild {
      text += "\(RebuildText.remark(rebuild)): jejak projection status \(state.name)\n"
    }
    if let previous = state.previous {
      text += """
        \(state.name) keeps the table of before, to position \(previous.position), by revision \
        \(previous.revision)\n
        """
    }
    return text
  }

  private static func json(
    _ state: ProjectionState,
    _ rebuild: RebuildRecord?,
    rows: Int64
  ) -> JSON {
    let json = state.json(rebuild: rebuild)
    guard case .object(var object) = json else { return json }
    object["rows"] = .integer(rows)
    return .object(object)
  }

  /// About how many rows the table has, by the database's own statistics; exact while it is small.
  private static func rows(
    of state: ProjectionState,
    _ connection: borrowing BlockingConnection
  ) throws -> Int64 {
    let estimate = try connection.query(
      "select reltuples::bigint from pg_class where oid = '\(state.name)'::regclass"
    )
    let rows: Int64 = estimate.integer(0, 0)
    guard rows < exactLimit else { return rows }
    return try connection.query("select count(*) from \(state.name)").integer(0, 0)
  }

  /// Tables of more rows are not counted.
  private static let exactLimit: Int64 = 100_000
}
