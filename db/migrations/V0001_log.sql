-- The log: every change of every user, append-only, in one order.
--
-- Nothing here names a schema: the search path decides, so that many logs can share a database.
-- Locks: none that matter, the tables are new.

-- The one row whose lock orders the appends. It is locked, never changed: the position and the
-- time it stands for are those of the last event. A row that changed with every batch would leave
-- a dead version for every batch while any old snapshot is open, and each append would walk them.
create table log_head (
  singleton boolean not null default true,
  constraint log_head_pkey primary key (singleton),
  constraint log_head_has_one_row check (singleton)
);
insert into log_head default values;

create table events (
  position bigint not null,
  recorded_at timestamptz not null,
  user_id uuid not null,
  event_id uuid not null,
  -- Null where nobody was signed in.
  actor_id uuid,
  version integer not null,
  -- 1 the profile, whose version is the ETag; 2 access: sign-ins and sessions.
  stream smallint not null,
  -- The form of the payload; older forms are brought up to date when read.
  schema smallint not null,
  -- 1 user, 2 operator, 3 system.
  actor_kind smallint not null,
  type text not null,
  request_id text,
  trace_id text,
  -- Names of the fields that changed, never their values.
  changed text[] not null,
  payload bytea,
  payload_sha256 bytea not null,
  constraint events_pkey primary key (position),
  constraint events_versions_are_unique unique (user_id, stream, version),
  constraint events_position_is_positive check (position > 0),
  constraint events_version_is_positive check (version > 0),
  constraint events_stream_is_known check (stream in (1, 2)),
  constraint events_actor_kind_is_known check (actor_kind in (1, 2, 3))
);
