"""Erasing people: what goes, what stays, and what others see of it."""

import json

import pytest
from support.client import Person, field_errors, http, new_email, problem, signed_in
from support.erasure import delete, held, is_erased, traces
from support.feed import export
from support.log import check_all, count_events
from support.projections import check_followers, wait_caught_up
from support.service import Service, jejak
from support.threads import together
from support.wait import until


@pytest.fixture
def key(service):
    return service.api_key("users:write", "audit:read", "events:read")


def operator(service, key):
    client = http(service)
    client.headers["authorization"] = f"Bearer {key}"
    return client


def test_a_person_erases_themselves(service, database, key):
    ada = signed_in(service, firstName="Ada", attributes={"height": 165.5})
    other = ada.session()
    ada.patch({"firstName": "Grace"})
    answer = delete(ada)
    assert answer.status_code == 204 and answer.content == b""
    assert is_erased(database, ada.id)
    for person in (ada, other):
        problem(person.get(), 401, "authentication-required")
        problem(person.patch({"firstName": "Mary"}), 401, "authentication-required")
        problem(delete(person), 401, "authentication-required")
    problem(ada.http.post("/v1/sessions", json={"email": ada.email, "password": ada.password}),
            401, "invalid-credentials")
    # The address is anybody's.
    again = Person(service, email=ada.email)
    assert again.register().status_code == 201 and again.id != ada.id
    with operator(service, key) as client:
        found = client.get("/v1/users", params={"email": ada.email}).json()["items"]
        assert [user["id"] for user in found] == [again.id]
    check_all(database)


def test_an_operator_sees_that_somebody_was_there(service, database, key):
    ada = signed_in(service, firstName="Ada", lastName="Lovelace", attributes={"height": 165.5})
    ada.patch({"attributes": {"height": 166}})
    before = {(entry["stream"], entry["version"]): entry for stream in ("profile", "access")
              for entry in ada.history(stream=stream)}
    with operator(service, key) as client:
        path = f"/v1/users/{ada.id}"
        assert client.delete(path).status_code == 204
        gone = [client.get(path), client.get(f"{path}?version=1"), client.get(f"{path}/export"),
                client.get(f"{path}?at=2100-01-01"), client.get(f"{path}/diff?from=1"),
                client.post(f"{path}/history/2/revert")]
        for answer in gone:
            assert problem(answer, 410, "user-erased")["erasedAt"].endswith("Z")
        entries = client.get(f"{path}/history").json()["items"]
        assert [entry["type"] for entry in entries] == [
            "UserErased", "ProfileUpdated", "UserRegistered"]
        assert entries[0]["actor"]["kind"] == "operator" and entries[0]["actor"]["name"] == "tests"
        assert entries[0]["changes"] == []
        entries += client.get(f"{path}/history?stream=access").json()["items"]
        for entry in entries:
            assert entry["erased"] is True
            assert entry["source"]["address"] is entry["source"]["agent"] is None
            assert all(change["old"] is change["new"] is None for change in entry["changes"])
            if entry["type"] == "UserErased":
                continue
            then = before[entry["stream"], entry["version"]]
            assert entry["recordedAt"] == then["recordedAt"]
            assert entry["source"]["requestId"] == then["source"]["requestId"]
            assert [change["field"] for change in entry["changes"]] == [
                change["field"] for change in then["changes"]]
        wait_caught_up(database)
        query = {"user": ada.id, "field": "attributes.height"}
        assert len(client.get("/v1/audit", params=query).json()["items"]) == 2
        csv = client.get("/v1/audit", params=query, headers={"Accept": "text/csv"}).text
        header, *lines = [line.split(",") for line in csv.splitlines()]
        assert header[-2:] == ["erased", "unreadable"]
        assert {tuple(line[-2:]) for line in lines} == {("true", "")}
        assert {line[header.index("field")] for line in lines} == {
            "email", "firstName", "lastName", "attributes.height"}
        assert {line[header.index("new")] for line in lines} == {""}
    feed = [event["data"] for event in export(service, key, f"/v1/events?user={ada.id}")]
    assert [entry["type"] for entry in feed] == [
        "UserRegistered", "SignedIn", "ProfileUpdated", "UserErased"]
    assert all(entry["erased"] for entry in feed)
    for command in (["history", ada.id], ["audit", "--user", ada.id, "--all"]):
        printed = jejak(*command, url=database.url)
        assert printed.returncode == 0 and "UserErased" in printed.stdout
        assert "Lovelace" not in printed.stdout and "session -" not in printed.stdout
        assert "    lastName: erased\n" in printed.stdout
        assert "    erased: the values are gone\n" in printed.stdout
    shown = jejak("user", "show", ada.id, url=database.url)
    assert shown.returncode == 1 and "erased" in shown.stderr
    check_followers(database)


