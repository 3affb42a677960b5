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
