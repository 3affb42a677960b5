-- Keeps the key of a new user's payloads, wrapped by the master key of that number. Raises JJ004
-- where another one is in use: then it must be wrapped anew. The row of `sealing` stays locked to
-- the end of the transaction, so that a rotation, which changes it first, finds every user.
create or replace function add_user_key(
  added_for uuid, wrapped_by integer, wrapped bytea
) returns void
language plpgsql security definer as $$
begin
  perform from sealing s where s.master_key = wrapped_by for share;
  if not found then
    raise exception 'master key % is not in use', wrapped_by using errcode = 'JJ004';
  end if;
  insert into user_keys (user_id, master_key, wrapped_key)
    values (added_for, wrapped_by, wrapped);
end
$$;

do $$
begin
  execute format('alter function add_user_key(uuid, integer, bytea) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function add_user_key(uuid, integer, bytea) from public;
grant execute on function add_user_key(uuid, integer, bytea) to jejak_service;