def test_it_can_be_asked_for_again(service, database, key):
    ada, bob = signed_in(service), signed_in(service)
    with operator(service, key) as client:
        for _ in range(2):
            assert client.delete(f"/v1/users/{ada.id}").status_code == 204
        headers = {"Idempotency-Key": "once"}
        first = client.delete(f"/v1/users/{bob.id}", headers=headers)
        again = client.delete(f"/v1/users/{bob.id}", headers=headers)
        assert first.status_code == again.status_code == 204
        assert again.headers["idempotency-replayed"] == "true"
        problem(client.delete(f"/v1/users/{ada.id}", headers=headers), 422,
                "idempotency-key-reused")
        assert count_events(database, bob.id, 1) == 2
        nobody = "01a22abc-86f0-7172-a247-47adcfe285ce"
        problem(client.delete(f"/v1/users/{nobody}"), 404, "not-found")
        problem(client.delete(f"/v1/users/{ada.id}", headers={"If-Match": '"1"'}), 410,
                "user-erased")


def test_a_lost_answer_is_given_again(service):
    ada = signed_in(service)
    first = delete(ada, **{"Idempotency-Key": "mine"})
    again = delete(ada, **{"Idempotency-Key": "mine"})
    assert first.status_code == again.status_code == 204
    assert again.headers["idempotency-replayed"] == "true"
    problem(delete(ada, **{"Idempotency-Key": "other"}), 401, "authentication-required")


def test_whoever_may_not_changes_nothing(service, database, anyone):
    ada, bob = signed_in(service), signed_in(service)
    before = count_events(database, ada.id)
    reader = service.api_key("users:read", "audit:read")
    path = f"/v1/users/{ada.id}"
    problem(anyone.delete("/v1/users/me"), 401, "authentication-required")
    problem(anyone.delete(path), 401, "authentication-required")
    problem(bob.request("DELETE", path), 403, "forbidden")
    with operator(service, reader) as client:
        assert problem(client.delete(path), 403, "insufficient-scope")["scope"] == "users:write"
        problem(client.request("DELETE", "/v1/users/me", json={"password": "x"}), 403,
                "forbidden")
    body = problem(delete(ada, "not the password at all"), 422, "wrong-password")
    assert field_errors(body) == {"/password": "wrong-password"}
    for sent, errors in [(None, {"/password": "required"}), ({}, {"/password": "required"}),
                         ({"password": None}, {"/password": "required"}),
                         ({"password": 1}, {"/password": "wrong-type"}),
                         ({"password": "x" * 2000}, {"/password": "password-too-long"}),
                         ([], {"": "wrong-type"}),
                         ({"password": "x", "a/b": 1}, {"/a~1b": "unknown-field"})]:
        options = {} if sent is None else {"json": sent}
        answer = ada.request("DELETE", "/v1/users/me", **options)
        assert field_errors(problem(answer, 422, "validation-failed")) == errors
    problem(ada.request("DELETE", "/v1/users/me", content=b"{}",
                        headers={"Content-Type": "text/plain"}), 415, "unsupported-media-type")
    problem(delete(ada, **{"If-Match": '"7"'}), 412, "precondition-failed")
    problem(delete(ada, **{"If-Match": 'W/"1"'}), 412, "precondition-failed")
    problem(ada.request("DELETE", "/v1/users/me?x=1", json={"password": ada.password}), 400,
            "malformed-request")
    assert count_events(database, ada.id) == before and not is_erased(database, ada.id)
    assert delete(ada, **{"If-Match": '"1"'}).status_code == 204
    assert is_erased(database, ada.id)


