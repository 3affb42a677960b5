"""The audit across users and a person's history: filters, pages, exports, scopes."""

import csv
import http.client as http_client
import io
import json
import os
from itertools import pairwise

import pytest
from support import raw
from support.client import http, problem, signed_in
from support.log import events, head
from support.sealing import Opener, bulk
from support.service import Service, jejak
from support.wait import until

NDJSON, CSV = "application/x-ndjson", "text/csv"


class Auditor:
    """Somebody with an API key that may read the audit."""

    def __init__(self, service, *scopes):
        self.service, self.http = service, http(service)
        self.key = service.api_key(*(scopes or ["audit:read"]), name="the auditors")

    def get(self, path="/v1/audit", accept=None, **query):
        headers = {"Authorization": f"Bearer {self.key}"}
        if accept:
            headers["Accept"] = accept
        return self.http.get(path, headers=headers, params=query)

    def pages(self, path="/v1/audit", **query):
        """The entries of each page."""
        cursor = None
        while True:
            response = self.get(path, **query, **({"cursor": cursor} if cursor else {}))
            assert response.status_code == 200, response.text
            yield response.json()["items"]
            cursor = response.json()["next"]
            if cursor is None:
                return

    def all(self, path="/v1/audit", **query):
        return [entry for page in self.pages(path, limit=200, **query) for entry in page]


@pytest.fixture(scope="module")
def auditor(service):
    return Auditor(service)


def caught_up(database):
    """Waits until every event has its entry."""
    until("the entries are written", lambda: head(database) == database.value(
        "select coalesce(max(position), 0) from audit_entries"))


