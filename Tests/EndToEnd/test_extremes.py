"""Extreme values in whatever the role of the service may write: nothing dies of them, or hangs."""

import contextlib
import json

import psycopg
import pytest
from support.client import MERGE_PATCH, PASSWORD, http, problem, signed_in
from support.postgres import Database
from support.processes import resident_bytes
from support.roles import SERVICE_ROLE
from support.service import Service, jejak
from support.wait import until

SMALLEST = {"smallint": -2**15, "integer": -2**31, "bigint": -2**63}
LARGEST = {kind: -value - 1 for kind, value in SMALLEST.items()}
ARRAYS = ("[1:2][16:16]={{a},{b}}", "{{a,b},{c,d}}", "{NULL}", "[-5:-4]={a,b}",
          "[2147483645:2147483645]={a}", "{}")
# Away with what refuses them, to see how readers fare.
UNBOUND = """
do $$ declare c record; begin
  for c in select conrelid::regclass as name, conname from pg_constraint
            where contype in ('c', 'f') and connamespace = 'public'::regnamespace loop
    execute format('alter table %s drop constraint %I', c.name, c.conname);
  end loop;
end $$
"""
SIGNED = "select coalesce(max(size), 0) = (select max(position) from events) from checkpoints"
CAUGHT_UP = ("select min(position) = (select max(position) from events) from projections "
             "where position is not null")
# One row at a time, where a table has several; where it has none, one is made.
ROWS = {
    "events": "ctid = (select ctid from events where type = 'ProfileUpdated' limit 1)",
    "projections": "name = 'statistics'",
}


TABLES = (
    "api_keys", "audit_entries", "checkpoints", "command_receipts", "credentials",
    "current_users", "directory", "email_claims", "events", "log_origins", "notary",
    "projection_runner", "projections", "rebuild_ranges", "rebuilds", "sessions", "statistics",
    "tree_edge", "tree_tiles")


@pytest.fixture(scope="module")
def log(postgres):
    """A signed log of two people, with nobody at work on it."""
    database = postgres.create_database()
    with Service(database.url) as service:
        for name in ("Ada", "Grace"):
            person = signed_in(service, firstName=name)
            assert person.patch({"lastName": "L"}, key=name).status_code == 200
        database.person = person
        until("all is signed", lambda: database.value(SIGNED))
        until("all is folded", lambda: database.value(CAUGHT_UP))
        assert jejak("projection", "rebuild", "directory", url=database.url).returncode == 0
    # A full tile where none is due, since the log is short.
    database.rows("insert into tree_tiles values (1, 7, %s)", bytes(8192))
    yield database
    database.drop()


@pytest.fixture
def copy(postgres, log):
    """The log, for one test to spoil."""
    name = f"{log.name}_copy"
    with postgres.connect("postgres") as connection:
        connection.execute(f'create database "{name}" template "{log.name}"')
    database = Database(postgres, name)
    database.person = log.person  # of the same id and token
    yield database
    database.drop()


def writable(database):
    """Columns of numbers, times and arrays that the role may write, with their types."""
    return database.rows(
        "select distinct c.table_name, c.column_name, c.data_type "
        "  from information_schema.columns c "
        " where c.table_schema = 'public' and c.is_generated = 'NEVER' "
        "   and c.data_type in ('smallint', 'integer', 'bigint', 'ARRAY', "
        "                       'timestamp with time zone', 'date') "
        "   and (has_column_privilege(%s, c.table_name, c.column_name, 'insert') "
        "        or has_column_privilege(%s, c.table_name, c.column_name, 'update')) "
        " order by 1, 2", SERVICE_ROLE, SERVICE_ROLE)