def test_the_command_erases_by_address_or_id(service, database):
    ada, bob = signed_in(service), signed_in(service)
    refused = jejak("user", "erase", ada.email, url=database.url, stdin=-3)
    assert refused.returncode == 2 and "--yes" in refused.stderr
    assert not is_erased(database, ada.id)
    erased = jejak("user", "erase", ada.email, "--yes", "--json", url=database.url)
    assert erased.returncode == 0, erased.stderr
    told = json.loads(erased.stdout)
    assert told["user"] == ada.id and told["new"] is True
    assert is_erased(database, ada.id)
    problem(ada.get(), 401, "authentication-required")
    again = jejak("user", "erase", ada.id, "--yes", "--json", url=database.url)
    assert json.loads(again.stdout) == {**told, "new": False}
    assert jejak("user", "erase", ada.email, "--yes", url=database.url).returncode == 1
    text = jejak("user", "erase", bob.id, "--yes", url=database.url)
    assert text.stdout.startswith(f"erased {bob.id} at position ")


def test_32_threads_race_an_erasure(fresh_database):
    with Service(fresh_database.url) as service:
        key = service.api_key("users:write")
        for round_ in range(3):
            ada, neighbour = signed_in(service), signed_in(service)
            devices = [ada.session() for _ in range(8)]
            client = operator(service, key)

            def work(number, ada=ada, devices=devices, client=client, round_=round_):
                device, answers = devices[number % 8], []
                for step in range(6):
                    match number % 8:
                        case 0 if step == 2:
                            answers.append(client.delete(f"/v1/users/{ada.id}"))
                        case 0 | 1 | 2 | 3:
                            answers.append(device.patch(
                                {"firstName": f"name {round_} {number} {step}"},
                                key=f"{round_}-{number}-{step}"))
                        case 4 | 5:
                            answers.append(Person(ada.service, ada.email, ada.password).sign_in())
                        case 6:
                            new = f"the password number {number} {step}"
                            answers.append(device.change_password(
                                oldPassword=ada.password, newPassword=new, confirmPassword=new))
                            device.password = ada.password
                        case 7:
                            answers.append(device.request("DELETE", "/v1/sessions?except=current"))
                return [answer.status_code for answer in answers]

            statuses = {status for answers in together(32, work) for status in answers}
            assert statuses <= {200, 201, 204, 401, 422}, statuses
            assert is_erased(fresh_database, ada.id)
            assert neighbour.patch({"firstName": "untouched"}).status_code == 200
            assert "request failed" not in service.stderr(tail=10**7)
        check_all(fresh_database)
        check_followers(fresh_database)
        for name in ("current_users", "directory", "audit_entries", "statistics"):
            result = jejak("projection", "verify", name, url=fresh_database.url)
            assert result.returncode == 0, result.stdout + result.stderr


