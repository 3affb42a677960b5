import Foundation
import Testing

@testable import EmbeddedPostgres

@Suite("The memory of a server")
struct SystemMemoryTests {
  private let installed = SystemMemory(groups: "/nowhere", membership: "/nowhere/cgroup").available

  /// What `membership` and `files`, below the mount of the groups, come to.
  private func available(_ membership: String, _ files: [String: String]) throws -> Int {
    let scratch = try Scratch()
    let groups = scratch.root + "/groups"
    for (path, text) in files {
      let file = URL(fileURLWithPath: "\(groups)/\(path)")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(),
        withIntermediateDirectories: true
      )
      try text.write(to: file, atomically: false, encoding: .utf8)
    }
    try membership.write(
      toFile: scratch.root + "/cgroup",
      atomically: false,
      encoding: .utf8
    )
    return SystemMemory(groups: groups, membership: scratch.root + "/cgroup").available
  }

  @Test func `is the machine's without control groups`() throws {
    #expect(installed == Int(ProcessInfo.processInfo.physicalMemory))
    #expect(try available("0::/\n", [:]) == installed)
    #expect(try available("nonsense\n", ["memory.max": "7"]) == installed)
  }

  @Test func `is what the groups allow, the least of all around`() throws {
    let files = [
      "memory.max": "max\n", "a/memory.max": "300000000\n", "a/b/memory.max": "400000000\n",
    ]
    #expect(try available("0::/a/b\n", files) == 300_000_000)
    #expect(try available("0::/\n", files) == installed)
    // The path is one of the machine's, the mount the container's.
    #expect(try available("0::/docker/1\n", ["memory.max": "200000000\n"]) == 200_000_000)
  }

  @Test func `is what groups of the first version allow`() throws {
    let membership = "5:cpu:/c\n4:memory:/c\n0::/\n"
    #expect(
      try available(membership, ["memory/c/memory.limit_in_bytes": "250000000\n"]) == 250_000_000
    )
    let unlimited = ["memory/c/memory.limit_in_bytes": "9223372036854771712\n"]
    #expect(try available(membership, unlimited) == installed)
  }

  @Test(
    arguments: [(0, 128), (600 << 20, 150), (2 << 30, 512), (4 << 30, 1024), (1 << 40, 1024)]
  )
  func `gives a quarter to shared buffers`(memory: Int, megabytes: Int) {
    let configuration = ServerConfiguration(walCompression: "off", memory: memory)
    #expect(configuration.text.contains("\nshared_buffers = '\(megabytes)MB'\n"))
  }
}
