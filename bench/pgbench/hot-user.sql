-- As update.sql, always of the same person: clients wait for one row.
\set weight random(1, 1000000)
begin;
select version, document from current_users where user_id = md5('user 1')::uuid for update;
insert into events (position, recorded_at, user_id, event_id, actor_id, version, stream, schema,
                    actor_kind, type, request_id, changed, payload, payload_sha256)
  select nextval('bench_position'), now(), user_id, gen_random_uuid(), user_id, version + 1, 1, 1,
         1, 'ProfileUpdated', '0123456789abcdef', '{attributes.weight}',
         '{"changes":[{"field":"attributes.weight","old":60,"new":61}],"source":{"address":"127.0.0.1","session":"0198f0c2-0000-7000-8000-000000000000"}}',
         '\x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'
    from current_users where user_id = md5('user 1')::uuid;
update current_users set version = version + 1, updated_at = now(), document = document
 where user_id = md5('user 1')::uuid;
commit;
