"""I10: whatever is changed behind the log's back, `jejak verify` says where and what it is."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest
from support.client import NEW_PASSWORD, PASSWORD, signed_in
from support.load import Load
from support.postgres import Database
from support.service import Service, binary, environment, jejak
from support.wait import until

# The first leaves, which fill a tile; the log of these tests has some more.
WIDTH = 256
SIGNED = "select coalesce(max(size), 0) = (select max(position) from events) from checkpoints"


@pytest.fixture(scope="module")
def log(postgres, tmp_path_factory):
    """A signed log of some people, with a service that has stopped: only a test writes to it."""
    database = postgres.create_database()
    database.file = tmp_path_factory.mktemp("verify") / "checkpoint"
    with Service(database.url, env={"JEJAK_CHECKPOINT_FILE": database.file}) as service:
        people = [signed_in(service, firstName="Ada", attributes={"weight": 60}) for _ in range(8)]
        for number, person in enumerate(people):
            for weight in range(30 + number):
                assert person.patch({"attributes": {"weight": 61 + weight}}).status_code == 200
            until("what was appended is signed", lambda: database.value(SIGNED))
        assert people[1].change_password(
            oldPassword=PASSWORD, newPassword=NEW_PASSWORD,
            confirmPassword=NEW_PASSWORD).status_code == 200
        assert people[2].sign_in("a wrong one").status_code == 401
        gone = signed_in(service, firstName="Grace")
        assert gone.patch({"firstName": "Edsger"}, key="a-key").status_code == 200
        answer = gone.request("DELETE", "/v1/users/me", json={"password": PASSWORD})
        assert answer.status_code in (200, 204), answer.text
        until("all is signed", lambda: database.value(SIGNED))
    database.people, database.erased = sorted(person.id for person in people), gone.id
    assert WIDTH < database.value("select max(position) from events") < 2 * WIDTH
    yield database
    database.drop()


@pytest.fixture
def copy(postgres, log):
    """The log, for one test to spoil."""
    name = f"{log.name}_copy"
    with postgres.connect("postgres") as connection:
        connection.execute(f'create database "{name}" template "{log.name}"')
    database = Database(postgres, name)
    database.people, database.erased, database.file = log.people, log.erased, log.file
    yield database
    database.drop()


def verify(database, *arguments):
    """Exit status and report of `jejak verify`."""
    result = jejak("verify", "--json", *arguments, url=database.url)
    assert result.stdout, result.stderr
    return result.returncode, json.loads(result.stdout)


def found(database, *arguments):
    """What is wrong, each as its place and the problem; something is."""
    status, report = verify(database, *arguments)
    assert status == 1 and report["findings"] > 0, report
    if report["findings"] <= 100:
        assert len(report["first"]) == report["findings"]
    for finding in report["first"]:
        assert finding.pop("description")
    return [(next(value for key, value in finding.items() if key != "problem"),
             finding["problem"]) for finding in report["first"]]


def position(database, user, kind, nth=0):
    """Where the nth event of that type of a user is."""
    return database.rows(
        "select position from events where user_id = %s and type = %s order by position",
        user, kind)[nth][0]


def test_a_clean_log_passes(log):
    status, report = verify(log, "--checkpoint", log.file)
    assert (status, report["findings"], report["first"]) == (0, 0, [])
    assert report["users"] == 9
    assert report["position"] == report["tree"] == log.value("select max(position) from events")
    assert report["key"] == log.value("select verifier_key from log_origins")
    assert report["outside"]
    for workers in (1, 2, 7):
        assert verify(log, "--workers", workers) == (0, {**report, "outside": False})
    result = jejak("verify", "--checkpoint", log.file, url=log.url)
    assert result.returncode == 0
    assert result.stdout.endswith("nothing is wrong\n")


def test_a_verification_without_a_checkpoint_from_outside_says_so(log):
    result = jejak("verify", url=log.url)
    assert result.returncode == 0
    assert "nothing is wrong\nnote: no checkpoint from outside" in result.stdout


def test_an_empty_log_passes(fresh_database):
    assert jejak("migrate", url=fresh_database.url).returncode == 0
    status, report = verify(fresh_database)
    assert (status, report["position"], report["users"]) == (0, 0, 0)


def test_a_log_that_is_written_to_passes(fresh_database):
    """A snapshot is what it is, whatever service and notary do meanwhile."""
    with Service(fresh_database.url) as service:
        load = Load(service, connections=4, people=4)
        load.start()
        try:
            for _ in range(4):
                load.wait_acknowledged(20)
                status, report = verify(fresh_database)
                assert status == 0, report
        finally:
            load.stop()


def test_a_log_that_has_been_rebuilt_passes(copy):
    assert jejak("projection", "rebuild", "current_users", url=copy.url).returncode == 0
    assert verify(copy)[0] == 0


def test_every_table_is_looked_at(log):
    text = (Path(__file__).parents[2] / "Sources/Verification/StoredSchema.swift").read_text()
    assert {row[0] for row in log.rows(
        "select tablename from pg_tables where schemaname = 'public'")} == set(
            re.findall(r'"([a-z_]+)"', text.split("static let tables = [")[1].split("]")[0]))


def test_a_bit_of_a_payload(copy):
    at = position(copy, copy.people[3], "ProfileUpdated", 4)
    copy.rows("update events set payload = set_bit(payload, 77, 1 - get_bit(payload, 77)) "
              "where position = %s", at)
    assert found(copy) == [(at, "payload-digest"), (at, "unreadable")]
    result = jejak("verify", url=copy.url)
    assert result.returncode == 1
    assert f"position {at}: the payload is not the one" in result.stdout


def test_a_payload_that_is_gone(copy):
    at = position(copy, copy.people[3], "ProfileUpdated", 4)
    copy.rows("update events set payload = null where position = %s", at)
    assert found(copy)[0] == (at, "payload-missing")


def test_versions_with_a_gap(copy):
    at = position(copy, copy.people[3], "ProfileUpdated", 4)
    copy.rows("update events set version = version + 1000 where position = %s", at)
    places = found(copy)
    assert places[0] == (at, "event-differs")
    # The event itself, and the one after the gap that it left.
    assert {place for place, problem in places if problem == "version"} == {
        at, position(copy, copy.people[3], "ProfileUpdated", 5)}


def test_credentials_that_were_exchanged(copy):
    first, second = copy.people[:2]
    copy.rows(
        "update credentials c set password_hash = o.password_hash, commitment = o.commitment "
        "from credentials o where c.user_id = any (%s) and o.user_id = any (%s) "
        "and c.user_id <> o.user_id", [first, second], [first, second])
    assert found(copy) == [(first, "password-differs"), (second, "password-differs")]


def test_a_hash_with_its_commitment(copy):
    victim = copy.people[1]
    copy.rows("update credentials set password_hash = 'mine', commitment = sha256('mine') "
              "where user_id = %s", victim)
    assert found(copy) == [(victim, "password-differs")]


def test_a_hash_alone_and_a_commitment_alone(copy):
    first, second = copy.people[:2]
    copy.rows("update credentials set password_hash = 'mine' where user_id = %s", first)
    copy.rows("update credentials set commitment = sha256('mine') where user_id = %s", second)
    assert found(copy) == [(first, "password-differs"), (first, "commitment-differs"),
                           (second, "commitment-differs")]


def test_credentials_that_are_gone_or_of_nobody(copy):
    first, stranger = copy.people[0], "ffffffff-ffff-4fff-bfff-ffffffffffff"
    copy.rows("insert into credentials select %s, password_hash, commitment, changed_at "
              "from credentials where user_id = %s", stranger, first)
    copy.rows("delete from credentials where user_id = %s", first)
    assert found(copy) == [(first, "password-missing"), (stranger, "password-unfounded")]


def test_the_former_password_that_was_put_back(copy, log):
    """A hash that the log knew once is not the one that it commits to now."""
    changed = log.rows("select user_id::text from events where type = 'PasswordChanged'")[0][0]
    copy.rows("update credentials set password_hash = 'old', commitment = sha256('old') "
              "where user_id = %s", changed)
    status, report = verify(copy)
    assert status == 1
    assert str(position(copy, changed, "PasswordChanged")) in report["first"][0]["description"]


@pytest.mark.parametrize("column, value", [
    ("created_at", "created_at + interval '1 microsecond'"),
    ("updated_at", "updated_at + interval '1 microsecond'"),
    ("version", "version + 1"), ("access_version", "access_version + 1"), ("status", "2"),
    ("document", "replace(document::text, '41', '42')::bytea")])
def test_a_row_of_the_read_model_that_was_altered(copy, column, value):
    victim = copy.people[5]
    copy.rows(f"update current_users set {column} = {value} where user_id = %s", victim)
    assert found(copy) == [(victim, "row-differs")]


def test_a_row_too_many_and_one_too_few(copy):
    first, stranger = copy.people[0], "00000000-0000-4000-8000-000000000000"
    copy.rows("insert into current_users select %s, created_at, updated_at, version, "
              "access_version, status, document from current_users where user_id = %s",
              stranger, first)
    copy.rows("delete from current_users where user_id = %s", first)
    assert found(copy) == [(stranger, "row-unfounded"), (first, "row-missing")]


def test_an_event_that_this_release_does_not_know(copy):
    at = position(copy, copy.people[3], "ProfileUpdated", 4)
    copy.rows("update events set type = 'FromTheFuture' where position = %s", at)
    assert found(copy) == [(at, "event-differs"), (at, "unreadable")]


# For each column another value that the table takes.
ALTERED = {
    "recorded_at": "recorded_at + interval '1 microsecond'",
    "user_id": "'ffffffff-ffff-4fff-bfff-ffffffffffff'",
    "event_id": "gen_random_uuid()",
    "actor_id": "gen_random_uuid()",
    "version": "version + 1000",
    "stream": "2",
    "schema": "2",
    "actor_kind": "3",
    "type": "'SignedIn'",
    "request_id": "'another'",
    "trace_id": "'another'",
    "changed": "'{attributes.height}'",
    "payload": "payload || '\\x00'::bytea",
    "payload_sha256": "sha256('another')",
}


def test_each_column_has_its_test(log):
    columns = {row[0] for row in log.rows(
        "select column_name from information_schema.columns where table_name = 'events' "
        "and table_schema = 'public'")}
    assert columns == ALTERED.keys() | {"position"}


@pytest.mark.parametrize("column", ALTERED)
@pytest.mark.parametrize("tile", [0, 1])
def test_a_column(copy, column, tile):
    """In a tile that is full, and in one that is not."""
    at = copy.value(
        "select position from events where type = 'ProfileUpdated' and position > %s "
        "and user_id = any (%s) order by position offset 3 limit 1", tile * WIDTH, copy.people)
    copy.rows(f"update events set {column} = {ALTERED[column]} where position = %s", at)
    place, problem = found(copy)[0]
    assert place == at
    assert problem == ("payload-digest" if column == "payload" else "event-differs")


def test_a_column_without_an_actor(copy):
    """The entry has zeros for none; nobody may have them."""
    at = copy.value("select min(position) from events where actor_id is null")
    copy.rows("update events set actor_id = '00000000-0000-0000-0000-000000000000' "
              "where position = %s", at)
    assert found(copy) == [(at, "event-differs")]


def test_a_row_that_was_removed(copy):
    at = position(copy, copy.people[3], "ProfileUpdated", 4)
    copy.rows("delete from events where position = %s", at)
    assert found(copy)[0] == (at, "missing")


def test_two_rows_that_were_swapped(copy):
    first = position(copy, copy.people[3], "ProfileUpdated", 4)
    second = position(copy, copy.people[3], "ProfileUpdated", 9)
    copy.rows("update events set position = 1000000 where position = %s", first)
    copy.rows("update events set position = %s where position = %s", first, second)
    copy.rows("update events set position = %s where position = 1000000", second)
    places = found(copy)
    assert {place for place, problem in places if problem == "event-differs"} == {first, second}
    assert places[0] == (first, "time-falls") or places[0] == (first, "event-differs")


def test_a_row_that_was_added_in_between(copy):
    at = position(copy, copy.people[3], "ProfileUpdated", 4)
    copy.rows("update events set position = position + 1000000 where position > %s", at)
    copy.rows("update events set position = position - 999999 where position > 1000000")
    copy.rows(
        "insert into events select %s, recorded_at, user_id, gen_random_uuid(), actor_id, "
        "version + 1000, stream, schema, actor_kind, type, request_id, trace_id, changed, payload, "
        "payload_sha256 from events where position = %s", at + 1, at)
    places = found(copy)
    assert places[0] == (at + 1, "event-differs")
    assert (at + 1, "version") in places


def test_a_row_that_was_added_at_the_end(copy):
    """The tree knows nothing of it yet, but it has no payload that opens there."""
    head = copy.value("select max(position) from events")
    victim = copy.people[3]
    copy.rows(
        "insert into events select %s, now(), user_id, gen_random_uuid(), actor_id, version + 1, "
        "stream, schema, actor_kind, type, request_id, trace_id, changed, payload, payload_sha256 "
        "from events where user_id = %s and stream = 1 order by version desc limit 1",
        head + 1, victim)
    assert found(copy) == [(head + 1, "unreadable")]


def test_the_tail_that_was_cut_off(copy):
    head = copy.value("select max(position) from events")
    copy.rows("delete from events where position > %s", head - 5)
    status, report = verify(copy)
    assert status == 1
    assert report["first"][0]["position"] == head - 4
    assert report["first"][0]["description"] == "there is no event, nor at the 4 after it"


def test_the_tail_that_was_cut_off_with_all_that_knew_of_it(copy, log):
    """As yesterday's backup that is restored: only what was kept outside can tell."""
    sizes = [row[0] for row in copy.rows("select size from checkpoints order by size")]
    yesterday = sizes[-2]
    edge = [copy.value("select hashes from tree_edge where level = %s", n) for n in (0, 1)]
    copy.rows("delete from events where position > %s", yesterday)
    copy.rows("delete from checkpoints where size > %s", yesterday)
    copy.rows("update notary set size = %s", yesterday)
    if yesterday < WIDTH:
        leaves = copy.value("select hashes from tree_tiles where level = 0")
        copy.rows("delete from tree_tiles")
        copy.rows("delete from tree_edge where level = 1")
    else:
        leaves = edge[0]
    copy.rows("update tree_edge set hashes = %s where level = 0",
              bytes(leaves)[:32 * (yesterday % WIDTH)])
    copy.rows("update current_users u set version = v.version from (select user_id, "
              "max(version) as version from events where stream = 1 group by 1) v "
              "where u.user_id = v.user_id")
    size = log.value("select max(size) from checkpoints")
    outside = [finding for finding in found(copy, "--checkpoint", log.file) if finding[0] == size]
    assert outside == [(size, "file-ahead")]
    assert not any(problem in ("event-differs", "missing", "tile-differs", "hash-differs",
                               "root-differs") for _, problem in found(copy))


