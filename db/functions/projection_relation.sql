-- A projection's table of a kind in this log's schema, null where there is none. A temporary table of
-- that name is never meant: what runs as the owner must not follow a caller's.
create or replace function projection_relation(projection text, kind text) returns regclass
language sql stable as $$
  select to_regclass(format('%I.%I', current_schema(), projection_table(projection, kind)))
$$;
