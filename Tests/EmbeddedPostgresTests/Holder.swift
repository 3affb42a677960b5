import Foundation

/// Another process with a share in the server of `dataDirectory`.
final class Holder {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// Starts the process, as `user` where one is named.
  init(_ dataDirectory: String, user: String? = nil, binary: String = Holder.binary) throws {
    let command = [binary, dataDirectory]
    let prefix =
      user.map {
        ["/usr/bin/setpriv", "--reuid", $0, "--regid", "nogroup", "--clear-groups"]
      } ?? []
    let all = prefix + command
    process.executableURL = URL(fileURLWithPath: all[0])
    process.arguments = Array(all.dropFirst())
    process.standardInput = input
    process.standardOutput = output
    // Or a sibling would inherit, and hold open, what this one waits for the end of.
    for end in [input.fileHandleForWriting, output.fileHandleForReading] {
      _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    try process.run()
  }

  /// The line that the process says once it has joined: a URL, or `error: …`.
  func firstLine() -> String {
    var line: [UInt8] = []
    while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first,
      byte != UInt8(ascii: "\n")
    {
      line.append(byte)
    }
    return String(decoding: line, as: UTF8.self)
  }

  /// Ends the process as it ends by itself, and waits for it.
  ///
  /// Everything it printed must have been closed too: a server that kept the pipe open would
  /// hang the test here.
  func finish() {
    try? input.fileHandleForWriting.close()
    _ = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
  }

  func killHard() {
    kill(process.processIdentifier, SIGKILL)
    _ = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
  }

  /// The program beside the tests' own.
  static var binary: String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return (own as NSString).deletingLastPathComponent + "/LeaseHolder"
  }
}
