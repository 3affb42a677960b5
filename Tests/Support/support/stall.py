"""A writer written in SQL that appends as the service does, and stalls before it commits."""

import contextlib

from .log import LOCK_HEAD
from .sealing import Opener

WAITING = """
select count(*) from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock'
"""

LAST = """
select user_id::text, stream, version, type, schema, payload
from events where user_id = %s and stream = 2 order by version desc limit 1
"""

TAKE = """
select position + 1, greatest(clock_timestamp(), recorded_at + interval '1 microsecond')
from events order by position desc limit 1
"""

APPEND = """
insert into events (position, user_id, stream, version, event_id, type, schema, recorded_at,
  actor_kind, actor_id, request_id, trace_id, changed, payload, payload_sha256)
select %(position)s, user_id, stream, version + 1, gen_random_uuid(), type, schema, %(at)s,
  actor_kind, actor_id, request_id, trace_id, changed, %(payload)s, sha256(%(payload)s)
from events where user_id = %(user)s and stream = 2 order by version desc limit 1
"""

FOLLOW = "update current_users set access_version = access_version + 1 where user_id = %s"


@contextlib.contextmanager
def stalled_append(database, user_id):
    """An open transaction that has taken a position and inserted its event.

    The user must have an event of access; it is appended once more. The caller commits or
    rolls back.
    """
    last = database.rows(LAST, user_id)[0]
    payload = Opener(database).moved(*last, to=last[2] + 1)
    with database.connect(autocommit=False) as connection:
        connection.execute(FOLLOW, [user_id])
        connection.execute(LOCK_HEAD)
        position, at = connection.execute(TAKE).fetchone()
        connection.execute(APPEND, {
            "position": position, "at": at, "user": user_id, "payload": payload})
        yield connection, position
