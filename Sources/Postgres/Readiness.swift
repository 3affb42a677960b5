import Synchronization

/// How many of a process's connections stand; each loop's connections report to it.
public final class Readiness: Sendable {
  private let expected = Atomic(0)
  private let standing = Atomic(0)

  /// No connections yet.
  public init() {}

  /// Whether every connection stands that was asked for, and there is one.
  public var isComplete: Bool {
    let expected = expected.load(ordering: .acquiring)
    return expected > 0 && standing.load(ordering: .acquiring) == expected
  }

  func expectOne() { expected.add(1, ordering: .acquiringAndReleasing) }

  func change(to stands: Bool) {
    standing.add(stands ? 1 : -1, ordering: .acquiringAndReleasing)
  }
}
