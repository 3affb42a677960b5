import CSV
import Testing

@Suite("A line of CSV")
struct CSVLineTests {
  private static func text(_ line: CSVLine) -> String {
    var bytes: [UInt8] = []
    line.write(into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `has commas between its cells and ends with CR LF`() {
    #expect(Self.text(CSVLine(["a", "b c", "é🚀"])) == "a,b c,é🚀\r\n")
  }

  @Test(arguments: [
    ("a,b", "\"a,b\""), ("say \"no\"", "\"say \"\"no\"\"\""), ("two\nlines", "\"two\nlines\""),
    ("two\r\nlines", "\"two\r\nlines\""), ("a;b", "\"a;b\""), ("a\tb", "\"a\tb\""), ("", "\"\""),
    ("'quoted'", "'quoted'"), ("1-1", "1-1"),
  ])
  func `puts quotes where they are needed`(cell: String, expected: String) {
    #expect(Self.text(CSVLine([cell, "x"])) == expected + ",x\r\n")
  }

  @Test(arguments: ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
  func `lets no text be a formula`(start: String) {
    let cell = start + "cmd|' /C calc'!A0"
    #expect(Self.text(CSVLine(["x", cell])) == "x,\"'\(cell)\"\r\n")
    #expect(Self.text(CSVLine([start])) == "\"'\(start)\"\r\n")
    #expect(Self.text(CSVLine(["a" + start + "1"])).hasPrefix("a") || start.utf8.count == 1)
  }

  @Test func `tells nothing from the empty text, and leaves numbers alone`() {
    var line = CSVLine()
    line.add(nil)
    line.add("")
    line.addAsIs("-1.5")
    line.add("-1.5")
    #expect(Self.text(line) == ",\"\",-1.5,\"'-1.5\"\r\n")
  }

  @Test func `may begin with an empty cell`() {
    var line = CSVLine()
    line.add(nil)
    line.add("b")
    #expect(Self.text(line) == ",b\r\n")
  }
}
