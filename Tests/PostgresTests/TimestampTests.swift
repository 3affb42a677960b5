import Clocks
import Postgres
import Testing

@Suite("A timestamp")
struct TimestampTests {
  /// Seconds as `date -u +%s` gives them.
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000000Z"),
      (1, "1970-01-01T00:00:00.000001Z"),
      (-1, "1969-12-31T23:59:59.999999Z"),
      (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
      (951_868_799_999_999, "2000-02-29T23:59:59.999999Z"),
      (951_868_800_000_000, "2000-03-01T00:00:00.000000Z"),
      (1_709_164_800_000_000, "2024-02-29T00:00:00.000000Z"),
      (1_740_787_200_000_000, "2025-03-01T00:00:00.000000Z"),
      (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
      (-2_203_891_200_000_000, "1900-03-01T00:00:00.000000Z"),
      (-2_208_988_800_000_000, "1900-01-01T00:00:00.000000Z"),
      (-62_135_596_800_000_000, "0001-01-01T00:00:00.000000Z"),
      (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
      (1_796_032_923_040_506, "2026-11-30T10:02:03.040506Z"),
    ] as [(Int64, String)]
  )
  func `is written as RFC 3339 with six decimals`(microseconds: Int64, text: String) {
    #expect(Timestamp(microseconds: microseconds).description == text)
    #expect(Timestamp(text)?.microseconds == microseconds)
  }

  @Test(
    arguments: [
      ("2026-11-30T10:02:03Z", "2026-11-30T10:02:03.000000Z"),
      ("2026-11-30t10:02:03.5z", "2026-11-30T10:02:03.500000Z"),
      ("2026-11-30T10:02:03.123456789Z", "2026-11-30T10:02:03.123456Z"),
      ("2026-11-30T10:02:03+05:30", "2026-11-30T04:32:03.000000Z"),
      ("2026-12-31T23:30:00.25-01:00", "2027-01-01T00:30:00.250000Z"),
      ("2026-11-30T10:02:03-00:00", "2026-11-30T10:02:03.000000Z"),
      ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"),
    ]
  )
  func `is read in any form of RFC 3339`(text: String, expected: String) {
    #expect(Timestamp(text)?.description == expected)
  }

  @Test(arguments: [
    "", "2026-11-30", "2026-11-30T10:02:03", "2026-11-30T10:02Z", "2026-11-30 10:02:03Z",
    "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-31T00:00:00Z",
    "2026-11-30T24:00:00Z", "2026-11-30T10:60:00Z", "2026-12-31T23:59:60Z",
    "0000-01-01T00:00:00Z", "12026-11-30T10:02:03Z", "2026-11-30T10:02:03.Z",
    "2026-11-30T10:02:03.1234567890Z", "2026-11-30T10:02:03+0530", "2026-11-30T10:02:03+24:00",
    "2026-11-30T10:02:03Zx", "٢٠٢٦-11-30T10:02:03Z", "1e3", "now",
  ])
  func `is read from nothing else`(text: String) {
    #expect(Timestamp(text) == nil)
  }

  @Test func `is read from a day as its beginning in UTC`() {
    #expect(Timestamp(startOfDay: "2026-11-30")?.description == "2026-11-30T00:00:00.000000Z")
    for text in ["", "2026-11-31", "2026-11-30T00:00:00Z", "2026-1-1", "tomorrow"] {
      #expect(Timestamp(startOfDay: text) == nil)
    }
  }

  @Test func `moves by durations and sorts`() {
    let time = Timestamp(microseconds: 10)
    #expect(time + .seconds(2) == Timestamp(microseconds: 2_000_010))
    #expect(time + .microseconds(-20) == Timestamp(microseconds: -10))
    #expect(time < time + .microseconds(1))
  }

  @Test func `survives the infinities of the database`() {
    #expect(Timestamp(postgres: .max) < Timestamp(microseconds: 0))
    #expect(!Timestamp(postgres: .max).description.isEmpty)
    #expect(!Timestamp(postgres: .min).description.isEmpty)
  }
}
