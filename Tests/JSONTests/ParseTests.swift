import JSON
import Testing

/// The value of `text`, for tests that read.
private func parse(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

private func reason(_ bytes: [UInt8]) -> JSONError.Malformed.Reason? {
  do throws(JSONError) {
    _ = try JSON.parse(bytes)
  } catch .malformed(let malformed) {
    return malformed.reason
  } catch {
    return nil
  }
  return nil
}

@Suite("Parsing JSON")
struct ParseTests {
  @Test func `keeps every kind of value`() throws {
    let value = try parse(#" {"a":[null,true,false,-5,1.5e3,"x\n\u00e9"],"b":{}} "#)
    #expect(value == ["a": [.null, true, false, -5, 1500.0, "x\né"], "b": [:]])
  }

  @Test func `keeps the order of members`() throws {
    #expect(try parse(#"{"z":1,"a":2,"m":3}"#).object?.map(\.key) == ["z", "a", "m"])
  }

  @Test(
    arguments: [
      ("{", .syntax), ("[1,]", .syntax), ("{'a':1}", .syntax), ("[01]", .syntax),
      ("NaN", .syntax), ("[Infinity]", .syntax), (#"["\ud800"]"#, .syntax), ("[+1]", .syntax),
      (#"["\udc00\ud800"]"#, .syntax), ("[1.]", .syntax), ("\"a\u{0}\"", .syntax),
      (#"{"email":"a","email":"b"}"#, .duplicateKey), ("{} x", .trailingBytes),
      ("1 2", .trailingBytes), ("", .empty), (" \n", .empty), (#"{"a\u0000":1}"#, .nulInKey),
    ] as [(String, JSONError.Malformed.Reason)]
  )
  func `refuses what is not strict JSON`(text: String, expected: JSONError.Malformed.Reason) {
    #expect(reason(Array(text.utf8)) == expected)
  }

  @Test(
    arguments: [
      [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
      [0xEF, 0xBB, 0xBF],
    ] as [[UInt8]]
  )
  func `refuses what is not UTF-8, and a byte order mark`(bytes: [UInt8]) {
    #expect(reason(bytes) != nil)
  }

  @Test(arguments: [160, 511, 2048, 100_000])
  func `refuses deep nesting before anything recurses`(levels: Int) {
    #expect(reason(Array(repeating: UInt8(ascii: "["), count: levels)) == .tooDeep)
    let objects = String(repeating: #"{"a":"#, count: levels)
    #expect(reason(Array(objects.utf8)) == .tooDeep)
  }

  @Test func `accepts exactly the greatest depth`() throws {
    func nested(_ levels: Int) -> [UInt8] {
      Array(repeating: UInt8(ascii: "["), count: levels)
        + Array(repeating: UInt8(ascii: "]"), count: levels)
    }
    #expect(reason(nested(JSON.maximumDepth)) == nil)
    #expect(reason(nested(JSON.maximumDepth + 1)) == .tooDeep)
    let inString = String(repeating: "[", count: 100)
    #expect(try parse(#"["\#(inString)"]"#) == [.string(inString)])
  }

  @Test func `says where the text goes wrong`() {
    #expect(throws: JSONError.malformed(.init(reason: .syntax, line: 2, column: 8))) {
      try JSON.parse(Array("{\n  \"é\": x}".utf8))
    }
  }
}

@Suite("Numbers in JSON")
struct NumberTests {
  @Test(arguments: [
    "9223372036854775807", "-9223372036854775808", "9007199254740993", "2147483648", "0", "-1",
  ])
  func `keeps integers of 64 bits`(literal: String) throws {
    #expect(try parse(literal) == .integer(#require(Int64(literal))))
  }

  @Test(arguments: [
    "165.5", "0.1", "1e2", "1E+2", "100e200", "1.7976931348623157e308", "5e-324", "-0.0",
    "0.30000000000000004", "100000000000000000000.0", "0e999", "165.50000000000000000000",
  ])
  func `keeps reals that read back the same`(literal: String) throws {
    #expect(try parse(literal) == .real(#require(Double(literal))))
  }

  @Test(arguments: [
    "9223372036854775808", "-9223372036854775809", "1e999", "-1e999", "1e-999",
    "0.1000000000000000055", "9007199254740993.0", "1e99999999999999999999",
    "1.00000000000000000000000001", "123456789012345678901234567890",
  ])
  func `names the number that would change`(literal: String) {
    #expect(throws: JSONError.numberNotExact(pointer: "/attributes/a~1b/1")) {
      try parse(#"{"x":1.5,"attributes":{"a/b":[0,\#(literal),1e999]}}"#)
    }
    #expect(throws: JSONError.numberNotExact(pointer: "")) { try parse(literal) }
  }

  @Test func `calls a text malformed even where its numbers are too long`() {
    #expect(reason(Array("[1e999".utf8)) == .syntax)
    #expect(reason(Array("[1e999,01]".utf8)) == .syntax)
  }

  @Test func `compares by value and keeps the notation`() throws {
    let (whole, real) = (try parse("165"), try parse("165.0"))
    #expect(whole == real)
    #expect(whole.hashValue == real.hashValue)
    #expect(whole.bytes == Array("165".utf8))
    #expect(real.bytes == Array("165.0".utf8))
    #expect(try parse("9007199254740993") != .real(9_007_199_254_740_992))
  }
}

@Suite("Strings in JSON")
struct StringTests {
  @Test func `names the string with U+0000`() {
    #expect(throws: JSONError.nulCharacter(pointer: "/b/0")) {
      try parse(#"{"a":"\\u0000","b":["x\u0000y"]}"#)
    }
  }

  @Test func `keeps an escaped backslash before u0000`() throws {
    #expect(try parse(#""\\u0000""#) == #"\u0000"#)
  }

  @Test func `keeps paired surrogates`() throws {
    #expect(try parse(#""\ud83d\ude00""#) == "😀")
  }

  @Test func `escapes what must be escaped and nothing else`() {
    let text: JSON = "\"\\/\u{8}\t\n\u{C}\r\u{1}\u{1F}é😀\u{7F}\u{2028}"
    #expect(
      String(decoding: text.bytes, as: UTF8.self)
        == #""\"\\/\b\t\n\f\r\u0001\u001fé😀"# + "\u{7F}\u{2028}\""
    )
  }
}
