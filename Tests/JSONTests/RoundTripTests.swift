import JSON
import TestSupport
import Testing

@Suite("Writing and reading JSON")
struct RoundTripTests {
  @Test(arguments: 0..<50)
  func `gives the same bytes back`(seed: UInt64) throws {
    var generator = SplitMix(state: seed)
    for _ in 0..<40 {
      let bytes = random(depth: 5, using: &generator).bytes
      #expect(try JSON.parse(bytes).bytes == bytes)
    }
  }

  @Test(arguments: 0..<20)
  func `survives any damage, and never reads what it would not write`(seed: UInt64) {
    var generator = SplitMix(state: seed)
    let alphabet = Array("{}[],:\"\\u0000d8e+-.19 tfn\u{0}\u{80}".utf8)
    for _ in 0..<500 {
      var bytes = random(depth: 4, using: &generator).bytes
      for _ in 0..<Int.random(in: 1..<4, using: &generator) {
        guard let index = bytes.indices.randomElement(using: &generator),
          let byte = alphabet.randomElement(using: &generator)
        else { continue }
        bytes[index] = byte
      }
      guard let value = try? JSON.parse(bytes) else { continue }
      #expect((try? JSON.parse(value.bytes)) == value)
    }
  }

  private func random(depth: Int, using generator: inout SplitMix) -> JSON {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &generator))
    case 2: return .integer(Int64.random(in: .min ... .max, using: &generator))
    case 3:
      let value = Double(bitPattern: generator.next())
      return .real(value.isFinite ? value : 0.5)
    case 4: return .real(Double.random(in: -1000...1000, using: &generator))
    case 5: return .string(text(using: &generator))
    case 6:
      return .array(
        (0..<Int.random(in: 0..<5, using: &generator)).map { _ in
          random(depth: depth - 1, using: &generator)
        }
      )
    default:
      var object = JSONObject()
      for _ in 0..<Int.random(in: 0..<5, using: &generator) {
        object[text(using: &generator)] = random(depth: depth - 1, using: &generator)
      }
      return .object(object)
    }
  }

  private func text(using generator: inout SplitMix) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0..<12, using: &generator) {
      let limit: UInt32 = Bool.random(using: &generator) ? 0x80 : 0x11_0000
      if let scalar = Unicode.Scalar(UInt32.random(in: 1..<limit, using: &generator)) {
        text.append(scalar)
      }
    }
    return String(text)
  }
}
