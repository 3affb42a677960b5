import Accounts
import Clocks
import EventLog
import HTTP
import JSON
import Keys
import Profiles

/// A refusal as it is answered: `application/problem+json` (RFC 9457) with a stable `code`.
struct Problem: Error {
  var status: UInt16
  var code: String
  var title: String
  var detail: String?
  /// What is wrong with which field.
  var errors: [FieldError] = []
  /// Header lines that belong to the refusal.
  var headers: [(StaticString, String)] = []
  /// Members beyond those of every problem.
  var members: JSONObject = [:]
  /// For the service's log, never for the client.
  var logged: String?

  init(_ status: UInt16, _ code: String, _ title: String, detail: String? = nil) {
    self.status = status
    self.code = code
    self.title = title
    self.detail = detail
  }

  /// Seconds after which a client that was told to wait may try again.
  static let retryAfter = 1

  var response: Response {
    var body: JSONObject = [
      "type": .string("urn:jejak:problem:\(code)"), "title": .string(title),
      "status": .integer(Int64(status)), "code": .string(code),
    ]
    if let detail { body["detail"] = .string(detail) }
    for member in members { body[member.key] = member.value }
    if !errors.isEmpty {
      body["errors"] = .array(
        errors.map { error in
          [
            "pointer": .string(error.pointer.description), "code": .string(error.code.rawValue),
            "detail": .string(error.detail),
          ]
        }
      )
    }
    var response = Response(
      status: status,
      contentType: "application/problem+json",
      body: JSON.object(body).bytes
    )
    response.add("Cache-Control", "no-store")
    for (name, value) in headers { response.add(name, value) }
    return response
  }
}

extension Problem {
  static func malformedRequest(_ detail: String) -> Problem {
    Problem(400, "malformed-request", "The request is malformed.", detail: detail)
  }

  static func malformedJSON(_ detail: String) -> Problem {
    Problem(400, "malformed-json", "The body is not acceptable JSON.", detail: detail)
  }

  /// `presented`: a token was sent, but nobody holds it.
  static func authenticationRequired(presented: Bool) -> Problem {
    var problem = Problem(
      401,
      "authentication-required",
      "A valid session is needed.",
      detail: presented ? "The token is unknown, or its session has ended." : nil
    )
    let error = presented ? ", error=\"invalid_token\"" : ""
    problem.headers = [("WWW-Authenticate", "Bearer realm=\"jejak\"\(error)")]
    return problem
  }

  static func invalid(_ errors: [FieldError]) -> Problem {
    var problem = Problem(422, "validation-failed", "Some fields are not valid.")
    problem.errors = errors
    return problem
  }

  static let notFound = Problem(404, "not-found", "There is nothing here.")

  /// Whoever the id named has been erased; their history still has its tombstones.
  static func erased(_ erasure: Erasure) -> Problem {
    var problem = Problem(410, "user-erased", "The user has been erased.")
    problem.members["erasedAt"] = .string(erasure.erasedAt.description)
    return problem
  }

  static let idempotencyKeyReused = Problem(
    422,
    "idempotency-key-reused",
    "This Idempotency-Key belongs to another request."
  )

  static func unsupportedMediaType(accepted: String) -> Problem {
    Problem(
      415,
      "unsupported-media-type",
      "The body's media type is not supported.",
      detail: "Send \(accepted)."
    )
  }

  static var unsupportedContentCoding: Problem {
    var problem = Problem(
      415,
      "unsupported-media-type",
      "The body's content coding is not supported.",
      detail: "Send it as it is."
    )
    problem.headers = [("Accept-Encoding", "identity")]
    return problem
  }

  static func unavailable(_ detail: String) -> Problem {
    tryLater("unavailable", "The service can't answer at the moment.", detail: detail)
  }

  static func overloaded() -> Problem {
    tryLater(
      "overloaded",
      "Too much is asked of the service at the moment.",
      detail: "Nothing was changed."
    )
  }

  private static func tryLater(_ code: String, _ title: String, detail: String) -> Problem {
    var problem = Problem(503, code, title, detail: detail)
    problem.headers = [("Retry-After", "\(retryAfter)")]
    return problem
  }

