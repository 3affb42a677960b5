import Clocks
import JSON
import Postgres
import Projections
import Settings

extension ProjectionVerb {
  static var status: Self {
    Self(name: "status", help: "shows its rebuilds and the table kept for a rollback.", run: status)
  }

  static var pause: Self {
    Self(name: "pause", help: "lets its rebuild wait.") { try want("pause", $0) }
  }

  static var cancel: Self {
    Self(name: "cancel", help: "gives its rebuild up.") { try want("cancel", $0) }
  }

  static var rollback: Self {
    Self(name: "rollback", help: "puts the table of before the last rebuild back.", run: rollback)
  }

  static var dropPrevious: Self {
    Self(name: "drop-previous", help: "drops the table kept for a rollback.", run: dropPrevious)
  }

  /// Rebuilds that `status` shows.
  private static let shown: Int32 = 10
  /// How long a rebuild may take to end after it was told so.
  private static let patience = Duration.seconds(60)

  private static func status(_ call: Call) throws -> ExitStatus {
    let projection = try call.projection()
    let connection = try call.connection()
    let rebuilds = try RebuildRecord.list(of: call.name, limit: shown, connection)
    let size = try PreviousTable.size(of: projection, connection)
    if call.wantsJSON {
      Output.write(
        [
          "projection": .string(call.name), "rebuilds": .array(rebuilds.map(\.json)),
          "previousBytes": size.map(JSON.integer) ?? .null,
        ]
      )
      return .success
    }
    if rebuilds.isEmpty { Output.write("\(call.name) has not been rebuilt\n") }
    if !rebuilds.isEmpty {
      Output.write(TextTable.of(RebuildText.header, rebuilds.map(RebuildText.line)))
    }
    // That of the last one, which a dry run leaves behind, or the open one.
    if let error = rebuilds.first?.error { Output.write("error: \(error)\n") }
    if let open = rebuilds.first, open.isOpen {
      Output.write(RebuildText.remark(open) + "\n" + RebuildText.nextStep(open))
    }
    if let size { Output.write("the previous table takes \(size) bytes\n") }
    return .success
  }

  /// Tells the open rebuild to pause or to end, and waits until it has.
  private static func want(_ wanted: String, _ call: Call) throws -> ExitStatus {
    let projection = try call.projection()
    let connection = try call.connection()
    guard let open = try RebuildRecord.open(of: call.name, connection) else {
      throw CommandError("\(call.name) is not being rebuilt")
    }
    if wanted == "pause", !open.canPause {
      throw CommandError("there is nothing to pause: \(RebuildText.remark(open))")
    }
    try RebuildOrders.want(wanted, of: open.id, connection)
    let deadline = Instant.now() + patience
    while let now = try RebuildRecord.find(open.id, connection), now.isOpen, .now() < deadline {
      if !now.isHeld {
        if wanted == "pause" { break }
        // Nobody is at it: it is ended from here.
        let rebuild = try Rebuild(target: call.target, keyring: call.database.keyring())
        if let held = try rebuild.takeOver(now) { try rebuild.giveUp(held) }
      }
      try connection.script("select pg_sleep(0.1)")
    }
    guard let result = try RebuildRecord.find(open.id, connection) else {
      throw CommandError("the rebuild of \(projection.name) is gone")
    }
    if call.wantsJSON {
      Output.write(result.json)
    } else {
      Output.write(RebuildText.result(result))
      if wanted == "pause", result.isOpen {
        Output.write(RebuildText.remark(result) + "\n" + RebuildText.nextStep(result))
      }
    }
    let isDone = wanted == "pause" ? !result.isHeld : result.state == .cancelled
    return isDone ? .success : .failure
  }

  private static func rollback(_ call: Call) throws -> ExitStatus {
    let report = try Rollback(target: call.target, keyring: call.database.keyring())
      .run(call.projection())
    let pause = report.pause.fractionalMilliseconds
    if call.wantsJSON {
      Output.write(
        [
          "projection": .string(call.name), "position": .integer(report.position),
          "revision": .integer(Int64(report.revision)), "pauseMilliseconds": .real(pause),
        ]
      )
    } else {
      Output.write(
        """
        \(call.name) is the table of before again, of revision \(report.revision), at position \
        \(report.position); writes waited \(pause) ms\n
        """
      )
    }
    return .success
  }

  private static func dropPrevious(_ call: Call) throws -> ExitStatus {
    let size = try PreviousTable.drop(call.projection(), call.connection())
    if call.wantsJSON {
      Output.write(
        ["projection": .string(call.name), "bytes": size.map(JSON.integer) ?? .null]
      )
    } else if let size {
      Output.write("the previous table of \(call.name) is dropped: \(size) bytes\n")
    } else {
      Output.write("no previous table of \(call.name) is kept\n")
    }
    return .success
  }
}
