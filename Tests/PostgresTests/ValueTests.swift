import Clocks
import Postgres
import TestSupport
import Testing

/// Binds one value as a type of the database and gives what came back.
private func echo<V: Value>(_ value: V?, as type: String) throws -> Rows {
  let session = try TestDatabase.current.session()
  var parameters = Parameters()
  parameters.add(value)
  return try session.query("select $1::\(type), $1::\(type)::text", parameters)
}

@Suite("A bound value", .emptyDatabase)
struct ValueTests {
  @Test func `of Bool comes back`() throws {
    for value in [true, false] { #expect(try echo(value, as: "boolean").bool(0, 0) == value) }
    #expect(try echo(Bool?.none, as: "boolean").isNull(0, 0))
  }

  @Test func `of an integer type comes back to its limits`() throws {
    for value in [Int16.min, -1, 0, 1, .max] {
      #expect(try echo(value, as: "smallint").integer(0, 0) == value)
    }
    for value in [Int32.min, -1, 0, 1, .max] {
      #expect(try echo(value, as: "integer").integer(0, 0) == value)
    }
    for value in [Int64.min, -1, 0, 1, .max] {
      #expect(try echo(value, as: "bigint").integer(0, 0) == value)
    }
    #expect(try echo(Int64?.none, as: "bigint").isNull(0, 0))
  }

  @Test func `of String comes back, an empty one apart from null`() throws {
    for value in ["", "a", "Ada Lovelace", "'\"\\", "né 🚀 \u{1}", "{a,b}"] {
      let rows = try echo(value, as: "text")
      #expect(!rows.isNull(0, 0))
      #expect(rows.string(0, 0) == value)
    }
    #expect(try echo(String?.none, as: "text").string(0, 0) == nil)
  }

  @Test func `of bytes comes back, no bytes apart from null`() throws {
    for value in [[], [0], Array(0...255), [UInt8](repeating: 7, count: 100_000)] as [[UInt8]] {
      let rows = try echo(value, as: "bytea")
      #expect(!rows.isNull(0, 0))
      #expect(Array(rows.bytes(0, 0)) == value)
    }
    #expect(try echo([UInt8]?.none, as: "bytea").isNull(0, 0))
  }

  @Test func `of Timestamp comes back, and reads as the database writes it`() throws {
    for microseconds in [0, -1, 951_782_400_000_000, -62_135_596_800_000_000] as [Int64] {
      let time = Timestamp(microseconds: microseconds)
      #expect(try echo(time, as: "timestamptz").timestamp(0, 0) == time)
    }
    let time = Timestamp(microseconds: 1_796_032_923_040_506)
    let session = try TestDatabase.current.session()
    try session.script("set timezone = 'UTC'")
    var parameters = Parameters()
    parameters.add(time)
    let text = try session.query(
      #"select to_char($1::timestamptz, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"#,
      parameters
    )
    #expect(text.string(0, 0) == time.description)
  }

  @Test(
    arguments: [
      (.zero, "00:00:00"), (.seconds(3_600), "01:00:00"), (.microseconds(-1), "-00:00:00.000001"),
      (.milliseconds(1_500), "00:00:01.5"), (.seconds(30 * 86_400), "720:00:00"),
    ] as [(Duration, String)]
  )
  func `of Duration is an interval`(duration: Duration, text: String) throws {
    #expect(try echo(duration, as: "interval").string(0, 1) == text)
  }

  @Test func `among others keeps its place beside nulls and empty values`() throws {
    var parameters = Parameters()
    parameters.add(String?.none)
    parameters.add("")
    parameters.add(Int32(7))
    parameters.add([UInt8]())
    parameters.add(Bool?.none)
    parameters.add("last")
    #expect(parameters.count == 6)
    let rows = try TestDatabase.current.session().query(
      "select $1::text, $2::text, $3::integer, $4::bytea, $5::boolean, $6::text",
      parameters
    )
    #expect(rows.isNull(0, 0))
    #expect(rows.string(0, 1) == "")
    #expect(rows.integer(0, 2) == Int32(7))
    #expect(!rows.isNull(0, 3))
    #expect(rows.bytes(0, 3).isEmpty)
    #expect(rows.isNull(0, 4))
    #expect(rows.string(0, 5) == "last")
  }

  @Test func `alone and empty differs from null`() throws {
    var parameters = Parameters()
    parameters.add("")
    let rows = try TestDatabase.current.session().query("select $1::text is null", parameters)
    #expect(!rows.bool(0, 0))
  }
}

@Suite("A bound array", .emptyDatabase)
struct ArrayTests {
  @Test func `has its elements in order, with nulls and empty ones among them`() throws {
    var parameters = Parameters()
    parameters.add(array: ["a", nil, "", "d,e\"f\\{}"] as [String?]) { $0 }
    parameters.add(array: [1, nil, -3] as [Int64?]) { $0 }
    parameters.add(array: [[], nil, [0, 255]] as [[UInt8]?]) { $0 }
    let rows = try TestDatabase.current.session().query(
      """
      select a, b, c from unnest($1::text[], $2::bigint[], $3::bytea[])
        with ordinality as x (a, b, c, n) order by n
      """,
      parameters
    )
    #expect(rows.count == 4)
    #expect((0..<4).map { rows.string($0, 0) } == ["a", nil, "", "d,e\"f\\{}"])
    #expect((0..<3).map { rows.integer($0, 1, as: Int64.self) } == [1, 0, -3])
    #expect((0..<4).map { rows.isNull($0, 1) } == [false, true, false, true])
    #expect((0..<4).map { rows.isNull($0, 2) } == [false, true, false, true])
    #expect(Array(rows.bytes(2, 2)) == [0, 255])
  }

