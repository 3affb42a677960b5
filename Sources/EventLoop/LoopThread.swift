import CLinux
import Glibc

/// A thread of the system that runs one function; `join` waits for its end.
public struct LoopThread: Sendable {
  private let handle: pthread_t

  /// Starts a thread named `name` (the first 15 bytes show in tools) that runs `body`.
  public init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let box = Unmanaged.passRetained(Body(name: name, run: body))
    var handle = pthread_t()
    let code = pthread_create(
      &handle,
      nil,
      { argument in
        guard let argument else { return nil }
        let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        _ = jejak_set_thread_name(body.name)
        body.run()
        return nil
      },
      box.toOpaque()
    )
    guard code == 0 else {
      box.release()
      throw SystemError(call: "pthread_create", code: code)
    }
    self.handle = handle
  }

  /// Waits until the thread's function has returned; to be called once.
  public func join() {
    pthread_join(handle, nil)
  }

  /// Gives the calling thread a smaller claim on the processors: 1 is nearly an equal one, 19 the
  /// smallest.
  public static func beNice(_ niceness: Int32) {
    // A refusal is harmless: the thread then competes as an equal.
    _ = jejak_set_thread_nice(niceness)
  }

  private final class Body: Sendable {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }
}
