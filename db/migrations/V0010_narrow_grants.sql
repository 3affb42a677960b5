-- Takes from the role of the service what it never uses, so that whoever takes over its connection
-- can't use it either.
-- Locks: each table's row in the catalogue, and log_head exclusively, until the commit.

-- To lock the row of log_head needs the right to update it. The update itself is refused here:
-- each one would leave a dead version that every later append walks while an old snapshot is open.
create function refuse_update() returns trigger language plpgsql as $$
begin
  raise exception 'permission denied: % is locked, never updated', tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;
create trigger log_head_is_never_updated before update on log_head
  for each statement execute function refuse_update();

-- A password is replaced, and a session renewed, for the user it belongs to.
revoke update on credentials, sessions from jejak_service;
grant update (password_hash, commitment, changed_at) on credentials to jejak_service;
grant update (token_sha256, last_used_at) on sessions to jejak_service;

-- The rows are there from the beginning, or stay for ever.
revoke insert, delete on projections, projection_runner from jejak_service;
revoke delete on rebuilds from jejak_service;
