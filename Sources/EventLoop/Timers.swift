import Clocks

/// Names one timer of one loop.
public struct TimerID: Hashable, Sendable {
  let number: UInt64
}

/// The timers of a loop: a binary heap by deadline; what is cancelled is dropped when it comes up.
struct Timers {
  private struct Entry {
    let deadline: Instant
    let id: TimerID

    /// Timers with one deadline come in the order of their making.
    func isBefore(_ other: Entry) -> Bool {
      (deadline, id.number) < (other.deadline, other.id.number)
    }
  }

  private var heap: [Entry] = []
  private var actions: [TimerID: () -> Void] = [:]
  private var last: UInt64 = 0

  /// The earliest deadline, a cancelled timer's too until it comes up.
  var next: Instant? { heap.first?.deadline }

  mutating func add(at deadline: Instant, _ action: @escaping () -> Void) -> TimerID {
    last += 1
    let id = TimerID(number: last)
    actions[id] = action
    heap.append(Entry(deadline: deadline, id: id))
    siftUp(heap.count - 1)
    return id
  }

  mutating func cancel(_ id: TimerID) {
    actions[id] = nil
  }

  /// Removes and returns the earliest action whose time has come; nil where none has.
  ///
  /// One at a time, since an action may cancel others that are due.
  mutating func popDue(at now: Instant) -> (() -> Void)? {
    while let first = heap.first, first.deadline <= now {
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
      siftDown(0)
      if let action = actions.removeValue(forKey: first.id) { return action }
    }
    return nil
  }

  private mutating func siftUp(_ start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown(_ start: Int) {
    var parent = start
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].isBefore(heap[least]) {
        least = child
      }
      guard least != parent else { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
