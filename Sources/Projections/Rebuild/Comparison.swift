import EventLog
import Postgres

/// Holds a part of the shadow against the live table, row by row, in the server.
struct Comparison<P: Projection>: ~Copyable {
  private let connection: BlockingConnection
  /// The last event that the shadow holds.
  private let held: Int64

  init(connection: consuming BlockingConnection, held: Int64) {
    self.connection = connection
    self.held = held
  }

  /// The column that a row is found by.
  private var key: String { String(P.columns.prefix { $0 != "," }) }

  /// How many rows of the range differ, and the keys of the first of them.
  func run(_ range: RebuildRange, naming limit: Int) throws -> (Int64, [String]) {
    try connection.transaction("begin isolation level repeatable read read only") {
      let (first, last) = try gap()
      let condition: String
      switch P.partitioning {
      case .byUser:
        let users = range.userCondition("user_id")
        condition = """
          true\(range.userCondition(key)) and \(key) not in (
            select user_id from events
             where position > \(first) and position <= \(last)\(users)
            union all
            -- Their rows go before the tables come to the event.
            select user_id from erasures where position > \(first)\(users))
          """
      case .byEvent:
        let end = min(range.lastPosition ?? .max, first)
        condition = "\(key) >= \(range.firstPosition ?? 1) and \(key) <= \(end)"
      case .inSequence:
        condition = "\(key)::text <> all ($1::text[])"
      }
      var parameters = Parameters()
      if P.partitioning == .inSequence {
        parameters.add(array: try changed(after: first, upTo: last)) { $0 }
      }
      let rows = try connection.query(
        """
        select count(*), (array_agg(k order by k))[1:\(limit)]
          from (
            select coalesce(l.\(key), s.\(key))::text as k
              from (select \(P.columns) from \(P.name) where \(condition)) l
              full join (select \(P.columns) from \(P.name)_rebuild where \(condition)) s
                on s.\(key) = l.\(key)
             where (l.*) is distinct from (s.*)
          ) different
        """,
        parameters
      )
      return (rows.integer(0, 0), rows.strings(0, 1))
    }
  }

  /// The events that one of the tables holds and the other doesn't: those after the first position,
  /// up to the last one.
  private func gap() throws -> (Int64, Int64) {
    var parameters = Parameters()
    parameters.add(P.name)
    let rows = try connection.query(
      """
      select coalesce((select position from projections where name = $1::text),
                      (select max(position) from events), 0)
      """,
      parameters
    )
    let live = try Position(rows.integer(0, 0)).checked.rawValue
    return (min(live, held), max(live, held))
  }

  /// The keys of the rows that events of the gap belong to, as the server writes them.
  private func changed(after first: Int64, upTo last: Int64) throws -> [String] {
    var keys: Set<P.Key> = []
    var position = first
    while position < last {
      let reached = min(last, position + Int64(LogStep<P>.size))
      var parameters = Parameters()
      parameters.add(position)
      parameters.add(reached)
      let events = try connection.query(
        """
        select \(RecordedEvent.headerColumns) from events
         where position > $1::bigint and position <= $2::bigint
        """,
        parameters
      )
      for index in 0..<events.count {
        if let key = P.key(of: RecordedEvent(header: events, index)) { keys.insert(key) }
      }
      position = reached
    }
    return keys.map { "\($0)" }
  }
}
