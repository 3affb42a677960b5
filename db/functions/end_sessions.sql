-- Ends the sessions `ended` of a user, all or none. Raises JJ002 where one of them has ended
-- already, or the acting session has: then somebody else was faster, and it must be looked again.
create or replace function end_sessions(
  ended_for uuid, acting_session uuid, ended uuid[]
) returns void
language plpgsql as $$
declare
  deleted bigint;
begin
  perform from current_users u where u.user_id = ended_for for update;
  perform from sessions s where s.session_id = acting_session and s.user_id = ended_for;
  if not found then
    raise exception 'the acting session has ended' using errcode = 'JJ002';
  end if;
  delete from sessions s where s.user_id = ended_for and s.session_id = any (ended);
  get diagnostics deleted = row_count;
  if deleted <> cardinality(ended) then
    raise exception 'a session has ended already' using errcode = 'JJ002';
  end if;
end
$$;
