import Files
import Verification

extension Verification {
  /// Verifies, and shows how far it is.
  func runShowingProgress() throws -> VerificationReport {
    var progress: (part: Part, line: Progress)?
    let report = try run { part, done, total in
      if progress?.part != part {
        progress?.line.end()
        progress = (part, Progress("verifying \(part.rawValue)", unit: "events"))
      }
      progress?.line.show(done, total)
    }
    progress?.line.end()
    return report
  }
}

extension OutsideCheckpoint {
  /// The checkpoint in the file at `path`.
  init(file path: String) throws {
    guard let checkpoint = OutsideCheckpoint(try SmallFile.read(path, for: .everybody)) else {
      throw CommandError("\(path) is no checkpoint")
    }
    self = checkpoint
  }
}
