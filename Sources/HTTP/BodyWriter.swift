import CMicroHTTPD
import EventLoop
import Glibc

/// What the producer of a streamed body writes to; on the loop of its connection.
///
/// Bytes that the client hasn't taken yet are kept up to a limit, above which `write` waits: a slow
/// reader slows its producer and nobody else.
public final class BodyWriter: Sendable {
  /// Nobody takes the body any more: its client is gone, took nothing for too long, or the server
  /// has ended.
  public struct Closed: Error {
    /// The one there is.
    public init() {}
  }

  /// Bytes that wait to be sent at most; a larger piece is taken when nothing else waits.
  public static let bufferLimit = 256 * 1024
  /// Who waits for room goes on when this much is left.
  private static let resumptionLevel = bufferLimit / 2

  private struct State {
    var connection: OpaquePointer?
    var pieces = FIFO<[UInt8]>()
    /// Bytes of the first piece that are sent already.
    var taken = 0
    var unsent = 0
    var ending = Ending.open
    var isSuspended = false
    var isDraining = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var notices: [() -> Void] = []
  }

  /// How far a body has come.
  private enum Ending {
    /// More may be written.
    case open
    /// What is written is all.
    case complete
    /// The connection is to be cut: the body is not complete and never will be.
    case cut
    /// The connection is gone.
    case gone
  }

  private let wake: @Sendable () -> Void
  private let state: LoopBound<State>

  /// A writer for `connection`, made on its loop; `wake` asks the server to run soon.
  init(loop: EventLoop, connection: OpaquePointer, wake: @escaping @Sendable () -> Void) {
    self.wake = wake
    state = LoopBound(State(), on: loop)
    state.value.connection = connection
  }

  /// Whether the server is about to end: what has no end of its own should end now, and what has
  /// one may go on for the time of grace.
  public var isDraining: Bool { state.value.isDraining }

  /// Whether the body can't be written any more.
  public var isClosed: Bool { state.value.ending != .open }

  /// Calls `notice` once, when the server begins to drain or the writer is closed; at once where
  /// that has happened.
  public func whenEnding(_ notice: @escaping () -> Void) {
    guard !isDraining, !isClosed else { return notice() }
    state.value.notices.append(notice)
  }

  /// Sends `bytes` after what was written before; returns when they are kept within the limit.
  public func write(_ bytes: [UInt8]) async throws(Closed) {
    while !isClosed, state.value.unsent > 0,
      state.value.unsent + bytes.count > Self.bufferLimit
    {
      await withCheckedContinuation { state.value.waiting.append($0) }
    }
    guard !isClosed else { throw Closed() }
    guard !bytes.isEmpty else { return }
    state.value.pieces.append(bytes)
    state.value.unsent += bytes.count
    resume()
  }

  // MARK: What the server does

  /// A response of libmicrohttpd that takes its body from here, and keeps this writer; to HEAD it
  /// has none.
  func makeResponse(toHead: Bool) -> OpaquePointer? {
    let context = Unmanaged.passRetained(self)
    let response = MHD_create_response_from_callback(
      UInt64.max,
      Self.blockSize,
      { context, _, buffer, count in
        // The context is the writer that the response keeps.
        Unmanaged<BodyWriter>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
          .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
      },
      context.toOpaque(),
      { context in
        if let context { Unmanaged<BodyWriter>.fromOpaque(context).release() }
      }
    )
    guard let response else {
      context.release()
      return nil
    }
    if toHead { jejak_end_with_connection(response) }
    return response
  }

  /// Bytes that libmicrohttpd asks for at a time where it sends no chunks.
  private static let blockSize = 16_384

  /// Ends the body: as complete, or by cutting the connection.
  func finish(isComplete: Bool) {
    guard state.value.ending == .open else { return }
    state.value.ending = isComplete ? .complete : .cut
    notify()
    resume()
  }

  /// Cuts the connection, whatever was written.
  func cut() {
    guard state.value.ending != .gone else { return }
    state.value.ending = .cut
    notify()
    resume()
  }

  /// The connection is gone; no call of libmicrohttpd may name it any more.
  func close() {
    state.value.ending = .gone
    state.value.isSuspended = false
    state.value.pieces = FIFO()
    state.value.unsent = 0
    notify()
  }

  /// The server has begun to drain.
  func drain() {
    state.value.isDraining = true
    notify()
  }

  /// Moves at most `buffer.count` bytes into `buffer`, for libmicrohttpd; suspends the connection
  /// where there are none.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = state.value.ending == .cut ? 0 : move(into: buffer)
    if count > 0 {
      if state.value.unsent <= Self.resumptionLevel { wakeWriters() }
      return count
    }
    switch state.value.ending {
    case .open:
      state.value.isSuspended = true
      MHD_suspend_connection(state.value.connection)
      return 0
    case .complete: return Self.endOfStream
    case .cut, .gone:
      // Without a length or chunks nothing but a reset tells the client that something is missing.
      jejak_reset(state.value.connection)
      return Self.endWithError
    }
  }

  /// `MHD_CONTENT_READER_END_OF_STREAM` and `…_END_WITH_ERROR`, whose casts Swift can't read.
  private static let endOfStream = -1
  private static let endWithError = -2

  private func move(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var count = 0
    while count < buffer.count, let piece = state.value.pieces.first {
      let start = state.value.taken
      let moved = min(buffer.count - count, piece.count - start)
      piece.withUnsafeBytes { bytes in
        UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + moved])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + moved]))
      }
      count += moved
      if start + moved == piece.count {
        _ = state.value.pieces.popFirst()
        state.value.taken = 0
      } else {
        state.value.taken = start + moved
      }
    }
    state.value.unsent -= count
    return count
  }

  private func resume() {
    guard state.value.isSuspended else { return }
    state.value.isSuspended = false
    MHD_resume_connection(state.value.connection)
    wake()
  }

  private func wakeWriters() {
    let waiting = state.value.waiting
    state.value.waiting = []
    for writer in waiting { writer.resume() }
  }

  private func notify() {
    wakeWriters()
    let notices = state.value.notices
    state.value.notices = []
    for notice in notices { notice() }
  }
}
