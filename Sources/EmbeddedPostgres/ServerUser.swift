import CLinux
import Glibc

/// A system account, as whom the server runs or to whom a file belongs.
struct ServerUser: Equatable, Sendable {
  let uid: uid_t
  let gid: gid_t

  static var current: ServerUser { ServerUser(uid: geteuid(), gid: getegid()) }

  init(uid: uid_t, gid: gid_t) {
    self.uid = uid
    self.gid = gid
  }

  init(ownerOf status: stat) {
    self.init(uid: status.st_uid, gid: status.st_gid)
  }

  init?(named name: String) {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var text = [CChar](repeating: 0, count: 16_384)
    guard getpwnam_r(name, &entry, &text, text.count, &found) == 0, found != nil else {
      return nil
    }
    self.init(uid: entry.pw_uid, gid: entry.pw_gid)
  }

  /// The account for a server that `cluster` belongs to, if it exists already.
  ///
  /// PostgreSQL refuses to run as root, so root hands over to the owner of the data, else to
  /// `name`, `postgres` or `nobody`; anyone else is who they are.
  static func choose(
    name: String?,
    clusterStatus: stat?
  ) throws(EmbeddedPostgresError) -> ServerUser {
    guard geteuid() == 0 else { return .current }
    if let clusterStatus, clusterStatus.st_uid != 0 {
      return ServerUser(ownerOf: clusterStatus)
    }
    if let name {
      guard let user = ServerUser(named: name), user.uid != 0 else {
        throw .directoryUnusable(path: name, reason: "no such unprivileged user")
      }
      return user
    }
    guard let user = ServerUser(named: "postgres") ?? ServerUser(named: "nobody") else {
      throw .directoryUnusable(
        path: "postgres, nobody",
        reason: "neither of these users exists"
      )
    }
    return user
  }
}
