-- Gives the table of a rebuild the indexes and keys of the live one, as far as it lacks them, and
-- statistics for the planner.
create or replace function index_rebuild(projection text) returns void
language plpgsql security definer as $$
declare
  live text := projection_table(projection, '');
  shadow text := projection_table(projection, 'rebuild');
  index record;
  expression record;
begin
  for index in
    select c.oid, shadow || substr(c.relname, length(live) + 1) as name, i.indisunique as is_unique,
           substring(pg_get_indexdef(i.indexrelid) from ' USING .*$') as definition,
           case when k.contype = 'p' then 'primary key' when k.contype = 'u' then 'unique' end
             as kind_of_key
      from pg_index i
      join pg_class c on c.oid = i.indexrelid
      left join pg_constraint k on k.conindid = i.indexrelid and k.conrelid = i.indrelid
     where i.indrelid = projection_relation(projection, '')
  loop
    continue when to_regclass(format('%I.%I', current_schema(), index.name)) is not null;
    execute format('create %s index %I on %I.%I %s', case when index.is_unique then 'unique' end,
                   index.name, current_schema(), shadow, index.definition);
    -- What is kept of an expression for the planner, where the live index says how much.
    for expression in
      select attnum, attstattarget from pg_attribute
       where attrelid = index.oid and attstattarget >= 0 and attnum > 0
    loop
      execute format('alter index %I.%I alter column %s set statistics %s', current_schema(),
                     index.name, expression.attnum, expression.attstattarget);
    end loop;
    if index.kind_of_key is not null then
      execute format('alter table %I.%I add constraint %I %s using index %I', current_schema(),
                     shadow, index.name, index.kind_of_key, index.name);
    end if;
  end loop;
  execute format('analyze %I.%I', current_schema(), shadow);
end
$$;

do $$
begin
  execute format('alter function index_rebuild(text) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function index_rebuild(text) from public;
grant execute on function index_rebuild(text) to jejak_service;
