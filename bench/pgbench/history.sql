-- A page of a hundred events by key, as the service reads it.
select position, recorded_at, user_id, version, stream, schema, type, actor_kind, actor_id,
       request_id, trace_id, payload
  from events where user_id = md5('user 1')::uuid and stream = 1 and version < 2147483647
 order by version desc limit 101;