def test_positions_that_were_numbered_anew(copy):
    head = copy.value("select max(position) from events")
    copy.rows("update events set position = position + 1000000 where position > %s", head - 5)
    places = found(copy)
    assert places[0] == (head - 4, "missing")
    assert [place for place, problem in places if problem == "position-beyond"] == [
        head - 4 + 1000000 + n for n in range(5)]


@pytest.mark.parametrize("place", ["user", "version", "type"])
def test_a_sealed_payload_that_was_moved(copy, place):
    """With its digest, so that only the tree and the seal know."""
    at = position(copy, copy.people[3], "ProfileUpdated", 4)
    origin = {
        "user": position(copy, copy.people[4], "ProfileUpdated", 4),
        "version": position(copy, copy.people[3], "ProfileUpdated", 5),
        "type": position(copy, copy.people[3], "SignedIn"),
    }[place]
    copy.rows(
        "update events e set payload = o.payload, payload_sha256 = o.payload_sha256 "
        "from events o where e.position = %s and o.position = %s", at, origin)
    assert found(copy) == [(at, "event-differs"), (at, "unreadable")]


def test_a_key_that_was_moved_to_another_user(copy):
    first, second = copy.people[3:5]
    copy.rows("update user_keys k set wrapped_key = o.wrapped_key from user_keys o "
              "where k.user_id = %s and o.user_id = %s", first, second)
    places = found(copy)
    assert {problem for _, problem in places} == {"unreadable"}
    assert len(places) == copy.value("select count(*) from events where user_id = %s", first)


