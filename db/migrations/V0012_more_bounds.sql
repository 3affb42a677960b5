-- Bounds what V0011 has left to the role of the service: times that no calendar of four digits has,
-- which the time of each later event would follow, and a number of an origin with none behind it.
-- Locks: each table exclusively, until the commit. Nothing is scanned.

alter table events
  add constraint events_recorded_at_is_bounded check (
    recorded_at < '10000-01-01 00:00:00+00') not valid;
alter table log_origins
  add constraint log_origins_origin_is_bounded check (
    origin between 1 and 2147483646) not valid;
