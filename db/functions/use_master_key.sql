-- Tells a log that has no master key in use yet which one is, and the log's secret that it wraps;
-- nothing where there is one. Whoever was first is told by a look at `sealing`.
create or replace function use_master_key(number integer, secret bytea) returns void
language sql security definer as $$
  update sealing set master_key = number, wrapped_secret = secret where master_key is null
$$;

do $$
begin
  execute format('alter function use_master_key(integer, bytea) set search_path = %I, pg_temp', current_schema());
end
$$;
revoke execute on function use_master_key(integer, bytea) from public;
grant execute on function use_master_key(integer, bytea) to jejak_service;