def test_a_payload_of_an_erased_user_that_was_put_back(copy):
    at = position(copy, copy.erased, "ProfileUpdated")
    copy.rows("update events set payload = 'x' where position = %s", at)
    assert {problem for place, problem in found(copy) if place == at} == {
        "payload-digest", "unreadable", "payload-remains"}


@pytest.mark.parametrize("table, row, problem", [
    ("user_keys", "%(user)s, master_key, wrapped_key", "remains"),
    ("sessions", "gen_random_uuid(), %(user)s, sha256('mine'), created_at, last_used_at, "
                 "expires_at, address, agent", "remains"),
    ("email_claims", "'mine@example.com', %(user)s", "remains"),
    ("directory", "%(user)s, 1000000, registered_at, email, first_name, last_name, status, words",
     "remains"),
    ("credentials", "%(user)s, password_hash, commitment, changed_at", "password-unfounded"),
    ("current_users", "%(user)s, created_at, updated_at, version, access_version, status, document",
     "row-unfounded")])
def test_what_an_erased_user_may_not_have(copy, table, row, problem):
    with copy.connect() as connection:
        connection.execute(
            f"insert into {table} select {row} from {table} limit 1", {"user": copy.erased})
    assert found(copy) == [(copy.erased, problem)]


def test_an_answer_of_an_erased_user_that_was_kept(copy):
    copy.rows("insert into command_receipts (receipt_key, request_sha256, answer, created_at, "
              "user_id) values ('mine', '', '', now(), %s)", copy.erased)
    assert found(copy) == [(copy.erased, "remains")]


