-- The role that the service works as. It can add to the log and read it, and no more: history
-- can't be changed by whoever takes over the service's connection.
-- Roles belong to the whole server, so another log may have made this one already.
-- Locks: none that matter.

do $$
begin
  -- The right to make roles is asked for before it is looked whether there is anything to make.
  if not exists (select from pg_roles where rolname = 'jejak_service') then
    create role jejak_service nologin;
  end if;
exception
  when duplicate_object or unique_violation then null;
  when insufficient_privilege then
    raise exception 'the role jejak_service is missing, and % can not make it', current_user
      using hint = format('As a superuser: create role jejak_service nologin; '
                          'grant jejak_service to %I', current_user);
end
$$;

-- The owner must be able to become the service, unless it can become anyone.
do $$
begin
  if not pg_has_role(current_user, 'jejak_service', 'member') then
    execute format('grant jejak_service to %I', current_user);
  end if;
end
$$;

do $$
begin
  execute format('grant usage on schema %I to jejak_service', current_schema());
end
$$;

-- A row lock needs the right to update; there is nothing to update in that row.
grant select, update on log_head to jejak_service;
grant select, insert on events to jejak_service;
grant select, insert, update on current_users to jejak_service;
grant select, insert, update on credentials to jejak_service;
grant select, insert, update, delete on sessions to jejak_service;
grant select, insert, delete on email_claims to jejak_service;
grant select, insert, delete on command_receipts to jejak_service;
