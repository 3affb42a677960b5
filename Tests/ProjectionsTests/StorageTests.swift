import Clocks
import EventLog
import Postgres
import Profiles
import TestSupport
import Testing

@testable import Projections

/// Whatever a row holds, both ways into a table lead to the same row.
@Suite("A row", .database)
struct StorageTests {
  private static let nasty = [
    #"\"#, #"\N"#, #"\."#, "tab\tline\nreturn\rback\\slash", #""quoted" 'twice' {a,b} NULL"#, "",
    #"\\'"#, "':* & | ! <->", "é 🚀 \u{301}", "null", " blank ", "\u{1}\u{7F}", "a\u{2028}b",
  ]

  private static func texts(_ seed: UInt64) -> [String] {
    var generator = SplitMix(state: seed)
    let random = (0..<60).map { _ in
      let scalars = (0..<Int.random(in: 0...20, using: &generator)).compactMap { _ in
        let limit: UInt32 = Bool.random(using: &generator) ? 0x7F : 0x1FFFF
        return Unicode.Scalar(UInt32.random(in: 1...limit, using: &generator))
      }
      return String(String.UnicodeScalarView(scalars))
    }
    return nasty + random
  }

  @Test(arguments: [1, 2, 3])
  func `of the directory is the same copied and written`(seed: UInt64) throws {
    let texts = Self.texts(seed)
    let rows = texts.indices.map { index in
      DirectoryEntry(
        user: UserID(high: seed, low: UInt64(index)),
        registeredPosition: Position(Int64(index + 1)),
        registeredAt: Timestamp(microseconds: Int64(index) * 999_999_999),
        email: texts[index],
        firstName: index % 3 == 0 ? nil : texts[texts.count - 1 - index],
        lastName: index % 5 == 0 ? nil : texts[(index * 7) % texts.count],
        status: index % 2 == 0 ? .active : .suspended
      )
    }
    try Self.check(Directory.self, rows) { $0.user }
  }

  @Test(arguments: [1, 2, 3])
  func `of the audit is the same copied and written`(seed: UInt64) throws {
    let texts = Self.texts(seed)
    let rows = texts.indices.map { index in
      AuditEntry(
        position: Position(Int64(index + 1)),
        recordedAt: Timestamp(microseconds: Int64(index) * 999_999_999),
        user: UserID(high: seed, low: UInt64(index)),
        actor: index % 2 == 0 ? .system : .operator(Identifier(high: 1, low: UInt64(index))),
        version: Version(Int32(index + 1)),
        stream: 1,
        type: texts[index],
        fields: Array(texts.prefix(index % 4)) + [texts[texts.count - 1 - index]]
      )
    }
    try Self.check(AuditEntries.self, rows) { $0.position }
  }

  @Test func `of the statistics is the same copied and written`() throws {
    let rows = (-2...2).map { index in
      var counts = DayCounts(day: Day(daysSince1970: Int32(index * 10_957)))
      (counts.events, counts.signIns, counts.updates) = (1 << 61, 7, Int64(index + 2))
      return counts
    }
    try Self.check(Statistics.self, rows) { $0.day }
  }

  private static func check<P: Projection>(
    _ projection: P.Type,
    _ rows: [P.Row],
    key: (P.Row) -> P.Key
  ) throws where P.Row: Equatable {
    let session = try TestDatabase.current.session()
    let keyed = Dictionary(uniqueKeysWithValues: rows.map { (key($0), $0) })
    try P.write(keyed.mapValues { Optional($0) }, to: P.name, session)
    #expect(try P.load(Array(keyed.keys), from: P.name, session) == keyed)
    // Written over itself, a row stays.
    try P.write(keyed.mapValues { Optional($0) }, to: P.name, session)
    try session.script("create table copied (like \(P.name))")
    var lines: [UInt8]? = rows.reduce(into: []) { P.copyLine(of: $1, into: &$0) }
    try session.copyIn("copy copied (\(P.columns)) from stdin") { lines.take() }
    let found = try session.query(
      """
      select count(*), (select count(*) from copied) from (
        (table \(P.name) except all table copied) union all
        (table copied except all table \(P.name))) as d
      """
    )
    #expect(found.integer(0, 0, as: Int64.self) == 0)
    #expect(found.integer(0, 1, as: Int64.self) == Int64(rows.count))
  }
}
