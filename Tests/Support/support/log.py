"""The laws of the log, and the read model folded from it a second time, in Python."""

import json
from decimal import Decimal

from .sealing import Opener

EVENTS = """
select position, user_id::text, stream, version, type, recorded_at, schema, payload
from events order by position
"""
MODEL = """
select user_id::text, version, access_version, document, created_at, updated_at
from current_users order by user_id
"""
HEAD = "select coalesce(max(position), 0) from events"
# The lock that orders the appends, as the service takes it.
LOCK_HEAD = "select from log_head for update"
PROFILE, ACCESS = 1, 2


def events(database, key_file=None):
    """All events in order of position, payloads opened, as values with exact numbers."""
    opener = Opener(database, key_file)
    return [
        (position, user, stream, version, kind, recorded_at,
         decode(opener.open(user, stream, version, kind, schema, payload)))
        for position, user, stream, version, kind, recorded_at, schema, payload
        in database.rows(EVENTS)]


def payload(database, position):
    """What one event says."""
    return decode(Opener(database).texts("position = %s", position)[0])


def decode(payload):
    return json.loads(bytes(payload), parse_float=Decimal) if payload is not None else {}


def head(database):
    """The position of the last event, 0 where there is none."""
    return database.value(HEAD)


def check_log(rows, database):
    """Positions 1…N without a hole, dense versions in each stream, time that never falls."""
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    assert database.value("select count(*) from log_head") == 1
    last = {}
    for _, user, stream, version, *_ in rows:
        assert version == last.get((user, stream), 0) + 1, (user, stream, version)
        last[user, stream] = version
    times = [row[5] for row in rows]
    assert times == sorted(times)


def fold(rows):
    """Read model from events alone: per user versions, instants and the document.

    Whoever has been erased has no row, and payloads tell nothing of them.
    """
    users = {}
    erased = {row[1] for row in rows if row[4] == "UserErased"}
    for _, user, stream, version, kind, recorded_at, payload in rows:
        if user in erased:
            assert payload == {}, user
            continue
        if kind == "UserRegistered":
            users[user] = new_user(user, recorded_at)
        state = users[user]
        state["version" if stream == PROFILE else "access_version"] = version
        if stream == PROFILE:
            state["updated_at"] = recorded_at
            for change in payload.get("changes", []):
                assign(state["document"], change["field"], change["new"])
    return users


def new_user(user, recorded_at):
    document = {"id": user, "emailVerified": False, "firstName": None, "lastName": None,
                "attributes": {}}
    return {"version": 0, "access_version": 0, "created_at": recorded_at, "document": document}


def assign(document, field, value):
    """Sets a field by its name in the log; a cleared attribute is absent."""
    *path, name = field.split(".")
    for part in path:
        document = document.setdefault(part, {})
    if path and value is None:
        document.pop(name, None)
    else:
        document[name] = value


def read_model(database):
    """The table `current_users` in the shape that `fold` gives."""
    users = {}
    for user, version, access_version, document, created_at, updated_at in database.rows(MODEL):
        state = json.loads(bytes(document) + b"}", parse_float=Decimal)
        state.pop("status", None)
        users[user] = {"version": version, "access_version": access_version,
                       "created_at": created_at, "updated_at": updated_at, "document": state}
    return users


def check_model(rows, database):
    """The table equals a fresh fold of the log."""
    folded, table = fold(rows), read_model(database)
    assert folded.keys() == table.keys()
    for user, expected in folded.items():
        assert table[user] == expected, user


def check_all(database, key_file=None):
    """Every law at once; gives the events."""
    rows = events(database, key_file)
    check_log(rows, database)
    check_model(rows, database)
    return rows


def count_events(database, user_id, stream=None):
    """How many events a user has, in one stream or in both."""
    return database.value(
        "select count(*) from events where user_id = %s and (%s::int is null or stream = %s)",
        user_id, stream, stream)


def new_values(rows, field="firstName"):
    """How often each value was set by a `ProfileUpdated`, per value."""
    seen = {}
    for row in rows:
        if row[4] == "ProfileUpdated":
            for change in row[6]["changes"]:
                if change["field"] == field:
                    seen[change["new"]] = seen.get(change["new"], 0) + 1
    return seen
