/// A first-in, first-out queue on a growing ring; both ends cost constant time.
public struct FIFO<Element> {
  @usableFromInline var slots: [Element?] = Array(repeating: nil, count: 16)
  @usableFromInline var head = 0

  /// How many elements wait.
  public private(set) var count = 0

  /// A queue with nothing in it.
  public init() {}

  /// Whether nothing waits.
  public var isEmpty: Bool { count == 0 }

  /// The element that `popFirst` would return.
  public var first: Element? { count == 0 ? nil : slots[head] }

  /// Puts `element` behind all others.
  public mutating func append(_ element: Element) {
    if count == slots.count { grow() }
    slots[(head + count) & (slots.count - 1)] = element
    count += 1
  }

  /// Takes the element that has waited longest.
  public mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = slots[head].take()
    head = (head + 1) & (slots.count - 1)
    count -= 1
    return element
  }

  /// Changes the oldest element in place.
  public mutating func updateFirst(_ change: (inout Element) -> Void) {
    guard count > 0, var element = slots[head].take() else { return }
    change(&element)
    slots[head] = element
  }

  /// The count of slots stays a power of two, so that a mask wraps an index.
  private mutating func grow() {
    var larger: [Element?] = Array(repeating: nil, count: slots.count * 2)
    for index in 0..<count { larger[index] = slots[(head + index) & (slots.count - 1)] }
    slots = larger
    head = 0
  }
}
