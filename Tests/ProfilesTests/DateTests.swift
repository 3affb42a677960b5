import JSON
import Profiles
import Testing

private func birth(_ date: String) throws -> ProfilePatch {
  let value = String(decoding: JSON.string(date).bytes, as: UTF8.self)
  return try patch(#"{"attributes":{"dateOfBirth":\#(value)}}"#)
}

@Suite("A date of birth")
struct DateTests {
  @Test(arguments: ["1981-04-01", "2000-02-29", "2024-02-29", "1900-01-01", "2026-11-30"])
  func `comes back as it was sent`(text: String) throws {
    let (_, user) = try given(ada()).when(.updateProfile(birth(text)))
    #expect(user.attributes["dateOfBirth"] == .string(text))
    #expect(CalendarDate(text)?.description == text)
  }

  @Test(arguments: [
    "2023-02-30", "2023-04-31", "2023-13-01", "2023-00-10", "2023-01-00", "1900-02-29",
    "2023-02-29", "0000-00-00", "0000-01-01", "10000-01-01", "-001-01-01", "1990-1-1", "90-01-01",
    "01/02/1990", "1990-01-01T00:00:00Z", " 1990-01-01", "1990-01-01x", "１９９０-01-01", "",
    "1990-01-0\u{661}", "+990-01-01", "1990‐01‐01",
  ])
  func `is a day of the calendar, written one way`(text: String) throws {
    #expect(codes { _ = try birth(text) } == ["/attributes/dateOfBirth": .invalidDate])
  }

  @Test func `lies between 1900 and today`() throws {
    let pointer = "/attributes/dateOfBirth"
    #expect(codes { _ = try birth("1899-12-31") } == [pointer: .dateTooOld])
    #expect(codes { _ = try birth("0007-05-01") } == [pointer: .dateTooOld])
    #expect(codes { _ = try birth("2568-01-01") } == [pointer: .dateInFuture])
    #expect(codes { _ = try birth("2026-12-01") } == [pointer: .dateInFuture])
  }

  @Test(
    arguments: [
      (0, "1970-01-01"), (36_000, "1970-01-02"), (-50_401, "1969-12-31"), (-50_400, "1970-01-01"),
      (951_782_400, "2000-02-29"), (1_709_164_800, "2024-02-29"), (-2_203_941_600, "1900-03-01"),
    ] as [(Int64, String)]
  )
  func `knows the day that is today in UTC+14`(seconds: Int64, day: String) {
    #expect(CalendarDate.latestToday(unixSeconds: seconds).description == day)
  }

  @Test func `every day of four centuries follows the one before`() throws {
    var previous = CalendarDate.latestToday(unixSeconds: -11_676_096_000)
    for day in Int64(1)...146_097 {
      let next = CalendarDate.latestToday(unixSeconds: -11_676_096_000 + day * 86_400)
      #expect(previous < next)
      #expect(CalendarDate(year: next.year, month: next.month, day: next.day) == next)
      previous = next
    }
    #expect(previous.description == "2000-01-01")
  }
}
