import Postgres
public import Projections

extension Accounts {
  /// The rebuild of that name as its record has it now; nil where there is none.
  public func rebuild(_ id: RebuildID) async throws(AccountsError) -> RebuildRecord? {
    RebuildLookup.read(
      try await readInBulk(RebuildLookup.statement, RebuildLookup.parameters(id))
    )
  }
}