def test_an_erasure_that_was_taken_back_or_made_up(copy):
    other = copy.people[0]
    at = copy.value("select position from erasures")
    copy.rows("update erasures set position = position - 1")
    assert found(copy) == [(copy.erased, "erasure-unfounded")]
    copy.rows("update erasures set position = position + 1, erased_at = erased_at + interval '1s'")
    assert found(copy) == [(copy.erased, "erasure-unfounded")]
    copy.rows("delete from erasures")
    assert found(copy) == [(copy.erased, "erasure-missing")]
    copy.rows("insert into erasures select %s::uuid, position, recorded_at from events "
              "where position = %s union all select %s::uuid, 1, now()", copy.erased, at, other)
    assert found(copy) == [(other, "erasure-unfounded")]


def test_a_key_of_nobody(copy):
    stranger = "00000000-0000-4000-8000-000000000000"
    copy.rows("insert into user_keys select %s, master_key, wrapped_key from user_keys limit 1",
              stranger)
    assert found(copy) == [(stranger, "key-unfounded")]


def test_claims_that_are_not_of_their_users(copy):
    first, second, stranger = *copy.people[:2], "ffffffff-ffff-4fff-bfff-ffffffffffff"
    copy.rows("update email_claims set email = 'x@example.com' where user_id = %s", first)
    copy.rows("delete from email_claims where user_id = %s", second)
    copy.rows("insert into email_claims values ('y@example.com', %s)", stranger)
    assert found(copy) == [(first, "claim-differs"), (second, "claim-missing"),
                           (stranger, "claim-unfounded")]


