"""A payload that somebody took out of the log is damage, and no erasure."""

import json

import pytest
from support.client import http, problem, signed_in
from support.erasure import delete
from support.feed import export
from support.projections import wait_caught_up
from support.service import Service, jejak

REASON = "the payload is gone, and the user has not been erased"


@pytest.fixture(scope="module")
def damaged(postgres):
    """A service with two people who did the same: one has been erased, the other has lost the
    payload of version 2."""
    database = postgres.create_database()
    with Service(database.url) as service:
        gone, ada = signed_in(service), signed_in(service)
        for person in (gone, ada):
            for name in ("Ada", "Grace"):
                assert person.patch({"firstName": name}).status_code == 200
        assert delete(gone).status_code == 204
        wait_caught_up(database)
        with database.connect() as connection:
            connection.execute("set session_replication_role = replica")
            position = connection.execute(
                "update events set payload = null where user_id = %s and stream = 1 "
                "and version = 2 returning position", [ada.id]).fetchone()[0]
        key = service.api_key("users:read", "users:write", "audit:read", "events:read")
        yield service, database, key, ada, gone, position
    database.drop()


def as_operator(service, key):
    client = http(service)
    client.headers["authorization"] = f"Bearer {key}"
    return client


def check_entries(users, position):
    """Of the erased user all entries are tombstones; the other one has an unreadable one."""
    ada, gone = users
    assert len(ada) == len(gone) - 1 and len(ada) >= 3
    for entry in gone:
        assert entry["erased"] is True and entry["changes"] is not None, entry
    assert all("erased" not in entry for entry in ada)
    assert [entry["position"] for entry in ada if entry["changes"] is None] == [position]


def test_time_travel_differences_and_reverting_name_the_position(damaged):
    service, _, key, ada, gone, position = damaged
    paths = ("?version=2", "?version=3", "?at=9999-12-31T23:59:59Z", "/diff?from=1",
             "/diff?from=2&to=3")
    with as_operator(service, key) as client:
        for person, path in [(ada.get, "/v1/users/me"), (client.get, f"/v1/users/{ada.id}")]:
            for query in paths:
                body = problem(person(path + query), 503, "unreadable-event")
                assert body["position"] == position
            assert person(path + "?version=1").status_code == 200
            assert person(path).json()["firstName"] == "Grace"
        for query in paths:
            problem(client.get(f"/v1/users/{gone.id}{query}"), 410, "user-erased")
        for path in ("/v1/users/me", f"/v1/users/{ada.id}"):
            asker = ada.request if path.endswith("me") else client.request
            answer = asker("POST", f"{path}/history/2/revert")
            assert problem(answer, 503, "unreadable-event")["position"] == position
        problem(client.post(f"/v1/users/{gone.id}/history/2/revert"), 410, "user-erased")


def test_lists_tell_it_from_an_erasure(damaged):
    service, database, key, ada, gone, position = damaged
    with as_operator(service, key) as client:
        for path in ("/v1/users/{}/history", "/v1/audit?user={}"):
            check_entries([client.get(path.format(user.id)).json()["items"]
                           for user in (ada, gone)], position)
        csv = client.get("/v1/audit", headers={"Accept": "text/csv"}).text
        header, *lines = [line.split(",") for line in csv.splitlines()]
        user, place = header.index("user"), header.index("position")
        assert all((line[-2] == "true") == (line[user] == gone.id) for line in lines)
        assert {line[place] for line in lines if line[-1]} == {str(position)}
    check_entries([[event["data"] for event in export(service, key, f"/v1/events?user={user.id}")]
                   for user in (ada, gone)], position)
    for command in (["audit", "--user"], ["history"]):
        check_entries([[json.loads(line) for line in jejak(
            *command, user.id, "--json", url=database.url).stdout.splitlines()]
            for user in (ada, gone)], position)


def test_commands_tell_it_from_an_erasure(damaged):
    _, database, _, ada, gone, position = damaged
    printed = jejak("history", ada.id, url=database.url)
    assert printed.returncode == 0 and "erased:" not in printed.stdout
    assert printed.stdout.count(f"    unreadable: {REASON}\n") == 1
    assert "unreadable" not in jejak("history", gone.id, url=database.url).stdout
    assert "erased: the values are gone" in jejak("history", gone.id, url=database.url).stdout
    for version in (2, 3):
        shown = jejak("user", "show", ada.id, "--version", version, url=database.url)
        assert (shown.returncode, shown.stdout) == (1, "")
        assert f"position {position}" in shown.stderr and REASON in shown.stderr
    shown = jejak("user", "show", gone.id, "--version", 2, url=database.url)
    assert shown.returncode == 1 and "was erased at" in shown.stderr


def test_projections_stop_where_it_is(damaged):
    _, database, _, _, _, position = damaged
    for verb in ("verify", "rebuild"):
        for name in ("current_users", "directory"):
            result = jejak("projection", verb, name, url=database.url)
            assert result.returncode == 1, result
            assert f"position {position}" in result.stderr and REASON in result.stderr
            if verb == "rebuild":
                jejak("projection", "cancel", name, url=database.url)
    # What is counted and listed by headers alone is as good as ever.
    for name in ("audit_entries", "statistics"):
        assert jejak("projection", "verify", name, url=database.url).returncode == 0
    report = json.loads(jejak("verify", "--json", url=database.url).stdout)
    assert [(finding["problem"], finding["position"]) for finding in report["first"]] == [
        ("payload-missing", position)]
