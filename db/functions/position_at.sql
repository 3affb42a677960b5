-- The first position whose event was recorded at or after `instant`; the one after the last where
-- there is none. Positions have no hole and time never falls along them, so this is a binary search
-- over the primary key: a few reads, however long the log is.
create or replace function position_at(instant timestamptz) returns bigint
language plpgsql stable parallel safe as $$
declare
  low bigint := 1;
  high bigint := coalesce((select position from events order by position desc limit 1), 0) + 1;
  middle bigint;
begin
  while low < high loop
    middle := (low + high) / 2;
    if (select recorded_at < instant from events where position = middle) then
      low := middle + 1;
    else
      high := middle;
    end if;
  end loop;
  return low;
end
$$;