def test_a_second_claim(copy):
    copy.rows("insert into email_claims values ('zz@example.com', %s)", copy.people[3])
    assert (copy.people[3], "claim-unfounded") in found(copy)


def unbound(database):
    """Lets the tables of the tree hold what their bounds forbid."""
    for table, constraint in [("checkpoints", "size_is_bounded"), ("tree_edge", "level_is_bounded"),
                              ("tree_tiles", "place_is_bounded")]:
        database.rows(f"alter table {table} drop constraint {table}_{constraint}")


@pytest.mark.parametrize("origin, size, problem", [
    (77, 5, "checkpoint-unfounded"), (77, -5, "checkpoint-unfounded"),
    (1, -5, "checkpoint-ahead")])
def test_a_checkpoint_that_is_garbage(copy, origin, size, problem):
    unbound(copy)
    with copy.connect() as connection:
        # No foreign key is looked at.
        connection.execute("set session_replication_role = replica")
        connection.execute("insert into checkpoints select %s, %s, root, note, signed_at "
                           "from checkpoints order by size limit 1", [origin, size])
    assert found(copy) == [(size, problem)]


@pytest.mark.parametrize("statement, name", [
    ("alter table credentials enable row level security", "credentials"),
    ("create policy p on events using (true)", "events"),
    ("create rule r as on insert to events do instead nothing", "events"),
    ("create function f() returns trigger language plpgsql as 'begin return null; end'; "
     "create trigger t before insert on events for each row execute function f()", "events"),
    ("create table child () inherits (events)", "events"),
    ("alter table log_head disable trigger log_head_is_never_updated", "log_head"),
    ("drop trigger log_head_is_never_updated on log_head", "log_head"),
    ("alter table credentials drop constraint credentials_pkey", "credentials"),
    ("alter table sessions rename to s; create view sessions as select * from s", "sessions"),
    ("alter table api_keys rename to k", "api_keys"),
    ("alter function add_user_key reset all", "add_user_key"),
    ("alter function add_user_key security invoker", "add_user_key"),
    ("create function use_master_key(text) returns void language sql as ''", "use_master_key"),
    ("create or replace function use_master_key(number integer, secret bytea) returns void "
     "language sql security definer as 'update sealing set is_complete = false'",
     "use_master_key")])
