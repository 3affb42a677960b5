-- Who has been erased, and what it takes to find all that is held of one person.
-- Locks: email_claims and command_receipts against writes while their indexes are made, about a
-- second for a million rows; statistics for a moment.

-- What is left of an erased user besides the headers of their events.
create table erasures (
  user_id uuid not null,
  -- The position of the event UserErased.
  position bigint not null,
  erased_at timestamptz not null,
  constraint erasures_pkey primary key (user_id),
  constraint erasures_position_is_unique unique (position)
);

-- Whom a kept answer tells about; null where it is about nobody. Those that were kept before this
-- migration don't say, and are forgotten within a day.
alter table command_receipts add column user_id uuid;
create index command_receipts_by_user on command_receipts (user_id) where user_id is not null;

create index email_claims_by_user on email_claims (user_id);

-- No event of before is an erasure, so the tables are what their definition says.
alter table statistics add column erasures bigint not null default 0;
alter table if exists statistics_previous add column erasures bigint not null default 0;
alter table if exists statistics_rebuild add column erasures bigint not null default 0;

-- The rows are made by erase_user alone.
grant select on erasures to jejak_service;
