-- Appends events of several users, as one step of one transaction, and brings current_users up to
-- date with them.
--
-- The arrays run in parallel, one element for each event. A user may have several events in a
-- call, all of one stream and in order: a chain.
--   ranks       the event's place in its user's chain, from 0
--   is_last     whether it is the last of its chain
--   expected    the version of its stream that the event was decided on, 0 for the first: it is
--               sealed for the next one. In the profile stream, 0 is for a new user
--   sessions    the session that an event was made in; null where it needs none. The chain
--               is left out where one of its sessions has ended: whoever ends a session locks its
--               user first, so that no change follows the end
--   changed     names of fields as a text[] literal, since arrays of arrays must be rectangular
--   documents   with the last of a chain, the new document; null where it stays
--   statuses    with the last of a chain, the new status; null where it stays
--   receipt_*   null where the request carried no key
--   strict      true: a chain whose version is not the expected one raises JJ001 and undoes all;
--               false: it is left out
--
-- Answers the version of each event, null for one that was left out; the events that have one
-- follow `head` in order, without a hole.
--
-- At its commit the channel of the log is told the position of its last event: once for each call,
-- and in the order of the log. Nobody may rely on that: a follower looks by itself now and then.
--
-- Lock order, everywhere: users by id, claims by key, log_head last. From log_head's lock to the
-- end of the commit no other append runs, so positions have no hole and follow commit order.
create or replace function append_events(
  users uuid[], streams smallint[], ranks smallint[], is_last boolean[], expected integer[],
  sessions uuid[], event_ids uuid[], types text[], schemas smallint[], actor_kinds smallint[], actor_ids uuid[],
  request_ids text[], trace_ids text[], changed text[], payloads bytea[], digests bytea[],
  documents bytea[], statuses smallint[], receipt_keys bytea[], receipt_requests bytea[],
  receipt_answers bytea[], strict boolean,
  out head bigint, out appended_at timestamptz, out versions integer[]
) language plpgsql as $$
#variable_conflict use_column
declare
  ended uuid[];
begin
  select array_agg(
      case when e.stream = 1 and e.expected = 0 then 1 + e.rank
           when e.stream = 1 then u.version + 1 + e.rank
           else u.access_version + 1 + e.rank end
      order by e.n)
    into append_events.versions
    from unnest(users, streams, ranks, expected) with ordinality
         as e (user_id, stream, rank, expected, n)
    left join (
      select held.user_id, held.version, held.access_version
        from unnest(users, streams, ranks, expected) as w (user_id, stream, rank, expected)
        join current_users held on held.user_id = w.user_id
       where w.rank = 0
         and w.expected = case w.stream when 1 then held.version else held.access_version end
       order by held.user_id
         for update of held
    ) u on u.user_id = e.user_id;

  -- A statement of its own: it sees what was committed until the users were locked.
  select array_agg(w.user_id)
    into ended
    from unnest(users, append_events.sessions) as w (user_id, session_id)
   where w.session_id is not null
     and not exists (select from sessions s where s.session_id = w.session_id);
  if ended is not null then
    select array_agg(case when e.user_id = any (ended) then null else e.version end order by e.n)
      into append_events.versions
      from unnest(users, append_events.versions) with ordinality as e (user_id, version, n);
  end if;

  if array_position(append_events.versions, null) is not null then
    if strict then
      raise exception 'the version of a user is not the expected one' using errcode = 'JJ001';
    end if;
    if array_remove(append_events.versions, null) = '{}' then
      return;
    end if;
  end if;

  perform from log_head for update;
  select last.position, last.recorded_at + interval '1 microsecond'
    into append_events.head, append_events.appended_at
    from events last order by last.position desc limit 1;
  append_events.head := coalesce(append_events.head, 0);
  append_events.appended_at := greatest(statement_timestamp(), append_events.appended_at);

  insert into events (
      position, recorded_at, user_id, event_id, actor_id, version, stream, schema, actor_kind,
      type, request_id, trace_id, changed, payload, payload_sha256)
    select append_events.head + row_number() over (order by e.n), append_events.appended_at,
           e.user_id, e.event_id, e.actor_id, e.version, e.stream, e.schema, e.actor_kind,
           e.type, e.request_id, e.trace_id, e.changed::text[], e.payload, e.digest
      from unnest(users, event_ids, actor_ids, append_events.versions, streams, schemas,
                  actor_kinds, types, request_ids, trace_ids, changed, payloads, digests)
           with ordinality as e (user_id, event_id, actor_id, version, stream, schema,
                                 actor_kind, type, request_id, trace_id, changed, payload,
                                 digest, n)
     where e.version is not null;

  update current_users u
     set version = case when e.stream = 1 then e.version else u.version end,
         access_version = case when e.stream = 2 then e.version else u.access_version end,
         document = coalesce(e.document, u.document),
         status = coalesce(e.status, u.status),
         updated_at = case when e.stream = 1 then append_events.appended_at else u.updated_at end
    from unnest(users, streams, is_last, expected, append_events.versions, documents, statuses)
         as e (user_id, stream, is_last, expected, version, document, status)
   where u.user_id = e.user_id and e.is_last and e.version is not null
     and (e.stream = 2 or e.expected <> 0);

  -- A first sign-in is expected 0 as well, and inserts nothing.
  if 0 = any (expected) then
    insert into current_users (
        user_id, created_at, updated_at, version, access_version, status, document)
      select e.user_id, append_events.appended_at, append_events.appended_at, e.version, 0,
             e.status, e.document
        from unnest(users, streams, expected, append_events.versions, documents, statuses)
             as e (user_id, stream, expected, version, document, status)
       where e.stream = 1 and e.expected = 0;
  end if;

  if array_remove(receipt_keys, null) <> '{}' then
    insert into command_receipts (receipt_key, request_sha256, answer, created_at, user_id)
      select r.receipt_key, r.request, r.answer, append_events.appended_at, r.user_id
        from unnest(users, append_events.versions, receipt_keys, receipt_requests,
                    receipt_answers)
             as r (user_id, version, receipt_key, request, answer)
       where r.version is not null and r.receipt_key is not null;
  end if;

  -- As a name, because a channel's name may be no longer than one.
  perform pg_notify(
    ('jejak ' || current_schema())::name::text,
    (append_events.head + cardinality(array_remove(append_events.versions, null)))::text);
end
$$;
