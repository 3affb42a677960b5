-- Puts a new password hash in the place of the one that `verified` commits to, ends every other
-- session of the user and gives the acting one a fresh token. Raises JJ002 where the password has
-- been changed meanwhile, or the acting session has ended.
create or replace function change_password(
  changed_for uuid, verified bytea, new_hash text, new_commitment bytea,
  acting_session uuid, new_token bytea
) returns table (expires_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
begin
  perform from current_users u where u.user_id = changed_for and u.status = 1 for update;
  if not found then
    raise exception 'the user is not active' using errcode = 'JJ002';
  end if;
  update credentials
     set password_hash = new_hash, commitment = new_commitment, changed_at = statement_timestamp()
   where user_id = changed_for and commitment = verified;
  if not found then
    raise exception 'the password has been changed' using errcode = 'JJ002';
  end if;
  delete from sessions where user_id = changed_for and session_id <> acting_session;
  return query
    update sessions
       set token_sha256 = new_token, last_used_at = statement_timestamp()
     where session_id = acting_session and user_id = changed_for
     returning expires_at;
  if not found then
    raise exception 'the session has ended' using errcode = 'JJ002';
  end if;
end
$$;
