-- Gives a projection's table another kind, and its indexes the names that go with it. Part of the
-- exchange, and nobody else's.
create or replace function rename_projection_table(projection text, kind text, new_kind text)
returns void language plpgsql as $$
declare
  relation regclass := projection_relation(projection, kind);
  old_name text := projection_table(projection, kind);
  new_name text := projection_table(projection, new_kind);
  index_name text;
begin
  if relation is null then
    raise exception 'there is no table %', old_name using errcode = 'JJ003';
  end if;
  execute format('alter table %I.%I rename to %I', current_schema(), old_name, new_name);
  for index_name in
    select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = relation
  loop
    execute format('alter index %I.%I rename to %I', current_schema(), index_name,
                   new_name || substr(index_name, length(old_name) + 1));
  end loop;
end
$$;
revoke execute on function rename_projection_table(text, text, text) from public;
