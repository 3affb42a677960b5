import EventLoop

/// Lets a bounded number of tests through at a time; the others wait in line.
actor Turnstile {
  /// The server has a hundred connections, and a test may take a dozen.
  static let databases = Turnstile(places: 5)

  private var free: Int
  private var line = FIFO<CheckedContinuation<Void, Never>>()

  init(places: Int) {
    free = places
  }

  func enter() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { line.append($0) }
    }
  }

  func leave() {
    if let next = line.popFirst() {
      next.resume()
    } else {
      free += 1
    }
  }
}
