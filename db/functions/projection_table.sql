-- The name of a projection's table of a kind: '' the live one, 'rebuild' the one that is being built,
-- 'previous' the one of before the last exchange, 'dropped' one that is about to go. Raises where
-- there is no such projection: whoever calls the functions of rebuilds reaches no other table.
create or replace function projection_table(projection text, kind text) returns text
language plpgsql immutable as $$
begin
  if projection not in ('current_users', 'audit_entries', 'directory', 'statistics')
     or kind not in ('', 'rebuild', 'previous', 'dropped', 'outgoing') then
    raise exception 'there is no projection %', projection using errcode = 'JJ003';
  end if;
  return case kind when '' then projection else projection || '_' || kind end;
end
$$;
