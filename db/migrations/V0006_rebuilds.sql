-- Rebuilds of projections: what is asked for, how far it is, and what can go on after a kill.
-- Locks: none that matter, the tables are new.

create table rebuilds (
  rebuild_id uuid not null,
  projection text not null,
  -- The revision of the definition that it builds.
  revision integer not null,
  -- preparing, folding, indexing, catching up, verifying, exchanging: under way, in that order;
  -- done, cancelled: ended; failed, differs: waiting to be resumed or cancelled.
  state text not null,
  -- What its operator asks of it: run, pause or cancel; looked at between any two steps.
  wanted text not null default 'run',
  workers integer not null,
  -- Events a second at most; null: as fast as it goes.
  throttle integer,
  -- Differing rows of the live table are replaced instead of holding up the exchange.
  accepts_differences boolean not null default false,
  -- Ends after verifying: the exchange is left out, and the shadow is dropped.
  dry_run boolean not null default false,
  -- Whether the service runs it; otherwise the command that began it.
  in_service boolean not null,
  -- The process that runs it: a lease, which another may take over when it has run out.
  holder uuid,
  held_until timestamptz not null default '-infinity',
  -- The events up to this one are folded by ranges, the rest by catching up to caught_up.
  snapshot_position bigint,
  caught_up bigint,
  events_total bigint not null default 0,
  events_done bigint not null default 0,
  -- Time spent folding, for rate and time left after a pause.
  working_microseconds bigint not null default 0,
  -- Rows of the new table, and the bytes it takes with its indexes.
  rows bigint,
  bytes bigint,
  -- Rows that differ between the new table and the live one; null: not compared. The keys of the
  -- first hundred.
  differences bigint,
  differing text[],
  -- How long appends and fetches had to wait at the exchange.
  pause_microseconds bigint,
  error text,
  requested_by uuid,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint rebuilds_pkey primary key (rebuild_id)
) with (fillfactor = 50);
-- One at a time for each projection.
create unique index rebuilds_one_open on rebuilds (projection)
  where state not in ('done', 'cancelled');

-- The ranges that a rebuild folds, each in one transaction with its rows.
create table rebuild_ranges (
  rebuild_id uuid not null,
  number integer not null,
  -- By user: ids from first_user up to but not end_user, null: no bound. By position: positions
  -- from first_position to last_position.
  first_user uuid,
  end_user uuid,
  first_position bigint,
  last_position bigint,
  events bigint,
  rows bigint,
  done boolean not null default false,
  constraint rebuild_ranges_pkey primary key (rebuild_id, number)
) with (fillfactor = 50);

grant select, insert, update, delete on rebuilds, rebuild_ranges to jejak_service;
