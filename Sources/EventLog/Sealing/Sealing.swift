import Keys
import Postgres
import Profiles
import Sodium

/// The sealed form of payloads: XChaCha20-Poly1305 under the user's own key.
///
/// Stored is a byte for the form, 1, then nonce and box. The seal binds the event's place: a payload
/// that was copied to another user, stream, version, type or form of the payload doesn't open.
enum Sealing {
  /// The only form there is.
  static let form: UInt8 = 1
  /// What a payload begins with that was written before there was sealing: JSON text.
  static let plain = UInt8(ascii: "{")

  /// What a payload belongs to.
  struct Place {
    let user: UserID
    let stream: Int16
    let version: Version
    let type: String
    let schema: Int16

    /// Fixed widths, and the type as all that is left, so that no two places look alike.
    fileprivate var binding: [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(64)
      bytes += Sealing.purpose
      user.high.encodeBigEndian(into: &bytes)
      user.low.encodeBigEndian(into: &bytes)
      stream.encodeBigEndian(into: &bytes)
      version.rawValue.encodeBigEndian(into: &bytes)
      schema.encodeBigEndian(into: &bytes)
      bytes += type.utf8
      return bytes
    }
  }

  private static let purpose = Array("jejak.payload.v1".utf8)

  /// The form in which `payload` is stored.
  static func seal(_ payload: [UInt8], at place: Place, key: DataKey) -> [UInt8] {
    SecretBox.seal(payload, key: key.bytes, binding: place.binding, prefix: form)
  }

  /// The payload of a stored form; nil where it doesn't open under this key, at this place.
  static func open(
    _ stored: UnsafeRawBufferPointer,
    at place: Place,
    key: DataKey
  ) -> [UInt8]? {
    guard stored.first == form else { return nil }
    return SecretBox.open(stored.dropFirst(), key: key.bytes, binding: place.binding)
  }
}
