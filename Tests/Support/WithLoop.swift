import Clocks
public import EventLoop

/// Runs `body` on an event loop of its own, and ends the loop's thread before it returns.
public func withLoop<Value: Sendable>(
  _ body: @escaping @Sendable (EventLoop) async throws -> Value
) async throws -> Value {
  let loop = try EventLoop()
  let thread = try loop.start(name: "test-loop")
  let result = await Task(executorPreference: loop) { try await body(loop) }.result
  loop.stop()
  thread.join()
  return try result.get()
}

/// What a test waited for didn't come.
public struct NeverHappened: Error {}

extension EventLoop {
  /// Returns in the next turn of the loop, whose descriptors have been served by then.
  public func nextTurn() async { await sleep(for: .zero) }

  /// Returns as soon as `condition`, asked on the loop, holds; throws when it never does.
  public func until(
    within patience: Duration = .seconds(20),
    _ condition: () async throws -> Bool
  ) async throws {
    let deadline = Instant.now() + patience
    while try await !condition() {
      guard Instant.now() < deadline else { throw NeverHappened() }
      await sleep(for: .milliseconds(1))
    }
  }
}
