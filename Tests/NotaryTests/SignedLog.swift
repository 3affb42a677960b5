import Files
import Glibc
import MerkleTree
import Postgres
import TestSupport
import Testing

@testable import Notary

/// The log of the test's database with a notary that works when it is told to.
final class SignedLog {
  let session: BlockingConnection
  let signer: NoteSigner
  /// A directory that this test has to itself.
  let directory: String
  var pace = NotaryPace()

  init(origin: String = "example.com/log") throws {
    let session = try TestDatabase.current.session()
    signer = try #require(NoteSigner.make(name: origin))
    var template = Array("/tmp/jejak-notary-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    self.session = session
    pace.interval = .zero
  }

  deinit {
    for name in (try? names(in: directory)) ?? [] { unlink("\(directory)/\(name)") }
    rmdir(directory)
  }

  var file: String { directory + "/checkpoint" }

  /// Appends `count` events.
  func append(_ count: Int) throws {
    try session.script(
      """
      insert into events (position, recorded_at, user_id, event_id, version, stream, schema,
          actor_kind, type, request_id, changed, payload, payload_sha256)
        select (select coalesce(max(position), 0) from events) + n, clock_timestamp(),
               gen_random_uuid(), gen_random_uuid(), 1, 1, 1, 3, 'ProfileUpdated', 'r' || n,
               array['firstName'], '{}', sha256(n::text::bytea)
          from generate_series(1, \(count)) n;
      select pg_notify(('jejak ' || current_schema())::name::text, max(position)::text)
        from events
      """
    )
  }

  /// Takes one step as the service would, with the file or without.
  @discardableResult
  func step(
    _ signer: NoteSigner? = nil,
    rechecks: Bool = true,
    keepsFile: Bool = true
  ) throws -> NotaryStep.Outcome {
    let connection = try BlockingConnection(
      target: TestDatabase.current.target,
      applicationName: "notary step",
      setup: ["set role jejak_service"]
    )
    return try NotaryStep(
      signer: signer ?? self.signer,
      file: keepsFile ? CheckpointFile(path: file) : nil,
      pace: pace,
      rechecks: { _ in rechecks }
    ).run(connection)
  }

  /// Why a step signs nothing; nil where it does not refuse.
  func refusal(_ signer: NoteSigner? = nil) throws -> NotaryRefusal? {
    do {
      try step(signer)
      return nil
    } catch let refusal as NotaryRefusal {
      return refusal
    }
  }

  /// The sizes that were signed.
  func signedSizes() throws -> [Int64] {
    let rows = try session.query("select size from checkpoints order by origin, size")
    return (0..<rows.count).map { rows.integer($0, 0) }
  }

  /// The note in the file.
  func kept() throws -> String {
    String(decoding: try SmallFile.read(file, for: .everybody), as: UTF8.self)
  }
}

/// The names in a directory.
func names(in directory: String) throws -> [String] {
  let stream = try #require(opendir(directory))
  defer { closedir(stream) }
  var names: [String] = []
  while let entry = readdir(stream) {
    let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names.sorted()
}
