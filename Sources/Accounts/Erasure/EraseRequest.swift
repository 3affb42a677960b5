import Clocks
public import EventLog
public import Postgres
public import Profiles

/// The call of `erase_user`.
public struct EraseRequest: Sendable {
  let user: UserID
  let expected: Version?
  let verified: Commitment?
  let session: SessionID?
  let actor: Actor
  let source: Source

  /// The erasure of `user` by somebody who needs no password, whatever its version.
  public init(user: UserID, actor: Actor) {
    self.init(
      user: user,
      expected: nil,
      verified: nil,
      session: nil,
      actor: actor,
      source: Source()
    )
  }

  init(
    user: UserID,
    expected: Version?,
    verified: Commitment?,
    session: SessionID?,
    actor: Actor,
    source: Source
  ) {
    self.user = user
    self.expected = expected
    self.verified = verified
    self.session = session
    self.actor = actor
    self.source = source
  }

  /// The statement, to be prepared on connections that erase.
  public static let statement = Statement(
    "erase_user",
    """
    select erased_position, erased_time, is_new from erase_user(
      $1::uuid, $2::integer, $3::bytea, $4::uuid, $5::uuid, $6::smallint, $7::uuid, $8::text,
      $9::text)
    """
  )

  /// The values of the statement.
  public var parameters: Parameters {
    var parameters = Parameters()
    parameters.add(user)
    parameters.add(expected?.rawValue)
    parameters.add(verified?.bytes)
    parameters.add(session)
    parameters.add(EventID(at: .now()))
    parameters.add(actor.kind)
    parameters.add(actor.id)
    parameters.add(source.requestID)
    parameters.add(source.traceID)
    return parameters
  }

  /// What the statement did, and whether the user was there until then; nil where there is no such
  /// user.
  public static func outcome(_ rows: Rows, of user: UserID) -> (erasure: Erasure, isNew: Bool)? {
    guard rows.count == 1 else { return nil }
    let erasure = Erasure(
      user: user,
      position: Position(rows.integer(0, 0)),
      erasedAt: rows.timestamp(0, 1)
    )
    return (erasure, rows.bool(0, 2))
  }
}
