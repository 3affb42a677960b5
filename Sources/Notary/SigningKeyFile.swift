public import Files
public import MerkleTree
import Sodium

/// The file of the key that checkpoints are signed with: one line, `PRIVATE+KEY+name+id+seed`.
public struct SigningKeyFile: Sendable {
  /// What a new log is called that nobody has given a name; eight hexadecimal digits follow.
  private static let standardOrigin = "localhost/jejak/"

  /// Where it is.
  public let path: String

  /// The file at `path`, whether there is one or not.
  public init(_ path: String) {
    self.path = path
  }

  /// The key; a file that others can read, or that holds no key, is refused.
  public func read() throws(SmallFileError) -> NoteSigner {
    let bytes = try SmallFile.read(path, for: .owner)
    var text = String(decoding: bytes, as: UTF8.self)[...]
    while let last = text.last, last.isNewline { text.removeLast() }
    guard let signer = NoteSigner(text) else {
      throw SmallFileError.unusable(
        path,
        reason: "it holds no key of the form PRIVATE+KEY+name+id+key"
      )
    }
    return signer
  }

  /// Makes a key named `origin`, or else one of a random name, and the file; fails where there is
  /// one.
  public func create(origin: String? = nil) throws(SmallFileError) -> NoteSigner {
    let signer = try Self.makeKey(origin: origin, for: path)
    try write(signer)
    return signer
  }

  /// The key, made where there is none; whether it was made.
  public func readOrCreate() throws(SmallFileError) -> (signer: NoteSigner, isNew: Bool) {
    do throws(SmallFileError) {
      return (try read(), false)
    } catch  where error.isMissing {
      do throws(SmallFileError) {
        return (try create(), true)
      } catch {
        // Another process may have been faster.
        guard let signer = try? read() else { throw error }
        return (signer, false)
      }
    }
  }

  /// Makes a key of another name, and puts the one that is there aside, under the name of the file
  /// and its id.
  public func renew(origin: String? = nil) throws(SmallFileError) -> NoteSigner {
    let old = try read()
    let signer = try Self.makeKey(origin: origin, for: path)
    guard signer.verifier.name != old.verifier.name else {
      throw SmallFileError.unusable(
        path,
        reason: "it has a key of the name \(old.verifier.name) already"
      )
    }
    try SmallFile.putAside(path, as: old.verifier.keyIDText)
    try write(signer)
    return signer
  }

  private func write(_ signer: NoteSigner) throws(SmallFileError) {
    guard try SmallFile.make(path, Array((signer.secretText + "\n").utf8)) else {
      throw .unusable(path, reason: "there is one already")
    }
  }

  private static func makeKey(
    origin: String?,
    for path: String
  ) throws(SmallFileError) -> NoteSigner {
    let name = origin ?? standardOrigin + hexadecimal(RandomBytes.make(4))
    guard let signer = NoteSigner.make(name: name) else {
      throw SmallFileError.unusable(path, reason: "'\(name)' is no name of a log")
    }
    return signer
  }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
