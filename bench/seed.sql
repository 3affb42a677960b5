-- Fills an empty log with :users people, each registered and signed in once: the rows that the
-- service would have written, made by the server itself.
--
-- The token of user n is 'jjs_', 25 times 'A', and n + 10^17; people and sessions are spread over
-- the tables in no order of n.

set synchronous_commit = off;

create temporary table people as
  select n,
         (md5('user ' || n))::uuid as user_id,
         (md5('session ' || n))::uuid as session_id,
         timestamptz '2026-01-01' + n * interval '1 second' as at
    from generate_series(1, :users) as n;

create temporary table documents as
  select n,
         '{"id":"' || user_id || '","email":"person' || n || '@example.com","emailVerified":false,'
         || '"firstName":"Ada","lastName":"Lovelace","attributes":{"dateOfBirth":"1990-12-10",'
         || '"height":165.5,"isMarried":true,"weight":60},"status":"active"' as document
    from people;

insert into current_users (user_id, created_at, updated_at, version, access_version, status, document)
  select user_id, at, at, 1, 1, 1, convert_to(document, 'UTF8') from people join documents using (n);

with payloads as (
  select n, convert_to(
      '{"changes":[{"field":"email","old":null,"new":"person' || n || '@example.com"},'
      || '{"field":"firstName","old":null,"new":"Ada"},'
      || '{"field":"lastName","old":null,"new":"Lovelace"},'
      || '{"field":"attributes.dateOfBirth","old":null,"new":"1990-12-10"},'
      || '{"field":"attributes.height","old":null,"new":165.5},'
      || '{"field":"attributes.isMarried","old":null,"new":true},'
      || '{"field":"attributes.weight","old":null,"new":60}],"commitment":"'
      || encode(commitment, 'hex') || '","source":{}}', 'UTF8') as payload
    from people, (select commitment from credentials limit 1) of_all)
insert into events (position, recorded_at, user_id, event_id, version, stream, schema, actor_kind,
                    type, changed, payload, payload_sha256)
  select n, at, user_id, md5('event ' || n)::uuid, 1, 1, 1, 3, 'UserRegistered',
         '{email,firstName,lastName,attributes.dateOfBirth,attributes.height,attributes.isMarried,attributes.weight}',
         payload, sha256(payload)
    from people join payloads using (n) order by n;

with payloads as (
  select n, convert_to(
      '{"changes":[],"session":"' || session_id || '","source":{}}', 'UTF8') as payload
    from people)
insert into events (position, recorded_at, user_id, event_id, version, stream, schema, actor_kind,
                    type, changed, payload, payload_sha256)
  select :users + n, at + interval '7 days', user_id, md5('sign-in ' || n)::uuid, 1, 2, 1, 3,
         'SignedIn', '{}', payload, sha256(payload)
    from people join payloads using (n) order by n;

insert into email_claims select 'person' || n || '@example.com', user_id from people;

insert into sessions (session_id, user_id, token_sha256, created_at, last_used_at, expires_at)
  select session_id, user_id,
         sha256(convert_to('jjs_AAAAAAAAAAAAAAAAAAAAAAAAA' || (100000000000000000 + n), 'UTF8')),
         now(), now(), now() + interval '30 days'
    from people;

-- Everyone has the password of the person who registered over HTTP before.
insert into credentials (user_id, password_hash, commitment, changed_at)
  select p.user_id, c.password_hash, c.commitment, now()
    from people p, (select password_hash, commitment from credentials limit 1) c;
delete from credentials c
 where not exists (select from current_users u where u.user_id = c.user_id);

vacuum analyze current_users, events, sessions, credentials, email_claims;
