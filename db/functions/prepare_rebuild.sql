-- Makes the table that a rebuild fills: like the live one, with its rights and without its indexes.
-- One that is there is dropped.
--
-- The service's role can make no tables. These functions run as the owner, and make, fill in and
-- exchange the tables of projections, nothing else.
create or replace function prepare_rebuild(projection text) returns void
language plpgsql security definer as $$
declare
  live regclass := projection_relation(projection, '');
  shadow text := projection_table(projection, 'rebuild');
  options text[];
  allowed record;
begin
  execute format('drop table if exists %1$I.%2$I, %1$I.%3$I', current_schema(), shadow,
                 projection_table(projection, 'dropped'));
  execute format('create table %I.%I (like %s including defaults including constraints including '
                 'storage including compression)', current_schema(), shadow, live);
  select c.reloptions into options from pg_class c where c.oid = live;
  if options is not null then
    execute format('alter table %I.%I set (%s)', current_schema(), shadow,
                   array_to_string(options, ', '));
  end if;
  for allowed in
    select a.grantee::regrole as role, a.privilege_type as privilege
      from pg_class c, aclexplode(c.relacl) a
     where c.oid = live and a.grantee <> c.relowner and a.grantee <> 0
  loop
    execute format('grant %s on %I.%I to %s', allowed.privilege, current_schema(), shadow,
                   allowed.role);
  end loop;
end
$$;

do $$
begin
  execute format('alter function prepare_rebuild(text) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function prepare_rebuild(text) from public;
grant execute on function prepare_rebuild(text) to jejak_service;
