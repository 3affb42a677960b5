"""Operators look after projections over HTTP."""

import contextlib
import json
import re
import secrets

import pytest
from support.client import field_errors, http, problem, signed_in
from support.log import check_all
from support.projections import append_poison
from support.service import Service, jejak
from support.wait import until

NO_ONE = "/v1/projections/directory/rebuilds/0198f0c2-0000-7000-8000-000000000000"


@pytest.fixture
def database(fresh_database):
    return fresh_database


@pytest.fixture
def alone(database):
    with Service(database.url) as service:
        yield service


class Operator:
    def __init__(self, alone, *scopes):
        key = alone.api_key(*scopes)
        self.http = http(alone)
        self.headers = {"Authorization": f"Bearer {key}"}

    def get(self, path, **headers):
        return self.http.get(path, headers=self.headers | headers)

    def post(self, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.post(path, json=body, headers=self.headers | headers)

    def rested(self, location):
        """The rebuild, when nobody is at it any more."""
        def look():
            rebuild = self.get(location).json()
            at_work = rebuild["state"] in ("done", "cancelled", "failed", "differs")
            return rebuild if at_work and not rebuild["isRunning"] else None
        return until(f"{location} has ended", look)


@pytest.fixture
def operator(alone):
    return Operator(alone, "projections:write")


def test_projections_are_listed(alone, operator):
    signed_in(alone)
    until("all followers hold every event", lambda: all(
        item["lag"] == 0 for item in operator.get("/v1/projections").json()["items"]))
    items = operator.get("/v1/projections").json()["items"]
    assert [item["name"] for item in items] == [
        "current_users", "audit_entries", "directory", "statistics"]
    one = operator.get("/v1/projections/directory")
    assert one.status_code == 200 and one.json()["state"] == "running"
    problem(operator.get("/v1/projections/nonsense"), 404, "not-found")
    problem(operator.get(NO_ONE), 404, "not-found")
    assert operator.get("/v1/projections/directory/rebuilds").json()["items"] == []


@pytest.mark.parametrize("name", ["current_users", "audit_entries", "directory", "statistics"])
def test_a_rebuild_is_run_by_the_service(alone, operator, database, name):
    people = [signed_in(alone, firstName="Ada") for _ in range(3)]
    until("the followers hold every event", lambda: operator.get(
        f"/v1/projections/{name}").json()["lag"] == 0)
    before = database.rows(f"select * from {name} order by 1")
    key = secrets.token_hex(8)
    answer = operator.post(f"/v1/projections/{name}/rebuilds", {"workers": 2},
                           Idempotency_Key=key)
    assert answer.status_code == 202, answer.text
    location = answer.headers["location"]
    again = operator.post(f"/v1/projections/{name}/rebuilds", {"workers": 2},
                          Idempotency_Key=key)
    assert again.json() == answer.json() and again.headers["idempotency-replayed"] == "true"
    rebuild = operator.rested(location)
    assert rebuild["state"] == "done", rebuild
    assert rebuild["workers"] == 2 and rebuild["differences"] == 0 and rebuild["percent"] == 100
    assert rebuild["requestedBy"] is not None
    assert database.rows(f"select * from {name} order by 1") == before

    rolled = operator.post(f"/v1/projections/{name}/rollback")
    assert rolled.status_code == 200, rolled.text
    until("the followers hold every event", lambda: operator.get(
        f"/v1/projections/{name}").json()["lag"] == 0)
    assert database.rows(f"select * from {name} order by 1") == before
    assert people[0].get().status_code == 200
    check_all(database)


def test_its_progress_is_streamed(alone, operator):
    for _ in range(3):
        signed_in(alone)
    answer = operator.post("/v1/projections/current_users/rebuilds", {"throttle": 2})
    location = answer.headers["location"]
    with operator.http.stream("GET", location, headers=operator.headers
                              | {"Accept": "text/event-stream"}) as stream:
        assert stream.headers["content-type"] == "text/event-stream"
        lines = [line for line in stream.iter_lines() if line]
    events = list(zip(lines[::2], lines[1::2], strict=True))
    assert events[-1][0] == "event: end"
    assert json.loads(events[-1][1].removeprefix("data: "))["state"] == "done"
    progress = [json.loads(data.removeprefix("data: ")) for _, data in events[:-1]]
    assert len(progress) >= 2
    assert all(step["eventsDone"] <= step["eventsTotal"] for step in progress)


def test_streams_of_progress_have_a_limit_and_end_with_their_key(database):
    with Service(database.url, env={"JEJAK_LOOPS": 1}) as alone, contextlib.ExitStack() as stack:
        operator = Operator(alone, "projections:write")
        for _ in range(50):
            signed_in(alone)
        answer = operator.post("/v1/projections/current_users/rebuilds", {"throttle": 1})
        location = answer.headers["location"]
        key = alone.api_key("projections:read")
        listed = jejak("apikey", "list", "--json", url=alone.database_url).stdout
        newest = re.findall(r'"id":\s*"([0-9a-f-]{36})"', listed)[-1]
        headers = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
        client = stack.enter_context(http(alone))
        streams = [stack.enter_context(client.stream("GET", location, headers=headers))
                   for _ in range(16)]
        assert all(stream.status_code == 200 for stream in streams)
        refused = client.get(location, headers=headers)
        problem(refused, 503, "unavailable")
        assert refused.headers["retry-after"]
        # The record itself is shown all the same, and so is all else.
        assert operator.get(location).status_code == 200
        assert jejak("apikey", "revoke", newest, url=alone.database_url).returncode == 0
        for stream in streams:
            assert "event: end" not in list(stream.iter_lines())
        assert operator.post(location + "/cancel").status_code == 202
        assert operator.rested(location)["state"] == "cancelled"


def test_it_is_paused_resumed_and_cancelled(alone, operator, database):
    for _ in range(3):
        signed_in(alone)
    answer = operator.post("/v1/projections/current_users/rebuilds", {"throttle": 1})
    location = answer.headers["location"]
    refused = operator.post("/v1/projections/current_users/rebuilds")
    assert problem(refused, 409, "rebuild-under-way")["rebuild"] == answer.json()["id"]
    assert refused.headers["location"] == location
    one = operator.get("/v1/projections/current_users").json()
    assert one["rebuild"]["id"] == answer.json()["id"] and one["rebuild"]["percent"] < 100
    assert operator.get("/v1/projections").json()["items"][1]["rebuild"] is None
    until("it folds", lambda: operator.get(location).json()["isRunning"])
    assert operator.post(location + "/pause").status_code == 202
    until("it pauses", lambda: not operator.get(location).json()["isRunning"])
    assert operator.get(location).json()["wanted"] == "pause"
    one = operator.get("/v1/projections/current_users").json()
    assert one["rebuild"]["waiting"] == "paused"
    assert operator.post(location + "/resume").status_code == 202
    until("it goes on", lambda: operator.get(location).json()["isRunning"])
    assert operator.post(location + "/cancel").status_code == 202
    assert operator.rested(location)["state"] == "cancelled"
    problem(operator.post(location + "/resume"), 409, "not-possible")
    problem(operator.post(location + "/pause"), 409, "not-possible")
    assert database.value("select to_regclass('current_users_rebuild')") is None
    problem(operator.post("/v1/projections/current_users/rollback"), 409, "not-possible")


@pytest.mark.parametrize("accepted_by", ["resume", "a new rebuild"])
def test_a_wrong_table_is_told_and_exchanged_only_where_that_is_accepted(
        alone, operator, database, accepted_by):
    person = signed_in(alone, firstName="Ada")
    database.rows("""
        update current_users set document = convert_to(replace(
          convert_from(document, 'UTF8'), 'Ada', 'Eve'), 'UTF8')""")
    answer = operator.post("/v1/projections/current_users/rebuilds")
    rebuild = operator.rested(answer.headers["location"])
    assert rebuild["state"] == "differs" and rebuild["differing"] == [person.id]
    assert person.get().json()["firstName"] == "Eve"
    location = answer.headers["location"]
    problem(operator.post(location + "/pause"), 409, "not-possible")
    if accepted_by == "resume":
        wrong = operator.post(location + "/resume", {"acceptDifferences": 1, "workers": 2})
        assert field_errors(problem(wrong, 422, "validation-failed")) == {
            "/acceptDifferences": "wrong-type", "/workers": "unknown-field"}
        answer = operator.post(location + "/resume", {"acceptDifferences": True})
        assert answer.status_code == 202 and answer.json()["acceptDifferences"] is True
    else:
        assert jejak("projection", "cancel", "current_users", url=database.url).returncode == 0
        answer = operator.post("/v1/projections/current_users/rebuilds",
                               {"acceptDifferences": True})
        location = answer.headers["location"]
    assert operator.rested(location)["state"] == "done"
    assert person.get().json()["firstName"] == "Ada"


def test_a_dry_run_that_fails_makes_way_for_the_next(alone, operator, database):
    append_poison(database, signed_in(alone).id)
    for _ in range(2):
        answer = operator.post("/v1/projections/directory/rebuilds", {"dryRun": True})
        assert answer.status_code == 202, answer.text
        rebuild = operator.rested(answer.headers["location"])
        assert rebuild["state"] == "cancelled" and "FromTheFuture" in rebuild["error"]
        assert rebuild["waiting"] is None


@pytest.mark.parametrize("body, expected", [
    ({"workers": 0}, {"/workers": "out-of-range"}),
    ({"workers": 65}, {"/workers": "out-of-range"}),
    ({"workers": "2"}, {"/workers": "wrong-type"}),
    ({"throttle": -1, "dryRun": 1}, {"/throttle": "out-of-range", "/dryRun": "wrong-type"}),
    ({"speed": 1}, {"/speed": "unknown-field"}),
    ([], {"": "wrong-type"}),
])
def test_what_is_malformed_is_named(operator, body, expected):
    answer = operator.post("/v1/projections/directory/rebuilds", body)
    assert field_errors(problem(answer, 422, "validation-failed")) == expected


def test_keys_need_the_scope(alone):
    reader = Operator(alone, "projections:read")
    assert reader.get("/v1/projections").status_code == 200
    problem(reader.post("/v1/projections/directory/rebuilds"), 403, "insufficient-scope")
    problem(reader.post("/v1/projections/directory/rollback"), 403, "insufficient-scope")
    other = Operator(alone, "users:write")
    problem(other.get("/v1/projections"), 403, "insufficient-scope")
    with http(alone) as client:
        problem(client.get("/v1/projections"), 401, "authentication-required")
    person = signed_in(alone)
    problem(person.http.get("/v1/projections",
                            headers={"Authorization": f"Bearer {person.token}"}), 403, "forbidden")
