import Accounts
import Clocks
import EventLog
import HTTP
import Keys
import Postgres
import Profiles
import Sodium
import Synchronization

/// Requests with an Idempotency-Key that are being carried out by this process.
final class RequestsUnderWay: Sendable {
  private let keys = Mutex<Set<[UInt8]>>([])

  /// False where the same key is under way already.
  func begin(_ key: [UInt8]) -> Bool { keys.withLock { $0.insert(key).inserted } }

  func end(_ key: [UInt8]) {
    keys.withLock { _ = $0.remove(key) }
  }
}

/// What an Idempotency-Key stands for: who asked, and for what.
///
/// The answer is sealed under a key that is derived from the Idempotency-Key, the request and the
/// secret of the log, and kept nowhere: answers hold tokens and profiles, and only the client that
/// asks again can have them opened. What is kept of the request is derived with that secret too, so
/// that whoever has the database alone can't try guesses against it.
struct IdempotencyKey {
  /// Bytes of a key at most; visible ASCII.
  static let limit = 255

  /// What the receipt is found by.
  let receipt: [UInt8]
  /// What tells this request from another under the same key.
  let request: [UInt8]
  private let key: [UInt8]
  private let seal: [UInt8]
  private let keyring: Keyring

  /// The key of `request`, if it has one; `principal` is who asked.
  init?(_ request: Request, principal: [UInt8], _ keyring: Keyring) throws(Problem) {
    let lines = request.headers("Idempotency-Key")
    guard let key = lines.first else { return nil }
    guard lines.count == 1, (1...Self.limit).contains(key.utf8.count),
      key.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else {
      throw .malformedRequest("Idempotency-Key is 1 to \(Self.limit) visible ASCII characters.")
    }
    self.key = Array(key.utf8)
    let parts = [
      principal, self.key, Array(request.method.utf8), Array(request.target.utf8),
      Array(request.headers("If-Match").joined(separator: ",").utf8), request.body,
    ]
    self.keyring = keyring
    receipt = try Self.receipt(principal, self.key, keyring)
    self.request = try Self.code("receipt request", parts, keyring)
    seal = try Self.code("receipt seal", parts, keyring)
  }

  /// What the receipt of a request of `principal` under the same Idempotency-Key is found by.
  func receipt(of principal: [UInt8]) throws(Problem) -> [UInt8] {
    try Self.receipt(principal, key, keyring)
  }

  private static func receipt(
    _ principal: [UInt8],
    _ key: [UInt8],
    _ keyring: Keyring
  ) throws(Problem) -> [UInt8] {
    try code("receipt", [principal, key], keyring)
  }

  /// The log's code over the parts, each after its length, so that no two lists of parts look alike.
  private static func code(
    _ purpose: String,
    _ parts: [[UInt8]],
    _ keyring: Keyring
  ) throws(Problem) -> [UInt8] {
    var bytes: [UInt8] = []
    for part in parts {
      UInt32(part.count).encodeBigEndian(into: &bytes)
      bytes += part
    }
    guard let code = keyring.code(of: bytes, for: purpose) else {
      throw .unavailable("Nothing was changed.")
    }
    return code
  }

  /// The receipt that keeps `response`, whose body may have holes for the time of the commit.
  func receipt(for response: Response) -> Receipt {
    Receipt(
      key: receipt,
      request: request,
      answer: SecretBox.seal(StoredResponse.encode(response), key: seal)
    )
  }

  /// The receipts of a request that may end the session it is made with: one is found by the
  /// token, which a retry still brings, and one by the user, which keeps other requests of theirs
  /// from using the same Idempotency-Key.
  ///
  /// `ofUser` is what `receipt(of:)` says of the user.
  func receipts(for response: Response, ofUser: [UInt8]) -> [Receipt] {
    let found = receipt(for: response)
    return [found, Receipt(key: ofUser, request: found.request, answer: found.answer)]
  }

  /// The answer that was kept; nil where it can't be opened.
  func response(from kept: KeptReceipt) -> Response? {
    SecretBox.open(kept.answer, key: seal).flatMap {
      StoredResponse.decode($0, committedAt: kept.createdAt)
    }
  }
}

/// A response as bytes, for receipts: status, header lines, body.
enum StoredResponse {
  /// Stands in a stored body for the time of the commit; JSON text has no such character.
  static let timeHole: UInt8 = 0x01

  /// Only these are stored, as their place in this list.
  private static let names: [StaticString] = ["Content-Type", "ETag", "Location", "Cache-Control"]

  static func encode(_ response: Response) -> [UInt8] {
    var bytes: [UInt8] = []
    response.status.encodeBigEndian(into: &bytes)
    for (index, name) in names.enumerated() {
      guard let value = response.header(name) else { continue }
      bytes.append(UInt8(index))
      UInt16(value.utf8.count).encodeBigEndian(into: &bytes)
      bytes += value.utf8
    }
    bytes.append(UInt8(names.count))
    return bytes + response.body
  }

  static func decode(_ bytes: [UInt8], committedAt time: Timestamp) -> Response? {
    guard bytes.count >= 3 else { return nil }
    var response = Response(status: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
    var rest = bytes[2...]
    while let index = rest.popFirst(), index < names.count {
      guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
      let count = Int(high) << 8 | Int(low)
      response.add(names[Int(index)], String(decoding: rest.prefix(count), as: UTF8.self))
      rest = rest.dropFirst(count)
    }
    for byte in rest {
      if byte == timeHole { time.write(into: &response.body) } else { response.body.append(byte) }
    }
    return response
  }
}
