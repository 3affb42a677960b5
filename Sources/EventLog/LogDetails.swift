public import Sodium

/// What an entry has the digest of: the parts of an event's header that have no fixed length.
public struct LogDetails: Equatable, Sendable {
  /// What happened.
  public let type: String
  /// The request that caused it.
  public let requestID: String?
  /// The trace that the request was part of.
  public let traceID: String?
  /// The names of the fields that changed.
  public let changed: [String]

  /// Details of these parts.
  public init(type: String, requestID: String?, traceID: String?, changed: [String]) {
    self.type = type
    self.requestID = requestID
    self.traceID = traceID
    self.changed = changed
  }

  /// What is hashed: type, request and trace, each as a `u32` length, which is all ones for a null,
  /// and UTF-8; then the number of changed fields as `u32`, and each of them likewise.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    func put(_ number: UInt32) {
      withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
    func put(_ text: String?) {
      guard let text else { return put(UInt32.max) }
      put(UInt32(truncatingIfNeeded: text.utf8.count))
      bytes += text.utf8
    }
    put(type)
    put(requestID)
    put(traceID)
    put(UInt32(truncatingIfNeeded: changed.count))
    for field in changed { put(field) }
    return bytes
  }

  /// The digest that stands in the entry.
  public var digest: SHA256.Digest {
    var context = SHA256.Context()
    bytes.withUnsafeBytes { context.update($0) }
    return context.finish()
  }

  /// The details of these bytes; nil where they are none.
  public init?(_ bytes: some Sequence<UInt8>) {
    var rest = Array(bytes)[...]
    func number() -> UInt32? {
      guard rest.count >= 4 else { return nil }
      defer { rest = rest.dropFirst(4) }
      return rest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
    /// Nil where there is none; a null is nil within.
    func text() -> String?? {
      guard let count = number() else { return nil }
      if count == .max { return .some(nil) }
      guard count <= rest.count else { return nil }
      defer { rest = rest.dropFirst(Int(count)) }
      guard let text = String(validating: rest.prefix(Int(count)), as: UTF8.self) else {
        return nil
      }
      return text
    }
    guard case .some(.some(let type)) = text(), case .some(let requestID) = text(),
      case .some(let traceID) = text(), let count = number()
    else { return nil }
    var changed: [String] = []
    for _ in 0..<count {
      guard case .some(.some(let field)) = text() else { return nil }
      changed.append(field)
    }
    guard rest.isEmpty else { return nil }
    self.init(type: type, requestID: requestID, traceID: traceID, changed: changed)
  }
}
