import Postgres

/// The statements of accounts but for those that have a lane of their own.
enum SQL {
  static let all =
    [
      addUserKey, masterKeyInUse, loadUserOfSession, loadUser, loadCredentials, credentialsByEmail,
      claim, addCredentials,
      startSession,
      changePassword, listSessions, findSessions, endSessions, touchSession, findReceipt,
      addReceipt, forgetReceipts, forgetSessions, findErasure, EraseRequest.statement,
    ] + keys + [userByEmail, statistics]

  static let loadUserOfSession = Statement(
    "load_user_of_session",
    """
    select \(CurrentUser.columns)
      from sessions s join current_users u on u.user_id = s.user_id
     where s.session_id = $1::uuid
    """
  )

  static let loadUser = Statement(
    "load_user",
    "select \(CurrentUser.columns) from current_users u where u.user_id = $1::uuid"
  )

  static let loadCredentials = Statement(
    "load_credentials",
    "select password_hash, commitment from credentials where user_id = $1::uuid"
  )

  /// One row where the address belongs to a user; hash and commitment may be null.
  static let credentialsByEmail = Statement(
    "credentials_by_email",
    """
    select c.password_hash, c.commitment, u.status, \(CurrentUser.columns)
      from email_claims e
      join current_users u on u.user_id = e.user_id
      left join credentials c on c.user_id = e.user_id
     where e.email = $1::text
    """
  )

  static let claim = Statement(
    "claim_email",
    "insert into email_claims (email, user_id) values ($1::text, $2::uuid)"
  )

  static let addCredentials = Statement(
    "add_credentials",
    """
    insert into credentials (user_id, password_hash, commitment, changed_at)
      values ($1::uuid, $2::text, $3::bytea, statement_timestamp())
    """
  )

  static let startSession = Statement(
    "start_session",
    """
    select created_at, expires_at from start_session(
      $1::uuid, $2::bytea, $3::uuid, $4::bytea, $5::timestamptz, $6::interval, $7::text, $8::text)
    """
  )

  static let changePassword = Statement(
    "change_password",
    """
    select expires_at from change_password(
      $1::uuid, $2::bytea, $3::text, $4::bytea, $5::uuid, $6::bytea)
    """
  )

  /// A page of the sessions of a user that have not ended, newest first.
  static let listSessions = Statement(
    "list_sessions",
    """
    select session_id, created_at, last_used_at,
           least(expires_at, last_used_at + $2::interval), address, agent
      from sessions
     where user_id = $1::uuid and expires_at > statement_timestamp()
       and last_used_at > statement_timestamp() - $2::interval
       and ($3::uuid is null or session_id < $3::uuid)
     order by session_id desc limit $4::bigint
    """
  )

  /// The sessions of a user: the one that is named, or all but the one that is kept.
  static let findSessions = Statement(
    "find_sessions",
    """
    select session_id from sessions
     where user_id = $1::uuid and (session_id = $2::uuid or session_id <> $3::uuid)
    """
  )

  static let endSessions = Statement(
    "end_sessions",
    "select from end_sessions($1::uuid, $2::uuid, $3::uuid[])"
  )

  static let touchSession = Statement(
    "touch_session",
    """
    update sessions set last_used_at = statement_timestamp()
     where session_id = $1::uuid and last_used_at < statement_timestamp() - $2::interval
    """
  )

  /// However old: a receipt is replayed until it is forgotten, as its key is taken until then.
  static let findReceipt = Statement(
    "find_receipt",
    """
    select request_sha256, answer, created_at from command_receipts
     where receipt_key = $1::bytea
    """
  )

  static let addReceipt = Statement(
    "add_receipt",
    """
    insert into command_receipts (receipt_key, request_sha256, answer, created_at, user_id)
      select $1::bytea, $2::bytea, $3::bytea, statement_timestamp(), $4::uuid
       where $4::uuid is null
          or exists (select from current_users where user_id = $4::uuid for key share)
    """
  )

  static let forgetReceipts = Statement(
    "forget_receipts",
    """
    with forgotten as (
      delete from command_receipts where receipt_key in (
        select receipt_key from command_receipts
         where created_at < statement_timestamp() - $1::interval
         order by created_at limit $2::bigint)
      returning 1)
    select count(*) from forgotten
    """
  )

  /// Reads the whole table, since no index knows when a session ends; it is run seldom.
  static let forgetSessions = Statement(
    "forget_sessions",
    """
    with forgotten as (
      delete from sessions where session_id in (
        select session_id from sessions
         where expires_at < statement_timestamp()
            or last_used_at < statement_timestamp() - $1::interval
         limit $2::bigint)
      returning 1)
    select count(*) from forgotten
    """
  )
}
