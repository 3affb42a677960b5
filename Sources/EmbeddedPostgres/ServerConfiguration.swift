import CLinux
import Glibc

/// The settings of a private server; an operator's ALTER SYSTEM goes before them.
struct ServerConfiguration {
  static let fileName = "jejak.conf"

  /// Megabytes of shared buffers at the least, which is PostgreSQL's own default, and at most.
  private static let bufferRange = 128...1024

  let walCompression: String
  /// Memory that this machine, or the container, lets us have, in bytes.
  let memory: Int

  /// A quarter of the memory, as PostgreSQL's manual advises, in megabytes.
  var sharedBuffers: Int {
    min(max((memory / 4) >> 20, Self.bufferRange.lowerBound), Self.bufferRange.upperBound)
  }

  var text: String {
    """
    # Written by jejak at every start. Use ALTER SYSTEM for settings of your own.
    cluster_name = 'jejak'
    listen_addresses = ''
    max_connections = 100
    timezone = 'UTC'

    # Nothing acknowledged is ever lost.
    fsync = on
    synchronous_commit = on
    full_page_writes = on
    wal_compression = \(walCompression)
    max_wal_size = '4GB'
    checkpoint_timeout = '15min'

    shared_buffers = '\(sharedBuffers)MB'
    huge_pages = try
    random_page_cost = 1.1
    jit = off

    # A week of logs. Terse: the details of an error would show people's data.
    logging_collector = on
    log_filename = 'postgresql-%a.log'
    log_truncate_on_rotation = on
    log_rotation_age = '1d'
    log_rotation_size = 0
    log_error_verbosity = terse
    log_min_error_statement = panic

    """
  }

  /// Replaces the file in `cluster`, which belongs to a less privileged user: nothing that
  /// lies there is followed or written into.
  func write(cluster: Int32, user: ServerUser) throws(EmbeddedPostgresError) {
    let draft = Self.fileName + ".new"
    _ = unlinkat(cluster, draft, 0)
    let file = openat(
      cluster,
      draft,
      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
      0o600
    )
    guard file >= 0 else { throw .system(draft) }
    defer { _ = close(file) }
    let bytes = Array(text.utf8)
    guard Glibc.write(file, bytes, bytes.count) == bytes.count,
      geteuid() != 0 || fchown(file, user.uid, user.gid) == 0,
      fsync(file) == 0, renameat(cluster, draft, cluster, Self.fileName) == 0
    else { throw .system(draft) }
  }
}
