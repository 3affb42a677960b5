import Glibc

/// Why a file is not used; the words name nothing of what is in it.
public enum SmallFileError: Error, Equatable, CustomStringConvertible {
  /// There is none at this path.
  case missing(String)
  /// Others can read or write it: take that right from them, and ask who has read it.
  case exposed(String)
  /// It can't be read or written, or has something else in it.
  case unusable(String, reason: String)

  /// What `errno` says.
  static func system(_ path: String) -> SmallFileError {
    .unusable(path, reason: String(cString: strerror(errno)))
  }

  /// The file.
  public var path: String {
    switch self {
    case .missing(let path), .exposed(let path), .unusable(let path, _): path
    }
  }

  /// What is wrong with it, without its path.
  public var reason: String {
    switch self {
    case .missing: "there is no such file"
    case .exposed: "others can read or write it"
    case .unusable(_, let reason): reason
    }
  }

  /// Whether there is no such file.
  public var isMissing: Bool { if case .missing = self { true } else { false } }

  /// For the operator.
  public var description: String {
    switch self {
    case .missing(let path): "there is no file \(path)"
    case .exposed(let path): "others can read or write \(path); run chmod 600 \(path)"
    case .unusable(let path, let reason): "can't use \(path): \(reason)"
    }
  }
}
