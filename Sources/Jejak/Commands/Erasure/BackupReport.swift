import Accounts
import Clocks
import EventLog
import JSON
import MerkleTree
import Postgres
import Profiles
import Verification

/// What a restored database lacks, by what is kept outside of it.
struct BackupReport {
  /// A checkpoint, and what comes of holding the log against it.
  struct Kept {
    let path: String
    let checkpoint: OutsideCheckpoint
    let verification: VerificationReport

    /// Whether the checkpoint is of a key that the log is not signed with now.
    var isOfAnotherKey: Bool {
      !(verification.key.map { checkpoint.isSigned(by: $0) } ?? false)
    }

    /// Whether it says nothing of this log: no key of it has signed the checkpoint.
    var isForeign: Bool { has(.outsideIsNotSigned) }

    func has(_ problem: Problem) -> Bool {
      verification.outside.contains { $0.problem == problem }
    }
  }

  /// How many erasures are listed.
  private let listed: Int
  /// The last event that the list names.
  private let listedHead: Int64
  /// The last event of the log, before anybody was erased by this call.
  private let head: Int64
  /// The checkpoint; nil where there is none.
  private let kept: Kept?
  /// What was lost with the restore; nil for nothing.
  private let loss: RestoreLoss?
  /// Who is owed an erasure still.
  var owed: [UserID] = []
  /// Who was erased by this call.
  var erased: [Erasure] = []

  /// Reads where the log ends, and how much of it is what it was.
  init(
    _ listed: [Erasure],
    _ kept: Kept?,
    _ connection: borrowing BlockingConnection
  ) throws {
    self.listed = listed.count
    self.kept = kept
    listedHead = listed.map(\.position.rawValue).max() ?? 0
    head = try connection.query(LogPage.headStatement.sql).integer(0, 0)
    loss = try RestoreLoss.find(listed, kept, head: head, connection)
  }

  /// Whether nothing is owed or lost.
  var isWell: Bool {
    owed.isEmpty && loss == nil && (kept?.verification.findings ?? 0) == 0
  }

  /// A line for each thing that is owed, done or wrong.
  var text: String {
    let findings = kept?.verification.first ?? []
    return erased.map { "erased: \($0.user)\n" }.joined()
      + owed.map { "owed: \($0)\n" }.joined()
      + findings.map { "\($0.place): \($0.problem)\n" }.joined()
  }

  /// What all of it comes to, and what to do.
  var advice: [String] {
    var lines = ["\(listed) erasures are listed, \(owed.count) of them owed"]
    if !owed.isEmpty { lines.append("erase them with jejak backup-check --replay") }
    if let kept {
      if kept.verification.findings == 0 {
        lines.append("the log holds what the checkpoint of \(kept.checkpoint.size) events says")
      }
    } else {
      lines.append("there is no checkpoint to hold the log against; name one with --checkpoint")
    }
    if let loss { lines.append(description(of: loss)) }
    guard let kept else { return loss == nil ? lines : lines + [Self.newOrigin] }
    let key = kept.verification.key?.name ?? "no key"
    if kept.isForeign {
      lines.append(
        "\(kept.path) is of \(kept.checkpoint.origin), under a key that this log, of \(key), doesn't "
          + "know: find the checkpoint of this log. If it was begun anew under that key after the "
          + "backup, what was signed since is lost. " + Self.newOrigin
      )
    } else if loss != nil {
      lines.append(
        kept.isOfAnotherKey
          ? "\(kept.path) is under another key, of \(kept.checkpoint.origin), than the log has now, "
            + "of \(key). If the log was begun anew because of this loss, nothing is left to do "
            + "about it. Otherwise: " + Self.newOrigin : Self.newOrigin
      )
    }
    let explained = loss != nil || kept.isForeign ? kept.verification.outside.count : 0
    if kept.verification.findings > Int64(explained) {
      lines.append("more is wrong with the log or its tree; jejak verify tells all of it")
    }
    return lines
  }

  private static let newOrigin =
    "restore a later backup if there is one; else the log can only be signed as another one, under a "
    + "new key: jejak checkpoint new-origin --yes (docs/operations.md, After a restore)"

  private func description(of loss: RestoreLoss) -> String {
    let outside = kept.map { "a checkpoint of \($0.checkpoint.size) events was signed" }
    guard let events = loss.events else {
      return
        "\(outside ?? ""), and the log, which has \(head), has another history: it was put back "
        + "and has gone on, or was altered; how many events are lost can't be told"
    }
    let place = "position \(loss.last)" + (loss.since.map { " of \($0)" } ?? "")
    let start =
      loss.last == head
      ? "the log ends at \(place): what came after it was lost"
      : "the log was put back to \(place), and has gone on from there: what had come after it "
        + "was lost"
    return "\(start), \(events) event\(events == 1 ? "" : "s") at least"
  }

  /// The report for programs.
  var json: JSON {
    [
      "listed": .integer(Int64(listed)),
      "owed": .array(owed.map { .string($0.description) }),
      "erased": .array(erased.map { .string($0.user.description) }),
      "position": .integer(head), "listedPosition": .integer(listedHead),
      "lost": loss.map { loss in
        [
          "events": loss.events.map(JSON.integer) ?? .null,
          "since": loss.since.map { .string($0.description) } ?? .null,
        ]
      } ?? .null,
      "checkpoint": kept.map { kept in
        [
          "file": .string(kept.path), "origin": .string(kept.checkpoint.origin),
          "size": .integer(kept.checkpoint.size),
          "key": kept.verification.key.map { .string($0.description) } ?? .null,
          "findings": .integer(kept.verification.findings),
          "first": kept.verification.json.object?["first"] ?? .array([]),
        ]
      } ?? .null,
    ]
  }
}