def test_20_erasures_at_once_are_one(service, database, key):
    ada = signed_in(service)
    devices = [ada.session() for _ in range(10)]

    def work(number):
        if number % 2:
            with operator(service, key) as client:
                return client.delete(f"/v1/users/{ada.id}").status_code
        return delete(devices[number // 2]).status_code

    statuses = together(20, work)
    assert set(statuses) <= {204, 401}
    assert is_erased(database, ada.id)


def test_an_address_is_registered_while_its_user_is_erased(service, database):
    for _ in range(5):
        ada = signed_in(service, email=new_email("moving"))
        heirs = [Person(service, email=ada.email) for _ in range(6)]
        statuses = together(7, lambda n, a=ada, h=heirs: delete(a).status_code if n == 6
                            else h[n].register().status_code)
        assert statuses[6] == 204 and statuses[:6].count(201) <= 1
        assert set(statuses[:6]) <= {201, 409}
        assert is_erased(database, ada.id)
        heir = Person(service, email=ada.email)
        assert heir.register().status_code == (409 if 201 in statuses else 201)


def test_no_stale_row_comes_back(service, database, key):
    """The follower's table right after the answer, and once it has read the log."""
    people = [signed_in(service, firstName=f"Ada{n}") for n in range(12)]
    with operator(service, key) as client:
        for person in people:
            assert client.delete(f"/v1/users/{person.id}").status_code == 204
            assert held(database, person.id) == {}
    wait_caught_up(database)
    for person in people:
        assert held(database, person.id) == {}
    today = database.rows("select sum(erasures) from statistics")[0][0]
    assert today == database.value("select count(*) from erasures")


def test_i12_256_people_are_erased_while_everything_is_rebuilt(fresh_database):
    with Service(fresh_database.url) as service:
        key = service.api_key("users:write", "projections:write")
        people = [person for group in together(
            8, lambda _: [Person(service, firstName="Ada") for _ in range(40)]) for person in group]
        together(8, lambda n: [person.register() for person in people[n::8]])
        assert fresh_database.value("select count(*) from current_users") == 320
        wait_caught_up(fresh_database)
        names = ("current_users", "audit_entries", "directory", "statistics")
        with operator(service, key) as client:
            rebuilds = {}
            for name in names:
                answer = client.post(f"/v1/projections/{name}/rebuilds",
                                     json={"throttle": 80, "workers": 2})
                assert answer.status_code == 202
                rebuilds[name] = answer.headers["location"]
            until("all are being folded", lambda: {
                client.get(path).json()["state"] for path in rebuilds.values()} == {"folding"})

            def erase(number):
                with operator(service, key) as own:
                    return [own.delete(f"/v1/users/{person.id}").status_code
                            for person in people[:256][number::8]]

            assert {status for answers in together(8, erase) for status in answers} == {204}
            underway = [client.get(path).json()["state"] for path in rebuilds.values()]
            assert "folding" in underway, underway
            for name, path in rebuilds.items():
                until(f"{name} is rebuilt", lambda p=path: client.get(p).json()["state"] in (
                    "done", "failed", "differs"), 120)
                told = client.get(path).json()
                assert told["state"] == "done", told["error"]
        erased = [person.id for person in people[:256]]
        for table in ("current_users", "directory", "current_users_previous",
                      "directory_previous"):
            assert fresh_database.value(
                f"select count(*) from {table} where user_id = any(%s::uuid[])", erased) == 0
        for table in ("current_users", "directory"):
            assert fresh_database.value(f"select count(*) from {table}") == 64
        wait_caught_up(fresh_database)
        for name in names:
            result = jejak("projection", "verify", name, "--json", url=fresh_database.url)
            assert result.returncode == 0, result.stdout + result.stderr
            assert json.loads(result.stdout)["differences"] == 0
        check_all(fresh_database)
        check_followers(fresh_database)


def test_whoever_cannot_be_read_any_more_can_be_erased(service, database, key):
    lost, damaged, own = signed_in(service), signed_in(service), signed_in(service)
    database.rows("delete from user_keys where user_id = %s", lost.id)
    database.rows("update events set payload = %s where user_id = %s", b"\x01nothing", damaged.id)
    database.rows("delete from user_keys where user_id = %s", own.id)
    with operator(service, key) as client:
        for person in (lost, damaged):
            assert client.delete(f"/v1/users/{person.id}").status_code == 204
            assert is_erased(database, person.id)
    assert delete(own).status_code == 204
    assert is_erased(database, own.id)
    check_all(database)


def test_the_search_for_traces_finds_what_is_there():
    marks = {"a": "qx0123456789abcdef", "b": "qxfedcba9876543210"}
    text = marks["a"].encode()
    for place in (text, text.hex().encode(), b"x" + text + b"y"):
        assert traces(marks, {"place": place}) == [("a", "place")]
    assert traces(marks, {"place": b"nothing"}) == []
