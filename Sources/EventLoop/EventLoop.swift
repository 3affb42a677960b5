import CLinux
public import Clocks
internal import Glibc
import Synchronization

/// One thread with one epoll set: an executor for tasks, a watcher of descriptors, a clock.
///
/// A task started with `Task(executorPreference: loop)` begins, waits and ends on the loop's thread.
/// Whatever belongs to a loop (connections, requests, batches) is confined to that thread and
/// needs no lock; `LoopBound` holds such state and checks the confinement.
///
/// A turn of the loop: wait for descriptors, call their handlers, fire timers, run jobs, then the
/// end-of-turn hooks, where the work of the whole turn is sent as one batch.
public final class EventLoop: TaskExecutor {
  /// Jobs handed over by other threads, in order of arrival.
  private let inbox = Mutex<[UnownedJob]>([])
  private let thread = Atomic<UInt>(0)
  private let epoll: Int32
  private let wakeup: Int32
  private let state: LoopBound<State>

  /// What only the loop's own thread touches.
  struct State {
    var jobs: [UnownedJob] = []
    var watchers: [Watcher?] = []
    var timers = Timers()
    var hooks: [() -> Void] = []
    var now = Instant.now()
    var stopping = false

    /// The jobs that wait, in exchange for an empty array to fill.
    mutating func takeJobs(leaving empty: inout [UnownedJob]) {
      swap(&jobs, &empty)
    }
  }

  /// A loop that is not yet running; `start` or `run` gives it its thread.
  public init() throws(SystemError) {
    epoll = try SystemError.check(epoll_create1(Int32(EPOLL_CLOEXEC)), "epoll_create1")
    wakeup = try SystemError.check(
      eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC)),
      "eventfd"
    )
    state = LoopBound(State())
    var event = epoll_event(
      events: EPOLLIN.rawValue | EPOLLET.rawValue,
      data: epoll_data_t(fd: wakeup)
    )
    _ = try SystemError.check(epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup, &event), "epoll_ctl")
  }

  deinit {
    close(epoll)
    close(wakeup)
  }

  /// Whether the caller is on the loop's thread.
  public var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// The time at which the present turn began.
  public var now: Instant { state.value.now }

  /// Takes a job of the Swift runtime; from the loop's own thread without lock or system call.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isCurrent {
      state.value.jobs.append(job)
      return
    }
    let wasEmpty = inbox.withLock { inbox in
      inbox.append(job)
      return inbox.count == 1
    }
    if wasEmpty { wake() }
  }

  /// Runs `body` on the loop, soon; from any thread.
  public func execute(_ body: @escaping @Sendable () -> Void) {
    Task(executorPreference: self) { body() }
  }

  /// Starts the loop on a thread of its own, named `name`; the thread keeps the loop alive.
  public func start(name: String) throws(SystemError) -> LoopThread {
    try LoopThread(name: name) { self.run() }
  }

  /// Takes the calling thread for the loop until `stop` is called.
  public func run() {
    thread.store(UInt(pthread_self()), ordering: .relaxed)
    state.adopt(by: self)
    let capacity = 256
    let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: capacity)
    defer { events.deallocate() }
    var running: [UnownedJob] = []
    while !state.value.stopping {
      let count = epoll_wait(epoll, events, Int32(capacity), waitMilliseconds())
      state.value.now = Instant.now()
      for index in 0..<Int(max(count, 0)) { dispatch(events[index]) }
      while let action = state.value.timers.popDue(at: state.value.now) { action() }
      takeInbox()
      runJobs(&running)
      for hook in state.value.hooks { hook() }
    }
    thread.store(0, ordering: .relaxed)
  }

  /// Ends `run` after the present turn; from any thread.
  public func stop() {
    execute { self.state.value.stopping = true }
  }

  private func wake() {
    var one: UInt64 = 1
    // A full counter already wakes the loop, so a failed write loses nothing.
    _ = write(wakeup, &one, 8)
  }

  private func waitMilliseconds() -> Int32 {
    guard state.value.jobs.isEmpty else { return 0 }
    guard let deadline = state.value.timers.next else { return -1 }
    let nanoseconds = deadline.nanoseconds - Instant.now().nanoseconds
    // Rounded up, so that a timer is due when the wait ends.
    return nanoseconds <= 0 ? 0 : Int32(clamping: (nanoseconds + 999_999) / 1_000_000)
  }

  private func dispatch(_ event: epoll_event) {
    let descriptor = Int(event.data.fd)
    if event.data.fd == wakeup {
      var count: UInt64 = 0
      _ = read(wakeup, &count, 8)
      return
    }
    guard descriptor < state.value.watchers.count, let watcher = state.value.watchers[descriptor]
    else { return }
    watcher.handler(Interest(epoll: event.events))
  }

  private func takeInbox() {
    let taken = inbox.withLock { inbox in
      let taken = inbox
      inbox.removeAll(keepingCapacity: true)
      return taken
    }
    if !taken.isEmpty { state.value.jobs.append(contentsOf: taken) }
  }

  /// `running` is empty before and after; it is passed to keep its memory.
  private func runJobs(_ running: inout [UnownedJob]) {
    let executor = asUnownedTaskExecutor()
    // Bounded, so that jobs which make jobs can't keep the loop from its descriptors.
    for _ in 0..<64 where !state.value.jobs.isEmpty {
      state.value.takeJobs(leaving: &running)
      for job in running { job.runSynchronously(on: executor) }
      running.removeAll(keepingCapacity: true)
    }
  }
}

// Each of these is called on the loop's own thread.
extension EventLoop {
  /// Calls `handler` whenever `descriptor` is ready for any of `interest` (level-triggered).
  public func watch(
    _ descriptor: Int32,
    for interest: Interest,
    _ handler: @escaping (Interest) -> Void
  ) throws(SystemError) {
    let index = Int(descriptor)
    while state.value.watchers.count <= index { state.value.watchers.append(nil) }
    var event = epoll_event(events: interest.epoll, data: epoll_data_t(fd: descriptor))
    _ = try SystemError.check(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl")
    state.value.watchers[index] = Watcher(handler: handler)
  }

  /// Changes what a watched descriptor is watched for.
  public func change(_ descriptor: Int32, to interest: Interest) {
    var event = epoll_event(events: interest.epoll, data: epoll_data_t(fd: descriptor))
    epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event)
  }

  /// Forgets `descriptor`; to be called before it is closed.
  public func unwatch(_ descriptor: Int32) {
    let index = Int(descriptor)
    guard index < state.value.watchers.count, state.value.watchers[index] != nil else { return }
    state.value.watchers[index] = nil
    epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)
  }

  /// Calls `body` at the end of every turn of the loop.
  public func atEndOfTurn(_ body: @escaping () -> Void) {
    state.value.hooks.append(body)
  }

  /// Calls `body` once, `delay` from now.
  @discardableResult
  public func schedule(after delay: Duration, _ body: @escaping () -> Void) -> TimerID {
    state.value.timers.add(at: Instant.now() + delay, body)
  }

  /// Takes a timer back; one that has fired or been cancelled is left alone.
  public func cancel(_ timer: TimerID) {
    state.value.timers.cancel(timer)
  }

  /// Waits for `delay` without holding the thread.
  public func sleep(for delay: Duration) async {
    await withCheckedContinuation { continuation in
      _ = schedule(after: delay) { continuation.resume() }
    }
  }
}

/// What the loop calls for one descriptor.
final class Watcher {
  let handler: (Interest) -> Void
  init(handler: @escaping (Interest) -> Void) { self.handler = handler }
}
