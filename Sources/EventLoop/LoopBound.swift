/// State that belongs to one event loop and is touched on its thread alone.
///
/// The compiler can't see that confinement, so it is checked when the program is built for
/// debugging: an access from another thread stops it.
///
/// The class is `@unchecked Sendable` because the loop's thread is its only user; this is the one
/// place where that is claimed for loop state.
public final class LoopBound<Value>: @unchecked Sendable {
  @usableFromInline var stored: Value
  private weak var loop: EventLoop?

  /// Holds `value` for `loop`, from any thread, before the loop uses it.
  public init(_ value: sending Value, on loop: EventLoop? = nil) {
    stored = value
    self.loop = loop
  }

  /// The state; on the loop's thread only.
  @inlinable public var value: Value {
    _read {
      assert(isConfined, "the state of a loop was touched from another thread")
      yield stored
    }
    _modify {
      assert(isConfined, "the state of a loop was touched from another thread")
      yield &stored
    }
  }

  /// Names the loop that the state belongs to, once that is known.
  func adopt(by loop: EventLoop) {
    self.loop = loop
  }

  @usableFromInline var isConfined: Bool { loop?.isCurrent ?? true }
}
