public import Clocks
public import Keys
import Postgres
public import Profiles

/// An event on its way into the log, with what is changed in the same transaction.
///
/// A class, since batches pass it along: a struct of so many parts would be copied part by part.
public final class NewEvent: Sendable {
  /// Whose event it is.
  public let user: UserID
  /// The version of its stream that it was decided on, zero for the first.
  public let expected: Version
  /// The key of the user, which seals what happened.
  public let key: DataKey
  /// What happened.
  public let event: Event
  /// Names this event, chosen by the service.
  public let id: EventID
  /// Who caused it.
  public let actor: Actor
  /// From where.
  public let source: Source
  /// The user's document after the event; nil where it stays.
  public let document: [UInt8]?
  /// The user's status after the event; nil where it stays.
  public let status: Int16?
  /// What answers the request if it comes again.
  public let receipt: Receipt?

  /// An event of `user`, decided on `expected`.
  public init(
    user: UserID,
    expected: Version,
    key: DataKey,
    event: Event,
    actor: Actor,
    source: Source,
    document: [UInt8]? = nil,
    status: Int16? = nil,
    receipt: Receipt? = nil
  ) {
    self.user = user
    self.expected = expected
    self.key = key
    self.event = event
    self.id = EventID(at: .now())
    self.actor = actor
    self.source = source
    self.document = document
    self.status = status
    self.receipt = receipt
  }
}

/// The stored answer to a request that carried an Idempotency-Key.
public struct Receipt: Sendable {
  /// SHA-256 over who asked and their key.
  public var key: [UInt8]
  /// SHA-256 over the request: another request under the same key is told from the same one.
  public var request: [UInt8]
  /// The answer, sealed.
  public var answer: [UInt8]

  /// A receipt of these parts.
  public init(key: [UInt8], request: [UInt8], answer: [UInt8]) {
    self.key = key
    self.request = request
    self.answer = answer
  }
}

/// Where an event came from.
public struct Source: Sendable {
  /// The client's network address.
  public var address: String?
  /// The client's User-Agent.
  public var agent: String?
  /// The session it acted in.
  public var session: SessionID?
  /// The request's id.
  public var requestID: String?
  /// The trace id of `traceparent`.
  public var traceID: String?

  /// A source of these parts.
  public init(
    address: String? = nil,
    agent: String? = nil,
    session: SessionID? = nil,
    requestID: String? = nil,
    traceID: String? = nil
  ) {
    self.address = address
    self.agent = agent
    self.session = session
    self.requestID = requestID
    self.traceID = traceID
  }
}

/// Where an event landed.
public struct Appended: Sendable {
  /// Its place in the log.
  public let position: Position
  /// The version of its stream that it made.
  public let version: Version
  /// When it was committed, as the log tells time.
  public let recordedAt: Timestamp
}
