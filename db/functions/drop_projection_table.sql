-- Drops a projection's table of a kind, if it is there; never the live one.
create or replace function drop_projection_table(projection text, kind text) returns void
language plpgsql security definer as $$
begin
  if kind not in ('rebuild', 'previous', 'dropped') then
    raise exception 'no table of kind % can be dropped', kind using errcode = 'JJ003';
  end if;
  execute format('drop table if exists %I.%I', current_schema(),
                 projection_table(projection, kind));
  if kind = 'previous' then
    update projections p set previous_position = null, previous_revision = null
     where p.name = projection;
  end if;
end
$$;

do $$
begin
  execute format('alter function drop_projection_table(text, text) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function drop_projection_table(text, text) from public;
grant execute on function drop_projection_table(text, text) to jejak_service;