def test_a_table_or_function_that_was_altered(copy, statement, name):
    with copy.connect() as connection:
        connection.execute(statement)
    assert (name, "schema-differs") in found(copy)


def test_an_event_after_the_erasure(copy):
    head = copy.value("select max(position) from events")
    copy.rows(
        "insert into events select %s, now(), user_id, gen_random_uuid(), actor_id, version + 1, "
        "stream, schema, actor_kind, type, request_id, trace_id, changed, payload, payload_sha256 "
        "from events where user_id = %s and stream = 2 order by version desc limit 1",
        head + 1, copy.erased)
    assert found(copy) == [(head + 1, "after-erasure")]


def flip(column="hashes", byte=40):
    return f"{column} = set_byte({column}, {byte}, 255 - get_byte({column}, {byte}))"


@pytest.mark.parametrize("statement, place, problem", [
    (f"update tree_tiles set {flip()} where level = 0", "0/000", "tile-differs"),
    (f"update tree_edge set {flip()} where level = 0", "0/001", "tile-differs"),
    (f"update tree_edge set {flip(byte=4)} where level = 1", "1/000", "hash-differs"),
    ("delete from tree_tiles where level = 0", "0/000", "tile-missing"),
    ("delete from tree_edge where level = 0", "0/001", "tile-missing"),
    ("delete from tree_edge where level = 1", "1/000", "tile-missing"),
    ("update tree_edge set hashes = substr(hashes, 33) where level = 0", "0/001", "tile-missing"),
    ("insert into tree_tiles select 1, 0, hashes from tree_tiles", "1/000", "tile-unfounded"),
    ("insert into tree_tiles select 0, 1, hashes from tree_tiles", "0/001", "tile-unfounded"),
    ("insert into tree_tiles select 3, 5, hashes from tree_tiles", "3/005", "tile-unfounded"),
    ("insert into tree_edge select 2, hashes from tree_edge where level = 1", "2/000",
     "tile-unfounded"),
    ("insert into tree_edge values (32767, '\\x00')", "32767/000", "tile-unfounded"),
    ("insert into tree_edge values (2, '')", "2/000", "tile-unfounded"),
    ("insert into tree_edge values (-1, '')", "-1/000", "tile-unfounded"),
    ("update tree_edge set hashes = hashes || '\\x00' where level = 1", "1/000", "tile-unfounded"),
    ("insert into tree_tiles select -1, 0, hashes from tree_tiles", "-1/000", "tile-unfounded"),
    ("insert into tree_tiles select 1, -1, hashes from tree_tiles", "1/-1", "tile-unfounded")])
