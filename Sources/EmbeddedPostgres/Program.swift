import CLinux
import Glibc

/// One program of PostgreSQL, started apart from us: a session of its own (so that a
/// terminal's Ctrl-C spares it), none of our descriptors, no signal mask, no environment.
struct Program {
  let path: String
  let arguments: [String]
  let user: ServerUser

  /// Starts the program with `directories` as descriptors 3, 4, … and its output in `log`.
  ///
  /// A directory that is given as a descriptor is reached by `/proc/self/fd/N`, which asks
  /// nothing of its parents. So the server, run as an unprivileged user, can keep its data
  /// under a directory such as `/root` that this user may not enter. (Given as the working
  /// directory it would not do: PostgreSQL 15 looks for its own path by leaving and
  /// re-entering that directory.)
  func spawn(
    directories: [Int32],
    log: Int32
  ) throws(EmbeddedPostgresError) -> pid_t {
    // Above the targets, so that no dup2 overwrites the source of the next.
    let sources = (directories + [log]).map { fcntl($0, F_DUPFD_CLOEXEC, 16) }
    defer { for source in sources { _ = close(source) } }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, sources[directories.count], 1)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    for (index, source) in sources.dropLast().enumerated() {
      posix_spawn_file_actions_adddup2(&actions, source, Int32(3 + index))
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, Int32(3 + directories.count))
    posix_spawn_file_actions_addchdir_np(&actions, "/")

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes,
      Int16(Int32(jejak_spawn_setsid) | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
    )

    var child: pid_t = 0
    let result = withCStrings(commandLine) { arguments in
      withCStrings(["PATH=/usr/bin:/bin", "LC_ALL=C"]) { environment in
        posix_spawnp(&child, commandLine[0], &actions, &attributes, arguments, environment)
      }
    }
    guard result == 0 else {
      throw .startFailed(
        reason: "\(commandLine[0]): \(String(cString: strerror(result)))",
        log: path
      )
    }
    return child
  }

  /// The command, through util-linux's setpriv where root has to become someone else.
  private var commandLine: [String] {
    guard geteuid() == 0, user.uid != 0 else { return [path] + arguments }
    return [
      "setpriv", "--reuid", "\(user.uid)", "--regid", "\(user.gid)", "--clear-groups",
      "--no-new-privs", path,
    ] + arguments
  }
}

/// Calls `body` with a null-terminated array of C strings.
private func withCStrings<Result>(
  _ strings: [String],
  _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let copies = strings.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return body(copies + [nil])
}
