-- Opens a session for a user whose password has just been verified against the hash that
-- `verified` commits to. Raises JJ002 where the password has been changed meanwhile, or the user
-- is not active: a session never outlives the password that opened it. `opened_at` is the
-- service's time, since the answer that tells it is made before the commit.
create or replace function start_session(
  opened_for uuid, verified bytea, session uuid, token bytea, opened_at timestamptz,
  lifetime interval, client_address text, client_agent text
) returns table (created_at timestamptz, expires_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
begin
  perform from current_users u where u.user_id = opened_for and u.status = 1 for update;
  if not found then
    raise exception 'the user is not active' using errcode = 'JJ002';
  end if;
  perform from credentials c where c.user_id = opened_for and c.commitment = verified;
  if not found then
    raise exception 'the password has been changed' using errcode = 'JJ002';
  end if;
  return query
    insert into sessions (session_id, user_id, token_sha256, created_at, last_used_at,
                          expires_at, address, agent)
      values (session, opened_for, token, opened_at, opened_at, opened_at + lifetime,
              client_address, client_agent)
      returning created_at, expires_at;
end
$$;