def test_a_tile(copy, statement, place, problem):
    unbound(copy)
    copy.rows(statement)
    assert found(copy)[0] == (place, problem)
    assert not any(isinstance(where, int) and what == "event-differs"
                   for where, what in found(copy))


def node(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(hashes):
    """The hash above these, by RFC 6962."""
    if len(hashes) == 1:
        return hashes[0]
    half = 1 << (len(hashes) - 1).bit_length() - 1
    return node(root(hashes[:half]), root(hashes[half:]))


def test_a_log_and_its_tree_that_were_both_made_anew(copy):
    """Whoever can write every table can make them fit each other, but can't sign them."""
    leaves = bytes(copy.value("select hashes from tree_tiles where level = 0"))
    at = position(copy, copy.people[0], "ProfileUpdated", 20)
    copy.rows("update events set request_id = 'another' where position = %s", at)
    # The leaf of the altered event, by the entry's description.
    row = copy.rows(
        "select int8send(position) "
        "|| int8send((extract(epoch from recorded_at) * 1000000)::bigint) || uuid_send(user_id) "
        "|| uuid_send(event_id) || substr(int2send(stream), 2) "
        "|| int4send(version) || int2send(schema) || substr(int2send(actor_kind), 2) "
        "|| coalesce(uuid_send(actor_id), decode(repeat('00', 16), 'hex')), "
        "payload_sha256, type, request_id, trace_id, changed "
        "from events where position = %s", at)[0]
    details = b"".join(
        b"\xff" * 4 if text is None else len(text.encode()).to_bytes(4) + text.encode()
        for text in row[2:5])
    details += len(row[5]).to_bytes(4) + b"".join(
        len(name.encode()).to_bytes(4) + name.encode() for name in row[5])
    entry = b"\x01" + bytes(row[0]) + hashlib.sha256(details).digest() + bytes(row[1])
    leaf = hashlib.sha256(b"\x00" + entry).digest()
    hashes = [leaves[n:n + 32] for n in range(0, len(leaves), 32)]
    hashes[at - 1] = leaf
    copy.rows("update tree_tiles set hashes = %s where level = 0", b"".join(hashes))
    copy.rows("update tree_edge set hashes = %s where level = 1", root(hashes))
    sizes = [row[0] for row in copy.rows(
        "select size from checkpoints where size >= %s order by size", at)]
    assert sizes
    assert found(copy) == [(size, "root-differs") for size in sizes]


@pytest.mark.parametrize("column, problem", [
    (flip("root", 3), "note-differs"),
    ("note = replace(note, chr(10) || chr(10), chr(10) || 'more' || chr(10) || chr(10))",
     "note-unsigned"),
    ("note = 'none'", "note-invalid"),
    ("note = o.note, root = o.root from (select note, root from checkpoints order by size "
     "offset 1 limit 1) o", "note-differs")])
@pytest.mark.parametrize("which", ["min", "max"])
def test_a_checkpoint(copy, column, problem, which):
    size = copy.value(f"select {which}(size) from checkpoints")
    copy.rows(f"update checkpoints set {column} where size = %s", size)
    assert found(copy) == [(size, problem)]


def test_a_checkpoint_that_says_more_than_there_is(copy):
    copy.rows("update checkpoints set size = size + 1000 where size = "
              "(select max(size) from checkpoints)")
    size = copy.value("select max(size) from checkpoints")
    assert found(copy) == [(size, "checkpoint-ahead")]


def test_a_checkpoint_that_was_removed(copy):
    size = copy.value("select max(size) from checkpoints")
    copy.rows("delete from checkpoints where size = %s", size)
    assert verify(copy)[0] == 0
    assert found(copy, "--checkpoint", copy.file) == [(size, "checkpoint-missing")]
    # The file that the service itself keeps is taken without being asked for.
    result = jejak("verify", url=copy.url, env={"JEJAK_CHECKPOINT_FILE": copy.file})
    assert result.returncode == 1
    assert f"checkpoint of {size} events: it was signed, and the database" in result.stdout


def test_a_key_that_was_exchanged(copy, tmp_path):
    """Whoever signs all anew with a key of their own is told by the key."""
    other = subprocess.run(
        [binary(), "checkpoint", "key", "--origin", "example.com/mine", "--signing-key-file",
         tmp_path / "key"], env=environment(), capture_output=True, text=True).stdout.strip()
    real = copy.value("select verifier_key from log_origins")
    copy.rows("update log_origins set verifier_key = %s", other)
    problems = dict((problem, place) for place, problem in found(copy))
    assert problems.keys() == {"key-differs", "note-unsigned"}
    assert "key-differs" not in dict(
        (problem, place) for place, problem in found(copy, "--key", other))
    copy.rows("update log_origins set verifier_key = %s", real)
    assert found(copy, "--key", other) == [(None, "key-differs")]


def test_a_checkpoint_of_another_log(copy, tmp_path, fresh_database):
    with Service(fresh_database.url, env={"JEJAK_CHECKPOINT_FILE": tmp_path / "other"}) as service:
        signed_in(service)
        until("it is signed", lambda: fresh_database.value(SIGNED))
    assert found(copy, "--checkpoint", tmp_path / "other") == [(2, "file-differs"), (
        2, "checkpoint-missing")]
    foreign = copy.file.read_text().replace("example.com/tests", "example.com/others")
    (tmp_path / "foreign").write_text(foreign)
    size = copy.value("select max(size) from checkpoints")
    assert found(copy, "--checkpoint", tmp_path / "foreign") == [(size, "file-unsigned")]
    (tmp_path / "none").write_text("nothing of the kind\n")
    result = jejak("verify", "--checkpoint", tmp_path / "none", url=copy.url)
    assert (result.returncode, result.stdout) == (1, "") and "no checkpoint" in result.stderr
    result = jejak("verify", "--checkpoint", tmp_path / "missing", url=copy.url)
    assert (result.returncode, result.stdout) == (1, "") and "missing" in result.stderr


def test_an_older_checkpoint_holds(log, tmp_path):
    for size, note in log.rows("select size, note from checkpoints order by size"):
        (tmp_path / f"{size}").write_text(note)
        assert verify(log, "--checkpoint", tmp_path / f"{size}")[0] == 0


def test_a_file_that_is_a_step_ahead(copy):
    """The service may be killed when the file is written and the database is not."""
    last, before = [row[0] for row in copy.rows(
        "select size from checkpoints order by size desc limit 2")]
    assert before > WIDTH
    edge = bytes(copy.value("select hashes from tree_edge where level = 0"))
    copy.rows("delete from checkpoints where size = %s", last)
    copy.rows("update notary set size = %s", before)
    copy.rows("update tree_edge set hashes = %s where level = 0", edge[:32 * (before - WIDTH)])
    status, report = verify(copy, "--checkpoint", copy.file)
    assert (status, report["tree"]) == (0, before), report
    copy.rows("update events set request_id = 'another' where position = %s", last)
    assert found(copy, "--checkpoint", copy.file) == [(last, "file-differs")]


def test_all_is_counted_and_the_first_hundred_are_named(copy):
    copy.rows("update events set payload = 'x' where type = 'ProfileUpdated'")
    events = copy.value("select count(*) from events where type = 'ProfileUpdated'")
    status, report = verify(copy)
    assert status == 1 and report["findings"] >= events > 100
    assert len(report["first"]) == 100
    places = [finding["position"] for finding in report["first"] if "position" in finding]
    assert places == sorted(places)
    assert places[0] == copy.value(
        "select min(position) from events where type = 'ProfileUpdated'")
    assert f"and {report['findings'] - 100} more\n" in jejak("verify", url=copy.url).stdout


def test_wrong_usage(log):
    for arguments in (["--key", "none"], ["--workers", "0"], ["--workers", "x"], ["--nonsense"],
                      ["extra"]):
        assert jejak("verify", *arguments, url=log.url).returncode == 2