  @Test func `may have no elements, and is no null then`() throws {
    var parameters = Parameters()
    parameters.add(array: [Int16]()) { $0 }
    let rows = try TestDatabase.current.session().query(
      "select $1::smallint[] is null, cardinality($1::smallint[])",
      parameters
    )
    #expect(!rows.bool(0, 0))
    #expect(rows.integer(0, 1) == Int32(0))
  }

  @Test func `has the element type of its values`() throws {
    var parameters = Parameters()
    parameters.add(array: [true, false]) { $0 }
    parameters.add(array: [Timestamp(microseconds: 1)]) { $0 }
    parameters.add(array: [Duration.seconds(1)]) { $0 }
    parameters.add(array: Array(repeating: Int32(1), count: 10_000)) { $0 }
    let rows = try TestDatabase.current.session().query(
      """
      select ($1::boolean[])[1], ($2::timestamptz[])[1], ($3::interval[])[1]::text,
             cardinality($4::integer[])
      """,
      parameters
    )
    #expect(rows.bool(0, 0))
    #expect(rows.timestamp(0, 1) == Timestamp(microseconds: 1))
    #expect(rows.string(0, 2) == "00:00:01")
    #expect(rows.integer(0, 3) == Int32(10_000))
  }
}

@Suite("Rows", .emptyDatabase)
struct RowsTests {
  @Test func `tell how many there are and how many were changed`() throws {
    let session = try TestDatabase.current.session()
    try session.script("create table things as select * from generate_series(1, 5) as n")
    #expect(try session.query("select n from things order by n").count == 5)
    #expect(try session.query("delete from things where n > 3").affected == 2)
    #expect(try session.query("create table others ()").affected == 0)
  }

  @Test func `give zero for an integer of another width or null`() throws {
    let rows = try TestDatabase.current.session().query("select 7::bigint, null::integer")
    #expect(rows.integer(0, 0) == Int64(7))
    #expect(rows.integer(0, 0) == Int32(0))
    #expect(rows.integer(0, 1) == Int32(0))
    #expect(rows.bytes(0, 1).isEmpty)
  }
}
