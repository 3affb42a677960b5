-- Gives a projection's table another kind, and its indexes the names that go with it. Part of the
-- exchange, and nobody else's.
create or replace function rename_projection_table(projection text, kind text, new_kind text)
returns void language plpgsql as $$
declare
  old_name text := projection_table(projection, kind);
  new_name text := projection_table(projection, new_kind);
  index_name text;
begin
  execute format('alter table %I rename to %I', old_name, new_name);
  for index_name in
    select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = new_name::regclass
  loop
    execute format('alter index %I rename to %I', index_name,
                   new_name || substr(index_name, length(old_name) + 1));
  end loop;
end
$$;
revoke execute on function rename_projection_table(text, text, text) from public;
