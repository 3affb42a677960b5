import Clocks
import EventLog
import Postgres
import Profiles
import Settings

/// Finds the user whom a command's operand names.
enum UserLookup {
  /// The user with this id or e-mail address.
  ///
  /// One who has been erased is still found by their id where `includesErased`, for what is left of
  /// them; elsewhere it is said that they are.
  static func find(
    _ name: String,
    includesErased: Bool = false,
    _ connection: borrowing BlockingConnection
  ) throws -> UserID {
    var parameters = Parameters()
    if let id = UserID(name) {
      parameters.add(id)
      let rows = try connection.query(
        "select 1 from current_users where user_id = $1::uuid",
        parameters
      )
      if rows.count == 1 { return id }
      let erasure = try connection.query(
        "select erased_at from erasures where user_id = $1::uuid",
        parameters
      )
      if erasure.count == 1 {
        guard !includesErased else { return id }
        throw CommandError("user \(id) was erased at \(erasure.timestamp(0, 0))")
      }
    } else if let email = EmailAddress(name) {
      parameters.add(email.claimKey)
      let rows = try connection.query(
        "select user_id from email_claims where email = $1::text",
        parameters
      )
      if rows.count == 1 { return rows.identifier(0, 0) }
    } else {
      throw UsageError("'\(name)' is neither an id nor an e-mail address")
    }
    throw CommandError("there is no user '\(name)'")
  }
}
