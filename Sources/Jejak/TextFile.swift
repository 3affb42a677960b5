import Glibc

/// Small files that the settings name.
enum TextFile {
  /// Bytes of a file at most.
  static let limit = 1 << 20

  /// The bytes of the file at `path`; nil where it can't be read or is too large.
  static func read(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0, count <= limit else { return nil }
    return Array(bytes.prefix(count))
  }
}
