import Synchronization

/// The places for open feeds on one loop.
final class FeedPlaces: Sendable {
  /// Feeds at a time.
  static let limit = 256

  private let taken = Atomic(0)

  /// A place that is free again when nobody holds it any more.
  final class Place: Sendable {
    private let places: FeedPlaces

    fileprivate init(_ places: FeedPlaces) { self.places = places }

    deinit { places.taken.subtract(1, ordering: .relaxed) }
  }

  /// A free place; nil where there is none.
  func take() -> Place? {
    let (_, count) = taken.add(1, ordering: .relaxed)
    let place = Place(self)
    return count <= Self.limit ? place : nil
  }
}
