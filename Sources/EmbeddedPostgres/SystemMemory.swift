import Files
import Glibc

/// How much memory a process here may use.
struct SystemMemory {
  /// Where the control groups are mounted.
  var groups = "/sys/fs/cgroup"
  /// The file that names the groups of a process, as proc(5) has it.
  var membership = "/proc/self/cgroup"

  /// In bytes: that of the machine, or of the control groups where they allow less.
  var available: Int {
    let installed = Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE)))
    return limits.reduce(installed, min)
  }

  /// What the groups of this process allow, and all those around them.
  ///
  /// A line of the file is `number:controllers:path`, without controllers in version 2
  /// (cgroups(7)). In a container the path may be one that its own mount doesn't have.
  private var limits: [Int] {
    read(membership).split(separator: "\n").flatMap { line -> [Int] in
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { return [] }
      let controllers = parts[1].split(separator: ",")
      switch (controllers.isEmpty, controllers.contains("memory")) {
      case (true, _): return limits("", parts[2], file: "memory.max")
      case (_, true): return limits("/memory", parts[2], file: "memory.limit_in_bytes")
      default: return []
      }
    }
  }

  private func limits(_ mount: String, _ path: Substring, file: String) -> [Int] {
    var names = path.split(separator: "/")
    var limits: [Int] = []
    while true {
      let directory = groups + mount + names.map { "/\($0)" }.joined()
      // Where there is no bound the word is `max`, or the number is beyond all memory.
      if let limit = Int(read("\(directory)/\(file)").trimmed) { limits.append(limit) }
      guard names.popLast() != nil else { return limits }
    }
  }

  private func read(_ path: String) -> String {
    let bytes = try? SmallFile.read(path, for: .everybody)
    return String(decoding: bytes ?? [], as: UTF8.self)
  }
}

extension String {
  /// Without the end of its line.
  fileprivate var trimmed: Substring { prefix { !$0.isNewline } }
}
