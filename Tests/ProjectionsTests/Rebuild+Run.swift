import Projections
import TestSupport

extension Rebuild {
  /// Begins or resumes a rebuild, and runs it to its end.
  static func run(
    _ projection: any Projection.Type,
    _ options: RebuildOptions,
    _ target: String
  ) throws -> RebuildRecord {
    let rebuild = try Rebuild(target: target, keyring: TestKeys.keyring)
    let begun = try rebuild.begin(projection, options)
    return try rebuild.run(begun.rebuild, of: projection) { (_: RebuildProgress) -> Bool in true }
  }
}
