-- Puts the table of a kind ('rebuild' or 'previous') in the place of the live one, which becomes the
-- previous one. The caller holds the lock of the live table and of the projection's row.
--
--   held          the last event that the incoming table holds
--   displaced     the last event that the outgoing table holds
--   new_revision  the revision that the incoming table was built by
create or replace function exchange_projection(
  projection text, kind text, held bigint, displaced bigint, new_revision integer
) returns void
language plpgsql security definer as $$
begin
  if kind not in ('rebuild', 'previous') then
    raise exception 'no table of kind % can be exchanged', kind using errcode = 'JJ003';
  end if;
  perform rename_projection_table(projection, '', 'outgoing');
  perform rename_projection_table(projection, kind, '');
  -- To drop a large table takes its time, so it is done later.
  if kind = 'rebuild' and projection_relation(projection, 'previous') is not null then
    perform rename_projection_table(projection, 'previous', 'dropped');
  end if;
  perform rename_projection_table(projection, 'outgoing', 'previous');
  update projections p
     set position = case when p.position is not null then held end, revision = new_revision,
         previous_position = displaced, previous_revision = p.revision,
         stopped_at = null, stopped_because = null, stopped_time = null
   where p.name = projection;
end
$$;

do $$
begin
  execute format('alter function exchange_projection(text, text, bigint, bigint, integer) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function exchange_projection(text, text, bigint, bigint, integer) from public;
grant execute on function exchange_projection(text, text, bigint, bigint, integer) to jejak_service;
