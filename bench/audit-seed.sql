-- Fills a log that has nothing but its tables with :entries events of :users people over fourteen
-- months, and audit_entries with what they say, as the runner would have written them.
--
-- Uneven as such logs are: a few people have many events; one operator's key is the actor of a
-- fifth of all entries; weight changes in a quarter of them, and rarest in one of 18,000;
-- legacy changed in the first month alone.

set synchronous_commit = off;
set work_mem = '1GB';
set maintenance_work_mem = '512MB';
begin;
-- The runner waits for these rows meanwhile, and finds nothing to do afterwards.
select from projections for update;
select from log_head for update;
truncate events, audit_entries, current_users;
select setseed(0.5);

create temporary table people as
  select n, md5('user ' || n)::uuid as user_id, 'person' || n || '@example.com' as email
    from generate_series(0, :users - 1) as n;
create unique index on people (n);

create temporary table drawn as
  select n as position,
         timestamptz '2025-09-01Z' + n * (interval '425 days' / :entries) as recorded_at,
         -- Everyone comes once; the rest is skewed towards the first.
         case when n <= :users then n - 1 else floor(:users * random() ^ 3)::int end as person,
         random() as by, random() as what, random() as which
    from generate_series(1, :entries) as n;

create temporary table kinds (kind int primary key, stream smallint, type text, fields text[]);
insert into kinds values
  (1, 1, 'UserRegistered', '{email,firstName,lastName}'), (2, 2, 'SignedIn', '{}'),
  (3, 2, 'SignInFailed', '{}'), (4, 2, 'SignedOut', '{}'), (5, 1, 'PasswordChanged', '{password}'),
  (6, 1, 'UserSuspended', '{status}'), (7, 1, 'UserReinstated', '{status}'),
  (8, 1, 'ProfileUpdated', '{attributes.weight}'), (9, 1, 'ProfileUpdated', '{firstName}'),
  (10, 1, 'ProfileUpdated', '{firstName,lastName}'),
  (11, 1, 'ProfileUpdated', '{attributes.height,attributes.weight}'),
  (12, 1, 'ProfileUpdated', '{lastName}'), (13, 1, 'ProfileUpdated', '{attributes.isMarried}'),
  (14, 1, 'ProfileUpdated', '{attributes.dateOfBirth}'),
  (15, 1, 'ProfileUpdated', '{attributes.rarest}'), (16, 1, 'ProfileUpdated', '{attributes.legacy}');

create temporary table told as
  select d.position, d.recorded_at, p.user_id, p.email, k.stream, k.type, k.fields,
         case when k.kind in (6, 7) or k.kind >= 8 and d.by < 0.37 then 2
              when k.kind = 3 then 3 else 1 end as actor_kind
    from (select drawn.*, case
           when position <= :users then 1
           when what < 0.30 then 2 when what < 0.35 then 3 when what < 0.40 then 4
           when what < 0.43 then 5 when what < 0.435 then 6 when what < 0.44 then 7
           when which < 0.30 then 8 when which < 0.50 then 9 when which < 0.65 then 10
           when which < 0.80 then 11 when which < 0.90 then 12 when which < 0.97 then 13
           when which < 0.9999 then case when which < 0.99 or position > :entries / 14 then 14 else 16 end
           else 15 end as kind
          from drawn) d
    join people p on p.n = d.person join kinds k using (kind);

insert into events (position, recorded_at, user_id, event_id, actor_id, version, stream, schema,
                    actor_kind, type, request_id, changed, payload, payload_sha256)
  select position, recorded_at, user_id, md5('event ' || position)::uuid,
         case actor_kind when 1 then user_id when 2 then md5('operator')::uuid end,
         row_number() over (partition by user_id, stream order by position), stream, 1, actor_kind,
         type, 'seed-' || position, fields, payload, '\x00'
    from told,
         lateral (select convert_to(
             '{"changes":[' || coalesce((
               select string_agg('{"field":"' || field || '","old":null,"new":' || case field
                 when 'email' then '"' || email || '"' else position::text end || '}', ',')
                 from unnest(fields) as field where field <> 'password'), '')
             || '],"source":{"address":"192.0.2.' || position % 250 || '","agent":"bench/1"}}',
             'UTF8') as payload) as p
   order by position;

insert into audit_entries (position, recorded_at, user_id, actor_id, version, stream, actor_kind,
                           type, fields)
  select position, recorded_at, user_id, actor_id, version, stream, actor_kind, type, changed
    from events order by position;

insert into current_users (user_id, created_at, updated_at, version, access_version, status, document)
  select user_id, min(recorded_at), max(recorded_at),
         count(*) filter (where stream = 1), count(*) filter (where stream = 2), 1,
         convert_to('{"id":"' || user_id || '","email":"' || min(email)
           || '","emailVerified":false,"firstName":"Ada","lastName":"Lovelace","attributes":{},'
           || '"status":"active"', 'UTF8')
    from told group by user_id;
update projections set position = :entries where position is not null;
commit;
vacuum analyze events, audit_entries, current_users;
