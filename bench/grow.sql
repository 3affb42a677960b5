-- Gives every user of a seeded log :rounds updates more, each of the weight: the rows that the
-- service would have written, made by the server itself.

set synchronous_commit = off;

create temporary table head as select max(position) as position, max(recorded_at) as at from events;

create temporary table updates as
  select head.position + row_number() over (order by r, u.user_id) as position,
         head.at + row_number() over (order by r, u.user_id) * interval '1 microsecond' as at,
         u.user_id, u.version + r as version,
         convert_to('{"changes":[{"field":"attributes.weight","old":' || 58 + u.version + r
           || ',"new":' || 59 + u.version + r || '}],"source":{}}', 'UTF8') as payload
    from current_users u, head, generate_series(1, :rounds) r;

insert into events (position, recorded_at, user_id, event_id, version, stream, schema, actor_kind,
                    type, changed, payload, payload_sha256)
  select position, at, user_id, gen_random_uuid(), version, 1, 1, 3, 'ProfileUpdated',
         '{attributes.weight}', payload, sha256(payload)
    from updates order by position;

update current_users u
   set version = last.version, updated_at = last.at,
       document = convert_to(regexp_replace(convert_from(document, 'UTF8'), '"weight":[0-9]+',
                                            '"weight":' || 59 + last.version), 'UTF8')
  from (select distinct on (user_id) user_id, version, at from updates
         order by user_id, version desc) last
 where last.user_id = u.user_id;

vacuum analyze current_users, events;
