public import Clocks
public import MerkleTree
public import Profiles
public import Sodium

/// What the tree's leaf of an event stands for: the event in a form of fixed width, with digests in
/// place of what has no fixed length or may be erased.
///
/// Numbers are big-endian: `u8` form, `i64` position, `i64` microseconds since 1970, 16 bytes user,
/// 16 bytes event, `u8` stream, `i32` version, `i16` schema, `u8` kind of the actor, 16 bytes actor
/// (zeros for none), 32 bytes digest of the details, 32 bytes digest of the stored payload.
public struct LogEntry: Equatable, Sendable {
  /// The form that is written today.
  public static let form: UInt8 = 1
  /// Bytes of an entry.
  public static let byteCount = 137

  /// The event's place in the log; its leaf is the one before, as they are counted from 0.
  public let position: Position
  /// When it was committed.
  public let recordedAt: Timestamp
  /// Whose event it is.
  public let user: UserID
  /// The event's id.
  public let event: EventID
  /// The stream, as the database numbers it.
  public let stream: UInt8
  /// The version of its stream that it made.
  public let version: Version
  /// The form of the payload.
  public let schema: Int16
  /// What kind of actor caused it, as the database numbers it.
  public let actorKind: UInt8
  /// The actor's id; nil where it has none.
  public let actorID: Identifier<Actor>?
  /// The digest of type, request, trace and the names of the changed fields.
  public let details: SHA256.Digest
  /// The digest of the payload as it is stored.
  public let payload: SHA256.Digest

  /// An entry of these parts.
  public init(
    position: Position,
    recordedAt: Timestamp,
    user: UserID,
    event: EventID,
    stream: UInt8,
    version: Version,
    schema: Int16,
    actorKind: UInt8,
    actorID: Identifier<Actor>?,
    details: SHA256.Digest,
    payload: SHA256.Digest
  ) {
    self.position = position
    self.recordedAt = recordedAt
    self.user = user
    self.event = event
    self.stream = stream
    self.version = version
    self.schema = schema
    self.actorKind = actorKind
    self.actorID = actorID
    self.details = details
    self.payload = payload
  }

  /// The leaf's place in the tree, from 0.
  public var index: Int64 { position.rawValue &- 1 }

  /// Who caused it.
  public var actor: Actor { Actor(kind: Int16(actorKind), id: actorID) }

  /// The entry as the tree takes it.
  public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

  /// The hash of the leaf.
  public var leaf: TreeHash { withUnsafeBytes { TreeHash.leaf($0) } }

  /// The entry of these bytes; nil where they are none.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, bytes[0] == Self.form else { return nil }
    var rest = bytes.dropFirst()
    func take(_ count: Int) -> ArraySlice<UInt8> {
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    func integer<I: FixedWidthInteger>(_: I.Type = I.self) -> I {
      take(MemoryLayout<I>.size).reduce(0) { $0 << 8 | I(truncatingIfNeeded: $1) }
    }
    position = Position(integer())
    recordedAt = Timestamp(microseconds: integer())
    user = UserID(high: integer(), low: integer())
    event = EventID(high: integer(), low: integer())
    stream = integer()
    version = Version(integer())
    schema = integer()
    actorKind = integer()
    let (high, low) = (integer(UInt64.self), integer(UInt64.self))
    actorID = high == 0 && low == 0 ? nil : Identifier(high: high, low: low)
    guard let details = SHA256.Digest(take(SHA256.byteCount)),
      let payload = SHA256.Digest(take(SHA256.byteCount))
    else { return nil }
    self.details = details
    self.payload = payload
  }

  private func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { buffer in
      var end = 0
      func put(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: buffer[end...]).copyMemory(from: bytes)
        end += bytes.count
      }
      func put(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { put($0) }
      }
      put(Self.form)
      put(position.rawValue)
      put(recordedAt.microseconds)
      put(user.high)
      put(user.low)
      put(event.high)
      put(event.low)
      put(stream)
      put(version.rawValue)
      put(schema)
      put(actorKind)
      put(actorID?.high ?? 0)
      put(actorID?.low ?? 0)
      details.withUnsafeBytes { put($0) }
      payload.withUnsafeBytes { put($0) }
      return body(UnsafeRawBufferPointer(buffer))
    }
  }
}
