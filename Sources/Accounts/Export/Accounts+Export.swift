import Clocks
import EventLog
import Profiles

extension Accounts {
  /// Writes all that is held about a user as one document, a `UserExport`, piece by piece: `write`
  /// takes each, and `check` throws where the reader may not go on.
  ///
  /// `user` is how they are when it begins; it throws `erased` where they are erased meanwhile, and
  /// what was written must not be taken for the whole then.
  public func export(
    _ user: CurrentUser,
    check: () async throws -> Void,
    write: ([UInt8]) async throws -> Void
  ) async throws {
    let head = try await self.head()
    var export = UserExport(of: user, upTo: head, at: .now())
    for part in UserExport.Part.allCases {
      export.begin(part)
      if let stream = part.stream {
        var cursor: Version?
        while true {
          let page = try await history(
            of: user.id,
            stream: stream,
            order: .oldestFirst,
            filter: HistoryFilter(),
            after: cursor,
            upTo: head,
            limit: UserExport.pageLength
          )
          for found in page {
            export.add(found.event)
            if let piece = export.take() { try await write(piece) }
          }
          try await check()
          // Tombstones of somebody who has been erased meanwhile are no export.
          _ = try await self.user(user.id)
          guard page.count == UserExport.pageLength, let last = page.last else { break }
          cursor = last.event.version
        }
      } else {
        var cursor: SessionID?
        while true {
          let page = try await sessions(
            of: user.id,
            after: cursor,
            limit: UserExport.pageLength
          )
          for session in page { export.add(session) }
          if let piece = export.take() { try await write(piece) }
          guard page.count == UserExport.pageLength, let last = page.last else { break }
          cursor = last.id
        }
      }
    }
    export.end()
    if let piece = export.take(all: true) { try await write(piece) }
  }
}
