/// A tile of C2SP tlog-tiles: up to 256 hashes that stand side by side.
///
/// Those of level 0 are leaves; each one of a level above is the hash over a full tile below.
public struct TileID: Hashable, Sendable {
  /// Hashes of a full tile.
  public static let fullWidth = 256
  /// The highest level that a path may name.
  public static let highestLevel = 63
  /// The height of the tree that one tile spans.
  static let height = 8

  /// 0 for the leaves.
  public let level: Int
  /// The place among the tiles of the level, from 0.
  public let index: Int64

  /// The tile at that place.
  public init(level: Int, index: Int64) {
    self.level = level
    self.index = index
  }

  /// How many hashes the tile has in a tree of `size` leaves; 0 where it has no such tile.
  public func width(inTreeOf size: Int64) -> Int {
    let (start, overflow) = index.multipliedReportingOverflow(by: Int64(Self.fullWidth))
    guard !overflow, level >= 0, index >= 0, size >= 0 else { return 0 }
    let count = TileID.hashCount(level: level, inTreeOf: size)
    return Int(min(max(0, count - start), Int64(Self.fullWidth)))
  }

  /// How many hashes all tiles of `level` have together in a tree of `size` leaves.
  static func hashCount(level: Int, inTreeOf size: Int64) -> Int64 {
    // A shift by more than the width gives 0, as it should.
    size >> (Self.height * level)
  }

  /// The rightmost tiles that are not full in a tree of `size` leaves, with their widths, from
  /// level 0 up.
  public static func edge(ofTreeOf size: Int64) -> [(tile: TileID, width: Int)] {
    var tiles: [(tile: TileID, width: Int)] = []
    var level = 0
    while hashCount(level: level, inTreeOf: size) > 0 {
      let count = hashCount(level: level, inTreeOf: size)
      let width = Int(count % Int64(fullWidth))
      if width > 0 {
        tiles.append((TileID(level: level, index: count / Int64(fullWidth)), width))
      }
      level += 1
    }
    return tiles
  }
}

/// A tile as a path of HTTP names it: `<L>/<N>` or `<L>/<N>.p/<W>`.
public struct TilePath: Equatable, Sendable, CustomStringConvertible {
  /// Which tile.
  public let tile: TileID
  /// How many of its hashes are meant, 1 to 256.
  public let width: Int

  /// The path of the first `width` hashes of `tile`.
  public init(_ tile: TileID, width: Int) {
    self.tile = tile
    self.width = width
  }

  /// Reads what stands behind `tile/`; nil where it is not the one path of a tile.
  public init?(_ text: some StringProtocol) {
    var parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Substring($0) }
    guard parts.count >= 2, let level = Int(decimal: parts[0]), level <= TileID.highestLevel else {
      return nil
    }
    parts.removeFirst()
    var width = TileID.fullWidth
    if parts.count >= 2, parts[parts.count - 2].hasSuffix(".p") {
      guard let partial = Int(decimal: parts.removeLast()),
        (1..<TileID.fullWidth).contains(partial)
      else { return nil }
      width = partial
      parts.append(parts.removeLast().dropLast(2))
    }
    var index: Int64 = 0
    for (place, part) in parts.enumerated() {
      let isLast = place == parts.count - 1
      let digits = isLast ? part : part.dropFirst()
      guard isLast || part.hasPrefix("x"), digits.utf8.count == 3,
        let number = Int(digits: digits)
      else { return nil }
      // More groups than an index needs would name a tile twice.
      if place == 0, !isLast, number == 0 { return nil }
      let (product, overflow) = index.multipliedReportingOverflow(by: 1000)
      let (sum, carry) = product.addingReportingOverflow(Int64(number))
      guard !overflow, !carry else { return nil }
      index = sum
    }
    self.init(TileID(level: level, index: index), width: width)
  }

  /// The path, without a leading slash.
  public var description: String {
    // No path has such an index; it is named all the same, since a database may.
    guard tile.index >= 0 else { return "\(tile.level)/\(tile.index)" }
    var groups = [padded(tile.index % 1000)]
    var rest = tile.index / 1000
    while rest > 0 {
      groups.insert("x" + padded(rest % 1000), at: 0)
      rest /= 1000
    }
    let suffix = width == TileID.fullWidth ? "" : ".p/\(width)"
    return "\(tile.level)/" + groups.joined(separator: "/") + suffix
  }

  private func padded(_ number: Int64) -> String {
    let digits = number.description
    return String(repeating: "0", count: 3 - digits.utf8.count) + digits
  }
}

extension FixedWidthInteger {
  /// A number in ASCII digits.
  init?(digits text: some StringProtocol) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Self(String(text))
    else { return nil }
    self = number
  }

  /// A number in ASCII digits, without zeroes that lead.
  init?(decimal text: some StringProtocol) {
    guard let number = Self(digits: text), text.utf8.first != 0x30 || text.utf8.count == 1 else {
      return nil
    }
    self = number
  }
}
