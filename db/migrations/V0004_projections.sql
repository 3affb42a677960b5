-- The projections that follow the log, what is known of each projection, and who runs them.
--
-- A follower's rows and its checkpoint are written in one transaction, so that each event has its
-- effect once. Locks: none that matter, the tables are new.

-- One row for each projection. The inline one has no checkpoint: its rows are written with the
-- events themselves.
create table projections (
  name text not null,
  -- The revision of the definition that the live table was built by.
  revision integer not null,
  -- The last event that the live table holds; null for the inline projection.
  position bigint,
  -- Where and why it stopped; null while it runs.
  stopped_at bigint,
  stopped_because text,
  stopped_time timestamptz,
  -- The table of before the last exchange, kept for a rollback: the last event it holds, and the
  -- revision it was built by; null where none is kept.
  previous_position bigint,
  previous_revision integer,
  constraint projections_pkey primary key (name)
) with (fillfactor = 50);
insert into projections (name, revision, position)
  values ('current_users', 1, null), ('audit_entries', 1, 0), ('directory', 1, 0),
         ('statistics', 1, 0);

-- The process that runs the followers: a lease, renewed every second, which another process takes
-- over when it has run out.
create table projection_runner (
  singleton boolean not null default true,
  holder uuid,
  held_until timestamptz not null default '-infinity',
  constraint projection_runner_pkey primary key (singleton),
  constraint projection_runner_has_one_row check (singleton)
) with (fillfactor = 50);
insert into projection_runner default values;

-- Who did what, when, to whom, and which fields: one row for each event. Values are not here, they
-- are read from the event.
create table audit_entries (
  position bigint not null,
  recorded_at timestamptz not null,
  user_id uuid not null,
  actor_id uuid,
  version integer not null,
  stream smallint not null,
  actor_kind smallint not null,
  type text not null,
  fields text[] not null,
  constraint audit_entries_pkey primary key (position)
);
create index audit_entries_by_user on audit_entries (user_id, position);
-- With type and fields, so that what an actor never did is found out without reading the rows.
create index audit_entries_by_actor on audit_entries (actor_id, position) include (type, fields);
-- Types and fields in one inverted index; a type begins with a capital, a field doesn't.
create index audit_entries_by_term on audit_entries using gin ((fields || type))
  with (fastupdate = off);
-- Whether to go by term or by position depends on how rare a term is, down to one in a million.
alter index audit_entries_by_term alter column 1 set statistics 1000;

-- The operator's search: one row for each user.
create table directory (
  user_id uuid not null,
  -- The position of the registration: lists are in this order, which no later event changes.
  registered_position bigint not null,
  registered_at timestamptz not null,
  email text not null,
  first_name text,
  last_name text,
  -- 1 active, 2 suspended, 3 erased.
  status smallint not null,
  -- The words of names and address without case and accents, each starting where a search may.
  words tsvector not null,
  constraint directory_pkey primary key (user_id),
  constraint directory_position_is_unique unique (registered_position)
);
create index directory_by_status on directory (status, registered_position);
-- Without a list of what is pending, which every search would read through.
create index directory_by_word on directory using gin (words) with (fastupdate = off);

-- What happened on each day, by the log's clock, UTC.
create table statistics (
  day date not null,
  registrations bigint not null,
  updates bigint not null,
  email_changes bigint not null,
  password_changes bigint not null,
  suspensions bigint not null,
  sign_ins bigint not null,
  failed_sign_ins bigint not null,
  events bigint not null,
  constraint statistics_pkey primary key (day)
) with (fillfactor = 50);

grant select, insert, update, delete on projections, projection_runner, audit_entries, directory,
  statistics to jejak_service;
