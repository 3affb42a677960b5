-- Removes from a table that stands beside a projection's live one, and holds the events up to `held`,
-- the rows of users who were erased since. Part of a transaction that fills the table: the last step
-- where rows are only added, whose payloads may have been read before they were gone; the first one
-- where rows are changed, which an erasure may wait for.
--
-- The lock lets an erasure either be seen here, or see what this transaction has made. It runs as the
-- owner, since the service may not delete a row of current_users, nor of the table that takes its
-- place.
create or replace function forget_erased(projection text, kind text, held bigint) returns void
language plpgsql security definer as $$
begin
  if projection not in ('current_users', 'directory') then
    return;
  end if;
  if kind not in ('rebuild', 'previous') then
    raise exception 'nobody is forgotten in a table of kind %', kind using errcode = 'JJ003';
  end if;
  -- It keeps others out who do this as well: they would lock the same rows.
  lock table erasures in share row exclusive mode;
  -- There may be no index to find them by yet, and mostly there is nobody.
  if exists (select from erasures e where e.position > held) then
    execute format('delete from %I.%I where user_id in (select e.user_id from erasures e '
                   'where e.position > $1)',
                   current_schema(), projection_table(projection, kind))
      using held;
  end if;
end
$$;

do $$
begin
  execute format('alter function forget_erased(text, text, bigint) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function forget_erased(text, text, bigint) from public;
grant execute on function forget_erased(text, text, bigint) to jejak_service;
