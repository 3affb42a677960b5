import Accounts
import Clocks
import HTTP
import JSON
import Profiles
import Projections

extension Gateway {
  /// Answers `GET /v1/users/{me or id}` with a query: `version` or `at`, a user as they were.
  func fetchPast(_ request: Request, id: UserID?) async throws(Problem) -> Response {
    let moment = try Self.moment(Query(request, known: ["version", "at"]))
    let user = try await asker(request, about: id, scope: .usersRead).user
    guard let moment else { return try answer(request, user) }
    if case .version(let version) = moment, version > user.version {
      throw .noSuchVersion("version", version, present: user.version)
    }
    let past: CurrentUser?
    do {
      past = try await accounts.user(user.id, at: moment)
    } catch {
      throw Problem(error)
    }
    guard let past else {
      if case .instant = moment { throw .notRegisteredYet(user.createdAt) }
      throw .noSuchVersion
    }
    var response = try answer(request, past)
    response.add("Content-Location", "/v1/users/\(past.id)?version=\(past.version)")
    return response
  }

  /// Answers `GET /v1/users/{me or id}/diff`: what differs between two versions.
  func difference(_ request: Request, id: UserID?) async throws(Problem) -> Response {
    let query = try Query(request, known: ["from", "to"])
    guard let from = try query.version("from") else {
      throw .malformedRequest("The query parameter 'from', a version, is needed.")
    }
    let to = try query.version("to")
    let user = try await asker(request, about: id, scope: .usersRead).user
    let other = to ?? user.version
    for (name, version) in [("from", from), ("to", other)] where version > user.version {
      throw .noSuchVersion(name, version, present: user.version)
    }
    let found: [Difference]?
    do {
      found = try await accounts.differences(of: user.id, from: from, to: other)
    } catch {
      throw Problem(error)
    }
    guard let found else { throw .noSuchVersion }
    let body: JSON = [
      "from": .integer(Int64(from.rawValue)), "to": .integer(Int64(other.rawValue)),
      "changes": .array(
        found.map { ["field": .string($0.field), "old": $0.old, "new": $0.new] }
      ),
    ]
    var response = Response(status: 200, contentType: "application/json", body: body.bytes)
    response.add("Cache-Control", "private, no-cache")
    return response
  }

  private static func moment(_ query: Query) throws(Problem) -> PastUser.Moment? {
    let version = try query.version("version")
    guard let text = query["at"] else { return version.map { .version($0) } }
    guard version == nil else {
      throw .malformedRequest("Give one of the query parameters 'version' and 'at', not both.")
    }
    guard let instant = Timestamp(startOfDay: text) ?? Timestamp(text) else {
      throw .malformedRequest(
        "The query parameter 'at' is an instant, such as 2026-11-30T10:00:00Z, or a day, YYYY-MM-DD."
      )
    }
    return .instant(instant)
  }
}

extension Query {
  /// `name` as a version of a profile.
  func version(_ name: String) throws(Problem) -> Version? {
    guard let text = self[name] else { return nil }
    guard let version = Version(digits: text) else {
      throw .malformedRequest("The query parameter '\(name)' is a version, a number from 1.")
    }
    return version
  }
}

extension Version {
  /// The version, from 1, that is written in decimal digits, and nothing else: it has one name.
  init?(digits: some StringProtocol) {
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits.utf8.first != 0x30,
      let number = Int32(digits)
    else { return nil }
    self.init(number)
  }
}

extension Problem {
  static let noSuchVersion = Problem(
    404,
    "no-such-version",
    "There is no such version.",
    detail:
      "Versions of each stream go from 1 without a gap; the present one of profiles is the ETag."
  )

  /// The query parameter `name` asks for a version beyond the present one.
  static func noSuchVersion(_ name: String, _ version: Version, present: Version) -> Problem {
    var problem = noSuchVersion
    problem.detail =
      "The query parameter '\(name)' is \(version), and the profile is at version \(present)."
    return problem
  }

  static func notRegisteredYet(_ registration: Timestamp?) -> Problem {
    Problem(
      404,
      "not-registered-yet",
      "The user had not registered then.",
      detail: registration.map { "The registration was at \($0)." }
    )
  }
}
