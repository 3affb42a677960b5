import CMicroHTTPD
import Clocks
import EventLoop

extension Server {
  /// Answers with a body that `producer` writes; HEAD is told the same header and no more.
  func stream(
    _ request: Request,
    _ response: Response,
    closing: Bool,
    from producer: @escaping Response.Producer
  ) -> MHD_Result {
    let writer = BodyWriter(loop: loop, connection: request.connection) { [state] in
      state.value.runSoon = true
    }
    let isHead = request.method == "HEAD"
    let queued = response.queue(
      on: request.connection,
      closing: closing,
      writer: writer,
      toHead: isHead
    )
    guard queued == .YES, !isHead else { return queued }
    jejak_end_when_silent(request.connection, limits.idleSeconds * 1000)
    request.writer = writer
    state.value.streams[ObjectIdentifier(writer)] = writer
    if state.value.draining { writer.drain() }
    if state.value.cutsStreams { writer.cut() }
    state.value.handling += 1
    Task(executorPreference: loop) { [state] in
      do {
        try await producer(writer)
        writer.finish(isComplete: true)
      } catch {
        writer.finish(isComplete: false)
      }
      state.value.handling -= 1
    }
    return queued
  }

  /// Forgets a body that has been sent, or whose connection is gone.
  func endStream(_ writer: BodyWriter) {
    writer.close()
    state.value.streams[ObjectIdentifier(writer)] = nil
    state.value.lastAnswer = loop.now
  }

  /// Cuts the bodies that are being sent, and those that are begun from now on.
  func cutStreams() {
    state.value.cutsStreams = true
    for stream in state.value.streams.values { stream.cut() }
  }
}
