-- Keys of payloads: each user's own, wrapped by a master key that is not in the database. Whose
-- key is deleted can't be read any more.
-- Locks: none that matter, the tables are new.

create table user_keys (
  user_id uuid not null,
  -- The master key, by its number in the key file, that wraps it.
  master_key integer not null,
  wrapped_key bytea not null,
  constraint user_keys_pkey primary key (user_id)
) with (fillfactor = 90);

-- The one row that says how this log is sealed.
create table sealing (
  singleton boolean not null default true,
  -- The master key in use, by its number in the key file: new keys of users are wrapped by it, and
  -- a rotation brings all others to it. Null until the first one is told.
  master_key integer,
  -- A secret of the log, wrapped by that key: tells a wrong key of the right number, and seals what
  -- belongs to no user.
  wrapped_secret bytea,
  -- Whether every payload of the log is sealed: a log that was begun before sealing is not, until
  -- it has been brought up to date.
  is_complete boolean not null,
  constraint sealing_pkey primary key (singleton),
  constraint sealing_has_one_row check (singleton)
);
insert into sealing (is_complete) select not exists (select from events);

-- The rows of user_keys are made by add_user_key and go with erase_user.
grant select on user_keys, sealing to jejak_service;
