import CSodium

extension SHA256 {
  /// The 32 bytes of a digest as a value, which takes no memory of its own.
  public struct Digest: Hashable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    fileprivate init() {}

    /// The digest of so many bytes; nil where they are not 32.
    public init?(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.count == byteCount else { return nil }
      withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
    }

    /// The digest of so many bytes; nil where they are not 32.
    public init?(_ bytes: some Sequence<UInt8>) {
      let array = Array(bytes)
      guard let digest = array.withUnsafeBytes({ Digest($0) }) else { return nil }
      self = digest
    }

    /// The 32 bytes.
    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// Lends the 32 bytes to `body`.
    @inline(__always)
    public func withUnsafeBytes<Result>(
      _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
      try Swift.withUnsafeBytes(of: words, body)
    }

    /// Appends the 32 bytes.
    public func write(into bytes: inout [UInt8]) {
      withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// Whether both have the same bytes.
    public static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }

    /// Mixes the bytes in.
    public func hash(into hasher: inout Hasher) {
      withUnsafeBytes { hasher.combine(bytes: $0) }
    }
  }

  /// A digest in the making, of bytes that come in parts.
  public struct Context {
    private var state = crypto_hash_sha256_state()

    /// Nothing so far.
    public init() {
      Sodium.ready()
      crypto_hash_sha256_init(&state)
    }

    /// Takes the next bytes in.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
      crypto_hash_sha256_update(
        &state,
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
        UInt64(bytes.count)
      )
    }

    /// Takes one byte in.
    public mutating func update(_ byte: UInt8) {
      withUnsafeBytes(of: byte) { update($0) }
    }

    /// Takes a number in, big-endian.
    public mutating func update(bigEndian number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.bigEndian) { update($0) }
    }

    /// The digest of all that was taken in; the context is of no use afterwards.
    public mutating func finish() -> Digest {
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: byteCount) { buffer in
        guard let start = buffer.baseAddress else { return Digest() }
        crypto_hash_sha256_final(&state, start)
        return Digest(UnsafeRawBufferPointer(buffer)) ?? Digest()
      }
    }
  }

  /// The digest of `bytes` as a value.
  public static func value(of bytes: UnsafeRawBufferPointer) -> Digest {
    var context = Context()
    context.update(bytes)
    return context.finish()
  }
}
