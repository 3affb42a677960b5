import Synchronization

/// The places for long answers of one kind on one loop.
final class Places: Sendable {
  private let limit: Int
  private let taken = Atomic(0)

  /// Places for `limit` answers at a time.
  init(_ limit: Int) { self.limit = limit }

  /// A place that is free again when nobody holds it any more.
  final class Place: Sendable {
    private let places: Places

    fileprivate init(_ places: Places) { self.places = places }

    deinit { places.taken.subtract(1, ordering: .relaxed) }
  }

  /// A free place; nil where there is none.
  func take() -> Place? {
    let (_, count) = taken.add(1, ordering: .relaxed)
    let place = Place(self)
    return count <= limit ? place : nil
  }
}
