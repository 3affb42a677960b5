import EventLog
import Testing

@Suite("The details of an entry")
struct LogDetailsTests {
  private static let some = LogDetails(
    type: "ProfileUpdated",
    requestID: "req-1",
    traceID: nil,
    changed: ["firstName", "größe", ""]
  )

  @Test func `come back from their bytes`() {
    let none = LogDetails(type: "", requestID: nil, traceID: "", changed: [])
    for details in [Self.some, none] {
      #expect(LogDetails(details.bytes) == details)
    }
  }

  @Test func `are nothing where a part is cut off, too long or no text`() {
    let bytes = Self.some.bytes
    for count in 0..<bytes.count { #expect(LogDetails(bytes.prefix(count)) == nil) }
    #expect(LogDetails(bytes + [0]) == nil)
    var changed = bytes
    changed[4] = 0xFF
    #expect(LogDetails(changed) == nil)
    changed = bytes
    changed[0] = 0x7F
    #expect(LogDetails(changed) == nil)
    // A type and a field's name are never null.
    let null: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
    #expect(LogDetails(null + null + null + [0, 0, 0, 0]) == nil)
    #expect(LogDetails([0, 0, 0, 0] + null + null + [0, 0, 0, 1] + null) == nil)
    #expect(LogDetails([0, 0, 0, 0] + null + null + null) == nil)
  }
}
