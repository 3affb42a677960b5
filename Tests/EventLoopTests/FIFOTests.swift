import EventLoop
import Testing

@Suite("A FIFO")
struct FIFOTests {
  @Test func `gives what it was given, in that order, while it grows`() {
    var queue = FIFO<Int>()
    for number in 0..<1_000 { queue.append(number) }
    #expect(queue.count == 1_000)
    var taken: [Int] = []
    while let number = queue.popFirst() { taken.append(number) }
    #expect(taken == Array(0..<1_000))
    #expect(queue.isEmpty)
  }

  @Test func `keeps the order where it wraps around and grows`() {
    var queue = FIFO<Int>()
    var model: [Int] = []
    var next = 0
    for step in 0..<10_000 {
      // Adds more than it takes until the middle, then the other way round.
      if step % 3 != (step < 5_000 ? 2 : 0) && step % 3 != (step < 5_000 ? 2 : 1) {
        queue.append(next)
        model.append(next)
        next += 1
      } else {
        #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
      }
      #expect(queue.first == model.first)
      #expect(queue.count == model.count)
    }
  }

  @Test func `changes its oldest element in place`() {
    var queue = FIFO<[Int]>()
    queue.updateFirst { $0.append(1) }
    #expect(queue.isEmpty)
    queue.append([])
    queue.append([7])
    queue.updateFirst { $0.append(1) }
    #expect(queue.popFirst() == [1])
    #expect(queue.popFirst() == [7])
    #expect(queue.popFirst() == nil)
  }

  @Test func `lets go of what it gave`() {
    final class Thing {}
    var queue = FIFO<Thing>()
    weak var thing: Thing?
    do {
      let made = Thing()
      thing = made
      queue.append(made)
    }
    #expect(thing != nil)
    _ = queue.popFirst()
    #expect(thing == nil)
  }
}