  /// The log holds an event that this release can't make sense of.
  static func unreadableEvent(_ position: Position, _ reason: String) -> Problem {
    var problem = tryLater(
      "unreadable-event",
      "An event of this user can't be read.",
      detail:
        "A newer release wrote the event at position \(position), or the log was damaged, or a "
        + "key is missing."
    )
    problem.members["position"] = .integer(position.rawValue)
    problem.logged = "the event at position \(position): \(reason)"
    return problem
  }

  /// What seals the user's events is not to be had; the operator has to put it back.
  static func keyUnavailable(_ user: UserID, _ reason: String) -> Problem {
    var problem = tryLater(
      "key-unavailable",
      "The key of this user can't be opened.",
      detail: "Nothing was changed."
    )
    problem.logged = "the key of user \(user): \(reason)"
    return problem
  }

  /// The master key in use is not to be had by this process; the process itself logs it.
  static func masterKeyUnknown(_ number: Int32, _ error: KeyringError) -> Problem {
    var problem = tryLater(
      "key-unavailable",
      "The master key in use is not known here.",
      detail: "Nobody can sign in, register or change anything by this process."
    )
    problem.members["masterKey"] = .integer(Int64(number))
    problem.members["reason"] = .string(error.description)
    return problem
  }

  static func failed(_ logged: String) -> Problem {
    var problem = Problem(500, "internal", "The service made a mistake.")
    problem.logged = logged
    return problem
  }

  /// How a request is answered that no route sees.
  init(_ refusal: Server.Refusal) {
    switch refusal {
    case .targetTooLong:
      self = Problem(
        414,
        "uri-too-long",
        "The address is too long.",
        detail: "Path and query have at most \(Server.Limits().target) bytes."
      )
    case .bodyTooLarge:
      self = Problem(
        413,
        "body-too-large",
        "The body is too large.",
        detail: "A body has at most \(Server.Limits().body) bytes."
      )
    case .unknownTransferCoding:
      self = .malformedRequest("The only transfer coding is chunked.")
    case .malformedTarget:
      self = .malformedRequest("The request's target holds a NUL.")
    case .malformedHeader:
      self = .malformedRequest("A header line is malformed, or Authorization stands there twice.")
    case .ambiguousLength:
      self = .malformedRequest("One Content-Length or one Transfer-Encoding tells a body's end.")
    case .noSingleHost:
      self = .malformedRequest("A request has one Host header.")
    }
  }

  /// How a refusal of the accounts is answered; a failed precondition needs more than this.
  init(_ error: AccountsError) {
    switch error {
    case .unauthenticated: self = .authenticationRequired(presented: true)
    case .invalidCredentials:
      self = Problem(401, "invalid-credentials", "E-mail address or password is wrong.")
      headers = [("WWW-Authenticate", "Bearer realm=\"jejak\"")]
    case .invalid(let errors): self = .invalid(errors)
    case .password(let code, let error):
      self = Problem(422, code.rawValue, error.detail)
      errors = [error]
    case .emailTaken:
      self = Problem(409, "email-taken", "There is an account with this e-mail address.")
    case .preconditionFailed(let user):
      self = Problem(
        412,
        "precondition-failed",
        "The profile has changed since.",
        detail: "It is at version \(user.version) now."
      )
      headers = [("ETag", EntityTag.text(user.version))]
    case .notFound: self = .notFound
    case .erased(let erasure): self = .erased(erasure)
    case .noSuchVersion: self = .noSuchVersion
    case .notRevertible(let type): self = .notRevertible(type)
    case .changedSince(let fields): self = .changedSince(fields)
    case .unreadableEvent(let position, let reason):
      self = .unreadableEvent(position, reason)
    case .keyUnavailable(let user, let reason): self = .keyUnavailable(user, reason)
    case .receiptExists:
      self = Problem(
        409,
        "request-in-progress",
        "A request with this Idempotency-Key is being carried out."
      )
    case .overloaded: self = .overloaded()
    case .unavailable: self = .unavailable("Nothing was changed.")
    case .outcomeUnknown:
      self = .tryLater(
        "outcome-unknown",
        "The service lost its database before it was answered.",
        detail: "The change may have been made. A retry with the same Idempotency-Key is safe."
      )
    case .exhausted(let reason):
      self = .unavailable("Nothing was changed.")
      logged = "a position or version in the database leaves no number for an event: \(reason)"
    case .failed(let message): self = .failed(message)
    }
  }
}
