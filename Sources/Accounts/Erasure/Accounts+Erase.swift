public import EventLog
import Clocks
import JSON
import Postgres
public import Profiles

extension Accounts {
  /// Erases the user of `holder`, who knows `password`; `receipt` is about nobody, and stays.
  public func erase(
    _ holder: Holder,
    password: Password,
    if precondition: Precondition?,
    source: Source,
    receipt: Receipt?
  ) async throws(AccountsError) -> Erasure {
    // What the password is checked against may change meanwhile; then it is checked again.
    for _ in 0..<Self.attemptLimit {
      let current = try await load(by: holder.session)
      if let precondition, !precondition(current.version) { throw .preconditionFailed(current) }
      guard let stored = try await credentials(of: holder.userID),
        try await hashing.verify(password, against: stored.hash)
      else {
        // Whoever has been erased meanwhile has no password that could be wrong.
        _ = try await load(by: holder.session)
        throw .password(
          .wrongPassword,
          FieldError(.wrongPassword, at: "/password", "The password is wrong.")
        )
      }
      let request = EraseRequest(
        user: holder.userID,
        expected: precondition == nil ? nil : current.version,
        verified: stored.commitment,
        session: holder.session,
        actor: .user(holder.userID),
        source: source
      )
      do throws(AppendError) {
        // Somebody else was faster: the session has ended with the user.
        guard let erasure = try await erase(request, receipt) else { throw .stale }
        return erasure
      } catch .versionConflict {
        continue
      } catch .stale {
        // Throws where the acting session is what has ended.
        _ = try await self.holder(ofDigest: holder.tokenDigest)
      } catch {
        throw AccountsError(error)
      }
    }
    throw .overloaded
  }

  /// Erases any user for an `actor` who may; one who has been erased before stays so.
  public func erase(
    _ id: UserID,
    by actor: Actor,
    if precondition: Precondition?,
    source: Source,
    receipt: Receipt?
  ) async throws(AccountsError) -> Erasure {
    for _ in 0..<Self.attemptLimit {
      var expected: Version?
      if let precondition {
        let current = try await user(id)
        guard precondition(current.version) else { throw .preconditionFailed(current) }
        expected = current.version
      }
      let request = EraseRequest(
        user: id,
        expected: expected,
        verified: nil,
        session: nil,
        actor: actor,
        source: source
      )
      do throws(AppendError) {
        guard let erasure = try await erase(request, receipt) else { throw AppendError.stale }
        return erasure
      } catch .versionConflict {
        continue
      } catch .stale {
        throw .notFound
      } catch {
        throw AccountsError(error)
      }
    }
    throw .overloaded
  }

  /// The erasure of a user who was one; nil where nobody has been erased under this id.
  public func erasure(of id: UserID) async throws(AccountsError) -> Erasure? {
    var parameters = Parameters()
    parameters.add(id)
    let rows = try await read(SQL.findErasure, parameters)
    guard rows.count == 1 else { return nil }
    return Erasure(
      user: id,
      position: Position(rows.integer(0, 0)),
      erasedAt: rows.timestamp(0, 1)
    )
  }

  /// Why there is no user `id`.
  func absence(of id: UserID) async throws(AccountsError) -> AccountsError {
    try await erasure(of: id).map { .erased($0) } ?? .notFound
  }

  /// Nil where there is no such user.
  private func erase(
    _ request: EraseRequest,
    _ receipt: Receipt?
  ) async throws(AppendError) -> Erasure? {
    let kept = receipt.map { [addReceipt($0, about: nil)] } ?? []
    let rows: [Rows]
    do {
      rows = try await connections.other.transaction(
        kept + [(EraseRequest.statement, request.parameters)]
      )
    } catch {
      throw AppendError(error)
    }
    return rows.last.flatMap { EraseRequest.outcome($0, of: request.user)?.erasure }
  }
}

extension SQL {
  static let findErasure = Statement(
    "find_erasure",
    "select position, erased_at from erasures where user_id = $1::uuid"
  )
}