def extremes(kind):
    if kind == "ARRAY":
        return ARRAYS
    if kind in SMALLEST:
        return (SMALLEST[kind], LARGEST[kind], -1, 0, LARGEST[kind] // 2 + 1)
    return ("infinity", "-infinity", "0001-01-01", "5000-01-01")


def spoil(database, table, column, kind, value):
    """Puts the value into a row; how to undo that, nil where the table takes no such value."""
    where = ROWS.get(table, "true")
    cast = "text[]" if kind == "ARRAY" else kind
    try:
        with database.connect() as connection:
            row = connection.execute(
                f"select ctid::text, {column}::text from {table} where {where} limit 1").fetchone()
            assert row, f"{table} is empty"
            written = connection.execute(
                f"update {table} set {column} = %s::{cast} where ctid = %s::tid returning ctid",
                [str(value), row[0]]).rowcount
    except (psycopg.errors.IntegrityError, psycopg.errors.DataError,
            psycopg.errors.ProgramLimitExceeded):
        return None

    def undo():
        # A follower may have made the row anew meanwhile.
        with contextlib.suppress(psycopg.errors.UniqueViolation):
            database.rows(
                f"update {table} set {column} = %s::{cast} "
                f"where {column} is not distinct from %s::{cast}", row[1], str(value))

    return undo if written else None


def ask_for_everything(service, person, key):
    """Asks for what there is to ask for; whatever the answers are, each comes."""
    with http(service, timeout=30) as client:
        answer = client.post("/v1/sessions", json={"email": person.email, "password": PASSWORD})
        token = answer.json()["token"] if answer.status_code == 201 else person.token
        user, operator = ({"Authorization": f"Bearer {text}"} for text in (token, key))
        for path in ("", "/history", "/history?stream=access", "/history/2/proof", "/export",
                     "/sessions", "?version=1"):
            client.get(f"/v1/users/me{path}", headers=user)
        for name in ("M", "N"):
            client.patch("/v1/users/me", headers={**user, "Content-Type": MERGE_PATCH},
                         content=json.dumps({"lastName": name}))
        for path in ("users", "audit", "projections", "projections/statistics", "statistics",
                     "events?follow=false", "log/checkpoint", "log/tile/0/000.p/1",
                     f"users/{person.id}/history", f"users/{person.id}/export",
                     f"users/{person.id}"):
            client.get(f"/v1/{path}", headers=operator)
        client.get("/readyz")


@pytest.mark.parametrize("table", TABLES)
def test_extremes_of(copy, table):
    """One value after the other, with nothing in the tables that refuses any."""
    copy.rows(UNBOUND)
    copy.rows("update rebuilds set state = 'folding', in_service = true, held_until = '-infinity'")
    copy.rows("insert into rebuild_ranges (rebuild_id, number, done) "
              "select rebuild_id, 1, true from rebuilds")
    died = []
    service = Service(copy.url).start()
    try:
        key = service.api_key("users:read", "audit:read", "events:read", "projections:read")
        for name, column, kind in writable(copy):
            for value in extremes(kind) if name == table else ():
                undo = spoil(copy, table, column, kind, value)
                if undo is None:
                    continue
                try:
                    ask_for_everything(service, copy.person, key)
                    result = jejak("verify", "--json", url=copy.url, timeout=30)
                    assert result.returncode in (0, 1), result.stderr
                    assert json.loads(result.stdout)
                    assert service.running, service.stderr()
                except Exception as error:
                    died.append(f"{column} = {value}: {error!r:.1500}")
                    if not service.running:
                        died.append(service.stderr()[-1500:])
                undo()
                if not service.running:
                    service.restart()
    finally:
        service.close()
    assert not died, "\n".join(died)


def test_no_table_is_left_out(log):
    # A table of before is one of those that are tried.
    tables = {table.removesuffix("_previous") for table, _, _ in writable(log)}
    assert tables <= set(TABLES)


EVENT = ("insert into events (position, recorded_at, user_id, event_id, version, stream, schema, "
         "actor_kind, type, changed, payload, payload_sha256) values ({position}, now(), "
         "gen_random_uuid(), gen_random_uuid(), {version}, 1, 1, 3, 'X', {changed}, '', '')")


@pytest.mark.parametrize("statement", [
    "update notary set size = -9223372036854775808",
    "update notary set size = 4611686018427387904",
    EVENT.format(position=2**63 - 1, version=1, changed="'{}'"),
    EVENT.format(position=999, version=2**31 - 1, changed="'{}'"),
    EVENT.format(position=999, version=1, changed="'[1:2][16:16]={{a},{b}}'"),
    EVENT.format(position=999, version=1, changed="'[2:2]={a}'"),
    EVENT.format(position=999, version=1, changed="array[null]::text[]"),
    "update projections set position = -9223372036854775808 where name = 'statistics'",
    "update rebuilds set snapshot_position = 9223372036854775807",
    "update rebuilds set snapshot_position = 9, caught_up = 8",
    "update rebuilds set workers = 0",
    "update current_users set version = 2147483647",
    "update current_users set access_version = 2147483647",
    "insert into tree_tiles values (32767, 1, decode(repeat('00', 8192), 'hex'))",
    "insert into tree_tiles values (1, -1, decode(repeat('00', 8192), 'hex'))",
    "insert into tree_edge values (-1, '')",
    EVENT.format(position=999, version=1, changed="'{}'").replace("now()", "'infinity'"),
    "insert into log_origins values (2147483647, 'localhost/x+00000000+AA==', now())",
])
def test_the_tables_refuse(log, statement):
    with log.connect() as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute(f"set role {SERVICE_ROLE}")
        connection.execute(statement)


def test_a_size_beyond_the_log_is_told(copy):
    copy.rows(UNBOUND)
    copy.rows("delete from tree_tiles")
    for size in (-1, 2**62, 2**63 - 1):
        copy.rows("update notary set size = %s", size)
        report = json.loads(jejak("verify", "--json", url=copy.url).stdout)
        assert report["first"][0]["problem"] == "size-impossible"


@pytest.mark.parametrize("statement", [
    EVENT.format(position=2**63 - 1, version=1, changed="'{}'"),
    EVENT.format(position=2**62 - 1, version=1, changed="'{}'"),
    "update current_users set access_version = 2147483647",
])
def test_no_number_is_left_for_an_event(copy, statement):
    """What an operator has to mend is no mistake of the service's."""
    if "2147483647" in statement or str(2**63 - 1) in statement:
        copy.rows(UNBOUND)
    copy.rows(statement)
    with Service(copy.url) as service, http(service) as client:
        answer = client.post(
            "/v1/sessions", json={"email": copy.person.email, "password": PASSWORD})
        problem(answer, 503, "unavailable")
        assert "leaves no number for an event" in service.stderr()


@pytest.mark.parametrize("parameters", ["m=8,t=4294967295", "m=4194304,t=2", "m=77825,t=2"])
def test_a_hash_that_costs_too_much_is_nobodys(copy, parameters):
    salt, hashed = "c29tZXNhbHRzb21lc2FsdA", "A" * 43
    copy.rows("update credentials set password_hash = %s where user_id = %s",
              f"$argon2id$v=19$m={parameters.removeprefix('m=')},p=1${salt}${hashed}",
              copy.person.id)
    with Service(copy.url) as service, http(service, timeout=10) as client:
        # Once for each thread that hashes, and once more.
        for _ in range(9):
            answer = client.post(
                "/v1/sessions", json={"email": copy.person.email, "password": PASSWORD})
            problem(answer, 401, "invalid-credentials")
        assert resident_bytes(service.process.pid) < 1 << 28


def test_a_lease_without_end_holds_up_no_follower(copy):
    copy.rows("update projection_runner set held_until = 'infinity', holder = gen_random_uuid()")
    with Service(copy.url) as service, http(service) as client:
        answer = client.post(
            "/v1/sessions", json={"email": copy.person.email, "password": PASSWORD})
        assert answer.status_code == 201
        until("the followers go on", lambda: copy.value(CAUGHT_UP))
