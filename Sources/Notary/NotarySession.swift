import Clocks
import EventLog
import EventLoop
import MerkleTree
import Postgres

/// The work of the notary on one connection, step by step, until the connection is lost.
struct NotarySession: ~Copyable {
  private let connection: BlockingConnection
  private let keyFile: SigningKeyFile
  private let file: CheckpointFile?
  private let pace: NotaryPace
  private let stopping: WakeUp
  private let report: (Notary.Report) -> Void
  private var signer: NoteSigner
  /// The note that was last seen to fit, and until when that is taken for granted.
  private var checked: (note: String, until: Instant)?
  /// Whether it is told of what is appended; only while there is nothing to do, since a busy log
  /// tells it several hundred times a second.
  private var isListening = false
  /// The last position when all that was there before was seen to be signed.
  private var due: Int64 = 0

  init(
    target: String,
    signer: NoteSigner,
    keyFile: SigningKeyFile,
    file: CheckpointFile?,
    pace: NotaryPace,
    stopping: WakeUp,
    report: @escaping (Notary.Report) -> Void
  ) throws {
    connection = try BlockingConnection(
      target: target,
      applicationName: Notary.applicationName,
      setup: Self.setup,
      patience: pace.patience
    )
    self.signer = signer
    self.keyFile = keyFile
    self.file = file
    self.pace = pace
    self.stopping = stopping
    self.report = report
  }

  private static let setup =
    ["set role jejak_service"] + SessionDefaults.statements + [
      // What is signed can't be taken back, so it must not be lost.
      "set synchronous_commit = on",
      "set statement_timeout = '20s'",
      "set lock_timeout = '5s'",
      // If this process stops in the middle of a step, another one goes on soon.
      "set idle_in_transaction_session_timeout = '5s'",
      "set jit = off",
      "set timezone = 'UTC'",
    ]

  /// Goes on until it is told to stop; throws where the connection is lost.
  mutating func run() throws {
    var failures = 0
    while !stopping.isSet {
      do {
        let outcome = try step()
        failures = 0
        try rest(after: outcome)
      } catch let refusal as NotaryRefusal {
        checked = nil
        if case .keyDiffers = refusal, takesNewKey() { continue }
        report(.state(.refuses(refusal)))
        try dropNotifications()
        stopping.wait(atMost: pace.refusalPause)
      } catch let failure as BlockingConnection.Failure where !failure.isConnectionLost {
        failures += 1
        // Told at the first, the second, the fourth, the eighth, …
        if failures & (failures - 1) == 0 { report(.hindered(failure.safeDescription)) }
        try dropNotifications()
        stopping.wait(atMost: pace.pause(after: failures))
      }
    }
  }

  private mutating func step() throws -> NotaryStep.Outcome {
    let now = Instant.now()
    var seen: String?
    let checked = checked
    let step = NotaryStep(signer: signer, file: file, pace: pace) { note in
      guard let checked, checked.note == note, now < checked.until else {
        seen = note
        return true
      }
      return false
    }
    let outcome = try step.run(connection)
    if let seen { self.checked = (seen, now + pace.recheck) }
    return outcome
  }

  /// Waits until there may be more to do.
  private mutating func rest(after outcome: NotaryStep.Outcome) throws {
    if isListening, outcome != .idle { try listen(false) }
    switch outcome {
    case .waitsForSealing:
      report(.state(.waitsForSealing))
      stopping.wait(atMost: pace.poll)
    case .advanced(let isSigned):
      if isSigned, try isUpToDate() { report(.state(.signs)) }
    case .notDue(let time):
      stopping.wait(atMost: time)
    case .busy:
      // Whoever is at it may be stuck, so this is no sign that all is well.
      if try isUpToDate() { report(.state(.signs)) }
      stopping.wait(atMost: pace.poll)
    case .idle:
      report(.state(.signs))
      // What was appended before it listened, the next step sees.
      guard isListening else { return try listen(true) }
      _ = try connection.waitForNotification(atMost: pace.poll, wake: stopping.descriptor)
    }
  }

  /// So that they don't pile up where it goes on listening.
  private func dropNotifications() throws {
    _ = try connection.waitForNotification(atMost: .zero)
  }

  private mutating func listen(_ listens: Bool) throws {
    try connection.script(listens ? LogTail.listen : "unlisten *")
    isListening = listens
  }

  /// Whether what was there at the last such look, or the last one that was well, is signed by now.
  private mutating func isUpToDate() throws -> Bool {
    let rows = try connection.query(
      """
      select (select coalesce(max(position), 0) from events),
             (select coalesce(max(size), 0) from checkpoints
               where origin = (select max(origin) from log_origins))
      """
    )
    guard rows.integer(0, 1, as: Int64.self) >= due else { return false }
    due = rows.integer(0, 0)
    return true
  }

  /// Reads the key file again, whose key may have been renewed; whether it was.
  private mutating func takesNewKey() -> Bool {
    guard let new = try? keyFile.read(), new.verifier != signer.verifier else { return false }
    signer = new
    return true
  }
}
