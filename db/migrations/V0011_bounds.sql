-- Bounds the numbers and arrays that the role of the service may write, so that no reader of them
-- counts beyond its integers: whoever takes over that role could stop service and verification so.
-- Locks: each table exclusively, until the commit. Nothing is scanned: what stands in the tables was
-- written by the service, and readers see to what was not.

-- 2^62, so that sums and differences of two of them are no overflow either.
alter table events
  add constraint events_position_is_bounded check (position < 4611686018427387904) not valid,
  add constraint events_version_is_bounded check (version < 2147483647) not valid,
  -- As the leaves of the tree take it: a plain list, without nulls.
  add constraint events_changed_is_a_list check (
    changed = '{}'
    or array_ndims(changed) = 1 and array_lower(changed, 1) = 1
       and array_position(changed, null) is null) not valid;

alter table current_users
  add constraint current_users_versions_are_bounded check (
    version between 1 and 2147483646 and access_version between 0 and 2147483646) not valid;

alter table projections
  add constraint projections_positions_are_bounded check (
    position between 0 and 4611686018427387903
    and stopped_at between 0 and 4611686018427387904
    and previous_position between 0 and 4611686018427387903) not valid;

alter table rebuilds
  add constraint rebuilds_numbers_are_bounded check (
    workers between 1 and 64 and throttle > 0
    and snapshot_position between 0 and 4611686018427387903
    and caught_up between snapshot_position and 4611686018427387903
    and events_total between 0 and 4611686018427387903
    and events_done between 0 and 4611686018427387903
    and working_microseconds between 0 and 4611686018427387903) not valid;

alter table notary
  add constraint notary_size_is_bounded check (
    size between 0 and 4611686018427387903) not valid;
alter table checkpoints
  add constraint checkpoints_size_is_bounded check (
    size between 0 and 4611686018427387903) not valid;
alter table tree_tiles
  add constraint tree_tiles_place_is_bounded check (
    level between 0 and 7 and index between 0 and 4611686018427387903) not valid;
alter table tree_edge
  add constraint tree_edge_level_is_bounded check (level between 0 and 7) not valid;
