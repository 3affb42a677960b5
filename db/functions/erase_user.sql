-- Erases a user, in one transaction: their key, credentials, sessions, claims, receipts, rows of read
-- models and the payloads of their events go, and UserErased is appended. What stays are the headers
-- of the events, with the digests of what was stored.
--
--   expected        the version of the profile that it was decided on; null: whatever stands
--   verified        the commitment of the password that was verified; null where none was needed
--   acting_session  the session that asked; null where it was no session
--   the rest        the header of the event
--
-- Answers where the erasure is in the log, and whether it was made by this call; no row where there
-- is no such user. Raises JJ001 where the version is not the expected one, and JJ002 where the
-- password has been changed meanwhile or the session has ended.
--
-- It runs as the owner, since the service's role may not change an event, and opens no payload. The
-- order of locks is everybody's: the user, the projection's row, claims, log_head last. Whoever
-- waits for the user's row finds it gone.
create or replace function erase_user(
  erased uuid, expected integer, verified bytea, acting_session uuid, new_event uuid,
  kind smallint, actor uuid, request text, trace text
) returns table (erased_position bigint, erased_time timestamptz, is_new boolean)
language plpgsql security definer as $$
#variable_conflict use_column
declare
  present integer;
  projection text;
  table_kind text;
  relation text;
  head bigint;
  appended_at timestamptz;
begin
  -- Before everything else, so that nobody waits for it behind the locks below: see forget_erased.
  lock table erasures in row exclusive mode;
  select u.version into present from current_users u where u.user_id = erased for update;
  if not found then
    return query select e.position, e.erased_at, false from erasures e where e.user_id = erased;
    return;
  end if;
  if present <> expected then
    raise exception 'the version of the user is not the expected one' using errcode = 'JJ001';
  end if;
  if verified is not null then
    perform from credentials c where c.user_id = erased and c.commitment = verified;
    if not found then
      raise exception 'the password has been changed' using errcode = 'JJ002';
    end if;
  end if;
  if acting_session is not null then
    perform from sessions s where s.session_id = acting_session and s.user_id = erased;
    if not found then
      raise exception 'the acting session has ended' using errcode = 'JJ002';
    end if;
  end if;

  delete from user_keys k where k.user_id = erased;
  delete from credentials c where c.user_id = erased;
  delete from sessions s where s.user_id = erased;
  delete from command_receipts r where r.user_id = erased;
  update events e set payload = null where e.user_id = erased and e.payload is not null;

  -- The follower removes the row when it comes to the event; nobody has to wait for that. The lock
  -- keeps a step of it that is under way from bringing the row back.
  perform from projections p where p.name = 'directory' for update;
  delete from directory d where d.user_id = erased;
  -- The live tables are locked by now, so none of these can be exchanged for them.
  foreach projection in array array['current_users', 'directory'] loop
    foreach table_kind in array array['previous', 'dropped', 'rebuild'] loop
      continue when projection_relation(projection, table_kind) is null;
      relation := format('%I.%I', current_schema(), projection_table(projection, table_kind));
      begin
        if table_kind = 'rebuild' then
          begin
            execute format('lock table %s in row exclusive mode nowait', relation);
          exception when lock_not_available then
            -- Its indexes are being made, after which the rebuild forgets the user by itself.
            continue;
          end;
        end if;
        execute format('delete from %s where user_id = $1', relation) using erased;
      exception when undefined_table then null;
      end;
    end loop;
  end loop;

  delete from email_claims c where c.user_id = erased;

  select a.head, a.appended_at into head, appended_at
    from append_events(
      users => array[erased], streams => array[1::smallint], ranks => array[0::smallint],
      is_last => array[true], expected => array[present], sessions => array[null::uuid],
      event_ids => array[new_event], types => array['UserErased'], schemas => array[1::smallint],
      actor_kinds => array[kind], actor_ids => array[actor], request_ids => array[request],
      trace_ids => array[trace], changed => array['{}'], payloads => array[null::bytea],
      digests => array[sha256('')], documents => array[null::bytea],
      statuses => array[null::smallint], receipt_keys => array[null::bytea],
      receipt_requests => array[null::bytea], receipt_answers => array[null::bytea],
      strict => true) a;
  delete from current_users u where u.user_id = erased;
  insert into erasures (user_id, position, erased_at) values (erased, head + 1, appended_at);
  return query select head + 1, appended_at, true;
end
$$;

do $$
begin
  execute format('alter function erase_user(uuid, integer, bytea, uuid, uuid, smallint, uuid, text, text) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function erase_user(uuid, integer, bytea, uuid, uuid, smallint, uuid, text, text)
  from public;
grant execute on function erase_user(uuid, integer, bytea, uuid, uuid, smallint, uuid, text, text)
  to jejak_service;