def test_an_entry_shows_everything(service, database, auditor):
    """G2: field, old, new, actor, session, address, agent, request id, trace id."""
    person = signed_in(service, firstName="Ada")
    answer = person.patch(
        {"firstName": "Grace", "attributes": {"height": 170.5}},
        **{"User-Agent": "a browser/1", "X-Request-Id": "request-7",
           "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
    assert answer.status_code == 200
    session = person.get("/v1/sessions").json()["items"][0]["id"]
    caught_up(database)
    position, recorded_at = database.rows(
        "select position, recorded_at from events order by position desc limit 1")[0]
    expected = {
        "position": position, "user": person.id, "version": 2, "stream": "profile",
        "type": "ProfileUpdated",
        "recordedAt": recorded_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "actor": {"kind": "user", "id": person.id},
        "source": {"address": "127.0.0.1", "agent": "a browser/1", "session": session,
                   "requestId": "request-7", "traceId": "0af7651916cd43dd8448eb211c80319c"},
        "changes": [{"field": "firstName", "old": "Ada", "new": "Grace"},
                    {"field": "attributes.height", "old": None, "new": 170.5}]}
    assert auditor.all(user=person.id, type="ProfileUpdated") == [expected]
    assert auditor.all(f"/v1/users/{person.id}/history", type="ProfileUpdated") == [expected]
    del expected["user"]
    assert person.history(type="ProfileUpdated") == [expected]


def test_every_filter_narrows(service, database, auditor):
    ada, bob = signed_in(service, firstName="Ada"), signed_in(service, firstName="Bob")
    assert ada.patch({"firstName": "A", "lastName": "B"}).status_code == 200
    assert bob.patch({"lastName": "C"}).status_code == 200
    caught_up(database)

    def found(**query):
        return [(entry["user"], entry["type"], entry["version"]) for entry in auditor.all(**query)]

    mine = found(user=ada.id)
    assert mine == [(ada.id, "ProfileUpdated", 2), (ada.id, "SignedIn", 1),
                    (ada.id, "UserRegistered", 1)]
    assert found(user=ada.id, order="asc") == mine[::-1]
    assert found(user=ada.id, stream="access") == [mine[1]]
    assert found(user=ada.id, stream="profile") == [mine[0], mine[2]]
    assert found(actor=bob.id, user=ada.id) == []
    assert found(actor=f"user:{ada.id}", field="lastName") == [mine[0]]
    assert found(actor=f"operator:{ada.id}") == []
    assert found(user=ada.id, field="lastName,email") == [mine[0], mine[2]]
    assert found(user=ada.id, type="SignedIn,UserRegistered", field="email") == [mine[2]]
    assert found(user=ada.id, field="password") == []
    assert found(user=ada.id, actor="system") == []
    times = {entry["type"]: entry["recordedAt"] for entry in auditor.all(user=ada.id)}
    assert found(user=ada.id, since=times["SignedIn"]) == mine[:2]
    assert found(user=ada.id, until=times["SignedIn"]) == [mine[2]]
    assert found(user=ada.id, since=times["SignedIn"], until=times["ProfileUpdated"]) == [mine[1]]
    assert found(user=ada.id, since="2020-01-01") == mine
    assert found(user=ada.id, until="2020-01-01") == found(user=ada.id, since="9999-12-31") == []
    assert ada.history(field="lastName") == ada.history(type="ProfileUpdated")
    assert len(ada.history(since=times["ProfileUpdated"])) == 1
    assert ada.history(until=times["ProfileUpdated"], actor=ada.id)[0]["type"] == "UserRegistered"


@pytest.mark.parametrize(("parameter", "value"), [
    ("user", "ada"), ("user", ""), ("actor", "ada"), ("actor", "key:x"), ("type", "Nothing"),
    ("type", ""), ("type", "SignedIn,"), ("field", ""), ("field", "a" * 201),
    ("field", "a%00b"), ("field", ",".join("abcdefghijklmnopqrstu")), ("since", "yesterday"),
    ("since", "2026-02-30"), ("until", "2026-11-30T10:00:00"), ("stream", "all"),
    ("order", "up"), ("limit", "0"), ("limit", "201"), ("cursor", "AAAA"), ("nonsense", "1")])
def test_a_bad_value_is_400_and_named(service, auditor, parameter, value):
    value = value.replace("%00", "\0")
    for path in ("/v1/audit", f"/v1/users/{signed_in(service).id}/history"):
        body = problem(auditor.get(path, **{parameter: value}), 400, "malformed-request")
        assert parameter in body["detail"]


def test_a_cursor_goes_on_in_its_own_list_alone(service, database, auditor):
    ada = signed_in(service, firstName="Ada")
    caught_up(database)
    cursor = auditor.get(user=ada.id, limit=1).json()["next"]
    assert auditor.get(user=ada.id, limit=5, cursor=cursor).json()["items"][0]["version"] == 1
    for other in ({}, {"user": ada.id, "order": "asc"}, {"user": ada.id, "type": "SignedIn"},
                  {"user": ada.id, "since": "2020-01-01"}, {"user": ada.id, "stream": "access"}):
        problem(auditor.get(cursor=cursor, **other), 400, "malformed-request")
    path = f"/v1/users/{ada.id}/history"
    problem(auditor.get(path, cursor=cursor), 400, "malformed-request")


def test_who_may_ask(service, person, auditor):
    assert auditor.get().status_code == 200
    paths = ("/v1/audit", f"/v1/users/{person.id}/history")
    with http(service) as client:
        for path in paths:
            answer = client.get(path)
            problem(answer, 401, "authentication-required")
            assert answer.headers["www-authenticate"].startswith("Bearer")
    other = Auditor(service, "users:write", "projections:write", "events:read")
    for path in paths:
        problem(person.get(path), 403, "forbidden")
        assert "audit:read" in problem(other.get(path), 403, "insufficient-scope")["detail"]
    problem(auditor.get("/v1/users/0198f0c2-0000-7000-8000-000000000000/history"), 404,
            "not-found")
    problem(auditor.get("/v1/users/me/history"), 403, "forbidden")


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages_repeat_and_miss_nothing_while_others_write(service, database, auditor, order):
    """G10: the entries of before are all there, once, in order, whatever comes meanwhile."""
    people = [signed_in(service) for _ in range(4)]
    caught_up(database)
    before = {row[0] for row in database.rows("select position from audit_entries")}
    seen = []
    for number, page in enumerate(auditor.pages(limit=7, order=order)):
        seen += [entry["position"] for entry in page]
        assert people[number % 4].patch({"firstName": f"Number {number}"}).status_code == 200
        if order == "asc" and before <= set(seen):
            break
    steps = [later - earlier for earlier, later in pairwise(seen)]
    assert all(step > 0 for step in steps) if order == "asc" else all(step < 0 for step in steps)
    assert before <= set(seen)


def test_a_history_is_read_your_write_on_another_instance(database, service):
    """G9: what one instance has answered is in the history that another gives at once."""
    person = signed_in(service, firstName="Ada")
    with Service(database.url) as other, http(other) as client:
        auditor = Auditor(other)
        for number in range(50):
            name = f"Name {number}"
            assert person.patch({"firstName": name}).status_code == 200
            answer = client.get("/v1/users/me/history", params={"limit": 1, "field": "firstName"},
                                headers={"Authorization": f"Bearer {person.token}"})
            assert answer.json()["items"][0]["changes"][0]["new"] == name
            answer = auditor.get(f"/v1/users/{person.id}/history", limit=1)
            assert answer.json()["items"][0]["changes"][0]["new"] == name
        until("the audit has it", lambda: auditor.get(user=person.id, limit=1)
              .json()["items"][0]["changes"][0]["new"] == name)


def test_an_export_holds_every_entry(service, database, auditor, ada):
    caught_up(database)
    expected = auditor.all(order="asc")
    answer = auditor.get(accept=NDJSON, order="asc")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == NDJSON
    assert answer.headers["content-disposition"].startswith('attachment; filename="jejak-audit-')
    assert [json.loads(line) for line in answer.text.splitlines()] == expected
    assert len(auditor.get(accept=NDJSON, limit=2).text.splitlines()) == 2
    newest = auditor.get(accept=NDJSON, limit=1).text
    assert json.loads(newest) == expected[-1]
    answer = auditor.get(accept=CSV, order="asc")
    assert answer.headers["content-type"].startswith("text/csv; charset=utf-8")
    lines = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    assert list(dict.fromkeys(int(line["position"]) for line in lines)) == [
        entry["position"] for entry in expected]
    changes = [(entry["position"], change["field"]) for entry in expected
               for change in entry["changes"]]
    assert [(int(line["position"]), line["field"]) for line in lines
            if line["field"] not in ("", "password")] == changes
    own = ada.get("/v1/users/me/history", headers={"Accept": NDJSON})
    assert [json.loads(line) for line in own.text.splitlines()] == ada.history()
    assert ada.get("/v1/users/me/history", headers={"Accept": CSV}).status_code == 200
    assert auditor.get(f"/v1/users/{ada.id}/history", accept=CSV).text.count("\r\n") == 8
    body = problem(auditor.get(accept=CSV, limit=0), 400, "malformed-request")
    assert "limit" in body["detail"]


def test_csv_holds_no_formula(service, database, auditor):
    """D7: a cell that a spreadsheet would run begins with an apostrophe."""
    values = ["=1+1", "+1", "-1+1", "@SUM(1)", "＝1+1", "a,b \"c\""]
    person = signed_in(service, firstName=values[0])
    for value in values[1:]:
        assert person.patch({"firstName": value}, **{"User-Agent": "=agent()"}).status_code == 200
    caught_up(database)
    text = auditor.get(accept=CSV, user=person.id, field="firstName", order="asc").text
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    names = [line["new"] for line in lines if line["field"] == "firstName"]
    assert names == ["'" + value for value in values[:-1]] + values[-1:]
    assert {line["agent"] for line in lines[2:]} == {"'=agent()"}
    for line in csv.reader(io.StringIO(text, newline="")):
        assert not any(cell and cell[0] in "=+-@\t\r＝＋－＠" for cell in line)


def test_the_best_liked_form_is_sent(service, person):
    path = "/v1/users/me/history"
    for accept, kind in [("*/*", "application/json"), ("application/*", "application/json"),
                         ("text/csv;q=0.5, application/x-ndjson", NDJSON),
                         ("application/json;q=0.1, text/*;q=0.2", CSV),
                         ("application/json, text/csv", "application/json"),
                         ("image/png", "application/json"), ("text/csv;q=0", "application/json")]:
        answer = person.get(path, headers={"Accept": accept})
        assert answer.headers["content-type"].split(";")[0] == kind, accept
        assert answer.headers["vary"] == "Accept"


@pytest.mark.parametrize("accept", ["application/json", NDJSON, CSV])
def test_head_has_the_headers_and_no_body(service, auditor, accept):
    for path in ("/v1/audit", "/v1/audit?limit=1"):
        answer = raw.once(
            service, raw.request("HEAD", path, token=auditor.key, Accept=accept), head_only=True)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(accept)
        assert answer.content == b""


def test_entries_of_an_operator_name_the_key(service, database, auditor, ada):
    """What a key did is found by its id, and shown with what it is called."""
    key = database.value("select key_id::text from api_keys where name = 'the auditors' limit 1")
    position = head(database) + 1
    payload = Opener(database).seal(
        ada.id, 1, 2, "UserSuspended", 1,
        '{"changes":[{"field":"status","old":"active","new":"suspended"}],"source":{}}')
    with database.connect() as connection:
        connection.execute("""
            with last as (select * from events order by position desc limit 1)
            insert into events (position, user_id, stream, version, event_id, type, schema,
              recorded_at, actor_kind, actor_id, changed, payload, payload_sha256)
            select position + 1, %s, 1, 2, gen_random_uuid(), 'UserSuspended', 1,
                   greatest(clock_timestamp(), recorded_at + interval '1 microsecond'), 2, %s,
                   '{status}', %s, sha256(%s) from last""", [ada.id, key, payload, payload])
        connection.execute("update current_users set version = 2 where user_id = %s", [ada.id])
    caught_up(database)
    found = auditor.all(actor=f"operator:{key}")
    assert [entry["position"] for entry in found] == [position]
    assert found[0]["actor"] == {"kind": "operator", "id": key, "name": "the auditors"}
    assert auditor.all(f"/v1/users/{ada.id}/history", actor=key)[0]["actor"] == found[0]["actor"]
    assert "name" not in ada.history(actor=key)[0]["actor"]
    assert events(database)[-1][6]["changes"] == found[0]["changes"]


def test_the_commands_filter_as_the_routes_do(service, database, auditor):
    person = signed_in(service, firstName="Ada")
    assert person.patch({"firstName": "=Grace", "lastName": "L"},
                        **{"User-Agent": "turned \u202e".encode()}).status_code == 200
    caught_up(database)

    def lines(*arguments):
        result = jejak(*arguments, url=database.url)
        assert (result.returncode, result.stderr) == (0, ""), result
        return result.stdout.splitlines()

    entries = auditor.all(order="asc")
    assert [json.loads(line) for line in lines("audit", "--json", "--all", "--order", "asc")] \
        == entries
    assert len(lines("audit", "--json", "--limit", 3)) == 3
    mine = [entry for entry in entries if entry["user"] == person.id]
    found = lines("audit", "--user", person.email, "--json", "--order", "asc")
    assert [json.loads(line) for line in found] == mine
    found = lines("audit", "--user", person.id, "--field", "lastName", "--since", "2020-01-01",
                  "--actor", f"user:{person.id}", "--type", "ProfileUpdated", "--json")
    assert [json.loads(line) for line in found] == [mine[-1]]
    found = lines("history", person.id, "--field", "lastName", "--json")
    assert [json.loads(line) for line in found] == [mine[-1]]
    assert lines("history", person.id, "--until", "2020-01-01") == []
    assert "'=Grace" in "\n".join(lines("history", person.id, "--csv"))
    text = "\n".join(lines("audit", "--user", person.id))
    assert f"user {person.id}" in text and "firstName" in text and "=Grace" in text
    assert "\u202e" not in text and "turned" in text
    for wrong in (["--type", "None"], ["--since", "now"], ["--json", "--csv"], ["--limit", "0"],
                  ["--all", "--limit", "1"], ["--order", "up"], ["--stream", "all"], ["x"]):
        assert jejak("audit", *wrong, url=database.url).returncode == 2, wrong
    assert jejak("audit", "--user", "nobody@example.org", url=database.url).returncode == 1


ENTRIES = int(os.environ.get("JEJAK_TEST_ENTRIES", "100000"))
# Events as the service writes them, with values long enough to be seen in memory.
TEXT = '{"changes":[],"source":{"agent":"' + "x" * 400 + '"}}'
MANY = """
with last as (select coalesce(max(position), 0) as position from events)
insert into events (position, user_id, stream, version, event_id, type, schema, recorded_at,
  actor_kind, changed, payload, payload_sha256)
select last.position + n, %s, 2, 1000 + n, gen_random_uuid(), 'SignInFailed', 1,
       now() + n * interval '1 microsecond', 3, '{}', payload, sha256(payload)
from last, sealed
"""


@pytest.fixture(scope="module")
def large(postgres):
    """A service whose audit is long, and somebody who may read it."""
    database = postgres.create_database()
    with Service(database.url, env={"JEJAK_LOOPS": 1}) as service:
        person = signed_in(service)
        auditor = Auditor(service)
        caught_up(database)
        with database.connect() as connection:
            bulk(connection, Opener(database), person.id, 1001, ENTRIES, "SignInFailed", TEXT)
            # Entries are made in the same transaction, so that nothing is left for the runner.
            connection.execute("select from projections for update")
            connection.execute(MANY, [person.id])
            connection.execute("""
                insert into audit_entries
                  select position, recorded_at, user_id, actor_id, version, stream, actor_kind,
                         type, changed from events e
                   where not exists (select from audit_entries a where a.position = e.position)""")
            connection.execute("""update projections set position = (select max(position)
                from events) where position is not null""")
        yield service, database, auditor
    database.drop()


def resident(service):
    """MiB of memory that the service has in use."""
    for line in open(f"/proc/{service.process.pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise AssertionError("the process tells no VmRSS")


# MiB that an export may add, whatever its length: here its text is over 100 MB.
MEMORY = 24


@pytest.mark.parametrize("accept", [NDJSON, CSV])
def test_an_export_takes_memory_that_does_not_grow_with_it(large, accept):
    service, database, auditor = large
    assert auditor.get(accept=accept, limit=2000).status_code == 200
    before, most, size, lines = resident(service), 0, 0, 0
    with auditor.http.stream("GET", "/v1/audit", headers={
            "Authorization": f"Bearer {auditor.key}", "Accept": accept}) as answer:
        assert answer.status_code == 200
        for number, piece in enumerate(answer.iter_bytes(1 << 16)):
            size += len(piece)
            lines += piece.count(b"\n")
            if number % 100 == 0:
                most = max(most, resident(service))
    assert lines == head(database) + (accept == CSV), (lines, size)
    assert size > 100 * ENTRIES
    assert most - before < MEMORY, (before, most)


def begin(service, auditor, accept, path="/v1/audit"):
    """An export whose header has come and whose body nobody reads yet."""
    connection = http_client.HTTPConnection(*service.address, timeout=60)
    connection.request("GET", path, headers={
        "Authorization": f"Bearer {auditor.key}", "Accept": accept})
    answer = connection.getresponse()
    assert answer.status == 200
    return connection, answer


def test_a_slow_reader_and_one_that_leaves_hold_up_nobody(large):
    service, _, auditor = large
    before = resident(service)
    slow, answer = begin(service, auditor, NDJSON)
    begin(service, auditor, NDJSON)[0].close()
    person = signed_in(service)
    assert person.patch({"firstName": "Ada"}).status_code == 200
    assert auditor.get(limit=1).status_code == 200
    assert len(auditor.get(accept=NDJSON, limit=5000).text.splitlines()) == 5000
    assert resident(service) - before < MEMORY
    # The slow one gets all the same, to the end.
    assert answer.read().count(b"\n") >= ENTRIES
    slow.close()


def test_an_export_holds_what_was_there_at_its_start(large):
    """Entries that come meanwhile are in no export that began before them."""
    service, database, auditor = large
    person = signed_in(service)
    caught_up(database)
    last = head(database)
    connection, answer = begin(service, auditor, NDJSON, "/v1/audit?order=asc")
    for number in range(20):
        assert person.patch({"firstName": f"Name {number}"}).status_code == 200
    caught_up(database)
    lines = answer.read().splitlines()
    connection.close()
    assert json.loads(lines[-1])["position"] == last
    assert len(lines) == last


def test_an_export_that_can_not_go_on_is_cut(large):
    """Once its key is revoked it ends as broken, not as complete."""
    service, database, _ = large
    auditor = Auditor(service)
    connection, answer = begin(service, auditor, CSV)
    database.rows("update api_keys set revoked_at = now() where created_at = "
                  "(select max(created_at) from api_keys) returning 1")
    with pytest.raises((http_client.IncompleteRead, ConnectionError)):
        answer.read()
    connection.close()
    problem(auditor.get(), 401, "authentication-required")
