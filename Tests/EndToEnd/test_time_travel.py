"""Users as they were, what differs between versions, and taking a change back."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from support.client import (
    NEW_PASSWORD,
    Person,
    exact,
    field_errors,
    http,
    problem,
    signed_in,
)
from support.log import check_all, count_events, payload
from support.service import Service, jejak
from support.threads import together


def moved(instant, **by):
    """An instant of the service, moved."""
    time = datetime.fromisoformat(instant) + timedelta(**by)
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def revert(person, version, body=None, **headers):
    options = {} if body is None else {"json": body}
    return person.request("POST", f"/v1/users/me/history/{version}/revert", headers=headers,
                          **options)


@pytest.fixture
def lived(ada):
    """A person with some history, and every answer that was the present one in its time."""
    answers = [ada.get()]
    for body in ({"firstName": "Grace", "attributes": {"height": 170}},
                 {"attributes": {"weight": None, "isMarried": False}},
                 {"lastName": None, "attributes": {"dateOfBirth": "1981-04-01"}},
                 {"firstName": "Ada", "attributes": {"height": 165.5, "weight": 60}}):
        answer = ada.patch(body)
        assert answer.status_code == 200
        answers.append(answer)
        assert ada.get().content == answer.content
    ada.sign_in()  # moves no version
    return ada, answers


def test_every_version_is_answered_as_it_was(lived):
    person, answers = lived
    for number, then in enumerate(answers, 1):
        answer = person.get(f"/v1/users/me?version={number}")
        assert answer.status_code == 200
        assert answer.content == then.content
        assert answer.headers["etag"] == then.headers["etag"] == f'"{number}"'
        assert answer.headers["cache-control"] == "private, no-cache"
        assert answer.headers["content-location"] == f"/v1/users/{person.id}?version={number}"
        assert person.get(answer.headers["content-location"]).content == then.content
        assert person.request("HEAD", f"/v1/users/me?version={number}").status_code == 200


def test_every_instant_is_answered_as_it_was(lived):
    person, answers = lived
    for number, then in enumerate(answers, 1):
        at = then.json()["updatedAt"]
        exactly = person.get("/v1/users/me", params={"at": at})
        assert exactly.content == then.content
        assert exactly.headers["content-location"].endswith(f"?version={number}")
        before = person.get("/v1/users/me", params={"at": moved(at, microseconds=-1)})
        if number == 1:
            problem(before, 404, "not-registered-yet")
        else:
            assert before.content == answers[number - 2].content
        away = datetime.fromisoformat(at).astimezone(UTC) + timedelta(hours=5, minutes=30)
        abroad = away.isoformat().replace("+00:00", "+05:30")
        assert person.get("/v1/users/me", params={"at": abroad}).content == then.content
    ahead = person.get("/v1/users/me", params={"at": "9999-12-31T23:59:59Z"})
    assert ahead.content == answers[-1].content


def test_the_past_can_be_asked_again(lived):
    person, _ = lived
    again = person.get("/v1/users/me?version=2", headers={"If-None-Match": '"2"'})
    assert again.status_code == 304 and again.headers["etag"] == '"2"'
    assert person.get("/v1/users/me?version=2",
                      headers={"If-None-Match": '"5"'}).status_code == 200


@pytest.mark.parametrize("query", [
    "version=0", "version=-1", "version=x", "version=", "version=1.0", "version=%2B1",
    "version=2147483648", "version=1&at=2026-11-30T10:00:00Z", "version=1&version=2",
    "at=", "at=now", "at=2026-11", "at=2026-11-30T10:00:00", "at=2026-02-30T10:00:00Z",
    "at=2026-11-30T24:00:00Z", "versions=1"])
def test_a_moment_that_is_none_is_named(ada, query):
    body = problem(ada.get(f"/v1/users/me?{query}"), 400, "malformed-request")
    assert f"'{query.split('=')[0]}'" in body["detail"]


def test_a_version_that_is_not_there_is_not_found(ada):
    for version in (2, 100, 2147483647):
        problem(ada.get(f"/v1/users/me?version={version}"), 404, "no-such-version")
    problem(ada.get("/v1/users/me", params={"at": "0001-01-01T00:00:00Z"}), 404,
            "not-registered-yet")


def test_a_password_change_is_a_version_like_any(ada):
    before = ada.get()
    ada.change_password(oldPassword=ada.password, newPassword=NEW_PASSWORD,
                        confirmPassword=NEW_PASSWORD)
    assert ada.get().json()["version"] == 2
    assert ada.get("/v1/users/me?version=1").content == before.content
    assert ada.get("/v1/users/me/diff?from=1&to=2").json()["changes"] == []


def test_operators_travel_too_and_others_do_not(service, lived):
    person, answers = lived
    other = signed_in(service)
    for path in ("?version=1", "/diff?from=1", "?at=2026-11-30T10:00:00Z"):
        problem(other.get(f"/v1/users/{person.id}{path}"), 404, "not-found")
    problem(other.request("POST", f"/v1/users/{person.id}/history/2/revert"), 404, "not-found")
    with http(service) as client:
        key = {"Authorization": f"Bearer {service.api_key('users:read')}"}
        then = client.get(f"/v1/users/{person.id}?version=2", headers=key)
        assert then.content == answers[1].content
        assert client.get(f"/v1/users/{person.id}/diff?from=1", headers=key).status_code == 200
        problem(client.get("/v1/users/me?version=1", headers=key), 403, "forbidden")
        problem(client.post(f"/v1/users/{person.id}/history/2/revert", headers=key), 403,
                "insufficient-scope")
        problem(client.get(f"/v1/users/{person.id}?version=1"), 401, "authentication-required")


def difference(person, first, last):
    answer = person.get(f"/v1/users/me/diff?from={first}&to={last}")
    assert answer.status_code == 200, answer.text
    body = exact(answer)
    assert (body["from"], body["to"]) == (first, last)
    assert answer.headers["cache-control"] == "private, no-cache"
    return {change["field"]: (change["old"], change["new"]) for change in body["changes"]}


def test_differences_are_net_and_compose(lived):
    person, answers = lived
    documents = [flat(exact(answer)) for answer in answers]
    for first, old in enumerate(documents, 1):
        for last, new in enumerate(documents, 1):
            expected = {field: (old.get(field), new.get(field)) for field in old | new
                        if old.get(field) != new.get(field)}
            assert difference(person, first, last) == expected
    assert set(difference(person, 1, 5)) == {
        "lastName", "attributes.dateOfBirth", "attributes.isMarried"}
    assert exact(person.get("/v1/users/me/diff?from=1")) == exact(
        person.get("/v1/users/me/diff?from=1&to=5"))


def flat(user):
    fields = {f"attributes.{name}": value for name, value in user.pop("attributes").items()}
    return fields | {name: user[name] for name in
                     ("email", "emailVerified", "firstName", "lastName", "status")}


@pytest.mark.parametrize(("query", "status", "code"), [
    ("", 400, "malformed-request"), ("to=1", 400, "malformed-request"),
    ("from=0", 400, "malformed-request"), ("from=1&to=x", 400, "malformed-request"),
    ("from=1&against=1", 400, "malformed-request"), ("from=2", 404, "no-such-version"),
    ("from=1&to=2", 404, "no-such-version")])
def test_a_difference_of_what_is_not_there(ada, query, status, code):
    body = problem(ada.get(f"/v1/users/me/diff?{query}"), status, code)
    if status == 404:
        name, version = query.split("&")[-1].split("=")
        assert f"'{name}' is {version}, and the profile is at version 1" in body["detail"]


def test_dates_stay_as_they_were(database):
    """Case B1, in the past: no time zone moves a day."""
    for zone in ("Pacific/Pago_Pago", "Pacific/Kiritimati"):
        with Service(database.url, env={"TZ": zone}) as service:
            person = signed_in(service, attributes={"dateOfBirth": "1981-04-01"})
            assert person.patch({"attributes": {"dateOfBirth": "1990-12-10"}}).status_code == 200
            then = person.get("/v1/users/me?version=1").json()
            assert then["attributes"]["dateOfBirth"] == "1981-04-01"
            assert difference(person, 2, 1) == {
                "attributes.dateOfBirth": ("1990-12-10", "1981-04-01")}
            assert revert(person, 2).json()["attributes"]["dateOfBirth"] == "1981-04-01"
            shown = jejak("user", "show", person.id, "--version", "1", "--json",
                          url=database.url, env={"TZ": zone})
            assert json.loads(shown.stdout)["attributes"]["dateOfBirth"] == "1981-04-01"


def test_a_change_is_taken_back(lived, database):
    person, _ = lived
    answer = revert(person, 4)
    assert answer.status_code == 200, answer.text
    assert answer.headers["etag"] == '"6"'
    assert answer.json()["lastName"] == "Lovelace"
    assert answer.json()["attributes"]["dateOfBirth"] == "1990-12-10"
    assert answer.content == person.get().content
    assert set(difference(person, 1, 6)) == {"attributes.isMarried"}
    entry = person.history()[0]
    assert (entry["type"], entry["version"], entry["reverts"]) == ("ProfileUpdated", 6, 4)
    assert {"field": "lastName", "old": None, "new": "Lovelace"} in entry["changes"]
    assert entry["actor"] == {"kind": "user", "id": person.id}
    assert "reverts" not in person.history()[1]
    # Done already: the same again is no event.
    assert revert(person, 4).headers["etag"] == '"6"'
    # The reverting is a change too.
    assert revert(person, 6).json()["lastName"] is None
    assert person.history()[0]["reverts"] == 6
    check_all(database)


def test_what_changed_since_is_kept_unless_told(lived):
    person, _ = lived
    answer = revert(person, 2)
    # firstName and height have their old values again, by version 5.
    assert answer.status_code == 200 and answer.headers["etag"] == '"5"'
    assert person.patch({"attributes": {"isMarried": True, "weight": 61}}).status_code == 200
    refused = problem(revert(person, 5), 409, "changed-since")
    assert refused["changed"] == ["attributes.weight"]
    assert field_errors(refused) == {"/attributes/weight": "changed-since"}
    problem(revert(person, 5, {"overwrite": False}), 409, "changed-since")
    assert person.get().json()["version"] == 6
    answer = revert(person, 5, {"overwrite": True})
    assert answer.status_code == 200
    assert "weight" not in answer.json()["attributes"]
    assert answer.json()["firstName"] == "Grace"
    assert answer.json()["attributes"]["isMarried"] is True


def test_what_can_not_be_taken_back_says_why(ada):
    body = problem(revert(ada, 1), 409, "not-revertible")
    assert body["type"] == "urn:jejak:problem:not-revertible"
    assert body["event"] == "UserRegistered"
    ada.change_password(oldPassword=ada.password, newPassword=NEW_PASSWORD,
                        confirmPassword=NEW_PASSWORD)
    body = problem(revert(ada, 2, {"overwrite": True}), 409, "not-revertible")
    assert body["event"] == "PasswordChanged" and "password" in body["detail"]
    problem(revert(ada, 3), 404, "no-such-version")


@pytest.mark.parametrize("version", ["0", "x", "-1", "1.0", "99999999999", ""])
def test_a_version_that_is_no_number_is_no_path(ada, version):
    problem(revert(ada, version), 404, "not-found")


@pytest.mark.parametrize(("body", "pointers"), [
    ([], {"": "wrong-type"}), ({"overwrite": "yes"}, {"/overwrite": "wrong-type"}),
    ({"overwrite": None}, {"/overwrite": "wrong-type"}),
    ({"force": True}, {"/force": "unknown-field"}),
    ({"force": True, "overwrite": 1, "all": None},
     {"/force": "unknown-field", "/overwrite": "wrong-type", "/all": "unknown-field"})])
def test_a_body_that_says_something_else(lived, body, pointers):
    person, _ = lived
    assert field_errors(problem(revert(person, 2, body), 422, "validation-failed")) == pointers
    problem(person.request("POST", "/v1/users/me/history/2/revert", content=b"{}"), 415,
            "unsupported-media-type")


def test_if_match_is_honoured(lived, database):
    person, _ = lived
    refused = problem(revert(person, 4, **{"If-Match": '"4"'}), 412, "precondition-failed")
    assert refused["changed"] == ["attributes.height", "attributes.weight", "firstName"]
    assert revert(person, 4, **{"If-Match": '"5"'}).headers["etag"] == '"6"'
    assert count_events(database, person.id, 1) == 6


def test_the_same_request_again_is_answered_again(lived, database):
    person, _ = lived
    key = {"Idempotency-Key": "undo"}
    first, again = revert(person, 4, **key), revert(person, 4, **key)
    assert first.status_code == again.status_code == 200
    assert again.headers["idempotency-replayed"] == "true"
    assert first.content == again.content
    problem(revert(person, 4, {"overwrite": True}, **key), 422, "idempotency-key-reused")
    assert count_events(database, person.id, 1) == 6
    nothing = {"Idempotency-Key": "nothing"}
    assert revert(person, 4, **nothing).headers["etag"] == '"6"'
    person.patch({"lastName": "Byron"})
    assert revert(person, 4, **nothing).headers["etag"] == '"6"'


def test_an_operator_takes_a_change_back(service, lived, database):
    person, _ = lived
    headers = {"Authorization": f"Bearer {service.api_key('users:write')}",
               "Idempotency-Key": "operator", "X-Request-Id": "ticket-7"}
    with http(service, headers=headers) as client:
        path = f"/v1/users/{person.id}/history/4/revert"
        answer = client.post(path)
        assert answer.status_code == 200 and answer.headers["etag"] == '"6"'
        assert client.post(path).headers["idempotency-replayed"] == "true"
        missing = "00000000-0000-7000-8000-000000000000"
        problem(client.post(f"/v1/users/{missing}/history/1/revert"), 404, "not-found")
    entry = person.history()[0]
    key_id = database.value("select key_id::text from api_keys order by created_at desc limit 1")
    assert entry["actor"] == {"kind": "operator", "id": key_id}
    assert entry["source"]["session"] is None
    assert entry["source"]["requestId"] == "ticket-7"
    assert person.get().json()["lastName"] == "Lovelace"


def test_a_revert_races_as_any_update(service, database):
    """Whoever comes second finds the field changed, or changes it after the revert."""
    person = signed_in(service, firstName="Ada")
    others = [person.session() for _ in range(6)]
    for turn in range(8):
        person.patch({"firstName": f"Turn {turn}"})
        version = person.get().json()["version"]

        def act(number, turn=turn, version=version):
            if number % 2:
                return others[number].patch({"firstName": f"Racer {turn} {number}"})
            return revert(others[number], version)
        answers = together(6, act)
        for number, answer in enumerate(answers):
            expected = {200} if number % 2 else {200, 409}
            assert answer.status_code in expected, answer.text
        entries = [e for e in person.history(order="asc") if e["version"] > version]
        undone = [e for e in entries if e.get("reverts") == version]
        assert len(undone) <= 1
        for entry in undone:
            # It replaced what the reverted change had set, and no racer's value.
            assert entry["changes"][0]["old"] == f"Turn {turn}"
        values = [f"Turn {turn}"] + [e["changes"][0]["new"] for e in entries]
        assert [e["changes"][0]["old"] for e in entries] == values[:-1]
    check_all(database)


def test_long_histories_are_folded_page_by_page(person):
    for number in range(2, 450):
        assert person.patch({"firstName": f"Name {number}"}).status_code == 200
    for number in (2, 200, 201, 400, 449):
        then = person.get(f"/v1/users/me?version={number}").json()
        assert (then["version"], then["firstName"]) == (number, f"Name {number}")
    assert difference(person, 400, 3) == {"firstName": ("Name 400", "Name 3")}


def test_the_payload_tells_what_it_reverts(lived, database):
    person, _ = lived
    revert(person, 4)
    position = database.value(
        "select position from events where user_id = %s and stream = 1 and version = 6", person.id)
    assert payload(database, position)["reverts"] == 4


@pytest.mark.parametrize("broken", [
    "type = 'FromTheFuture'", "schema = 2", r"payload = '\x7b7d'"])
def test_an_event_that_can_not_be_read_is_told(fresh_database, broken):
    with Service(fresh_database.url) as service:
        ada, grace = signed_in(service), signed_in(service)
        for person in (ada, grace):
            for name in ("Ada", "Grace"):
                assert person.patch({"firstName": name}).status_code == 200
        position = fresh_database.value(
            f"update events set {broken} where user_id = %s and stream = 1 and version = 2 "
            "returning position", ada.id)
        for path in ("/v1/users/me?version=2", "/v1/users/me?version=3",
                     "/v1/users/me?at=9999-12-31T23:59:59Z", "/v1/users/me/diff?from=1"):
            answer = ada.get(path)
            body = problem(answer, 503, "unreadable-event")
            assert body["position"] == position and f"position {position}," in body["detail"]
            assert grace.get(path).status_code == 200
        assert problem(revert(ada, 2), 503, "unreadable-event")["position"] == position
        # What doesn't need the event works as ever.
        assert ada.get("/v1/users/me?version=1").status_code == 200
        assert ada.get().json()["firstName"] == "Grace"
        assert revert(ada, 3).json()["firstName"] == "Ada"
        assert ada.get("/v1/users/me/history").status_code == 200


def test_a_day_is_when_it_begins(ada):
    then = datetime.fromisoformat(ada.get().json()["createdAt"]).astimezone(UTC).date()
    problem(ada.get("/v1/users/me", params={"at": f"{then}"}), 404, "not-registered-yet")
    tomorrow = ada.get("/v1/users/me", params={"at": f"{then + timedelta(days=1)}"})
    assert tomorrow.content == ada.get().content
    problem(ada.get("/v1/users/me", params={"at": "2026-02-30"}), 400, "malformed-request")


def test_the_command_shows_a_user(lived, database):
    person, answers = lived
    for number, then in enumerate(answers, 1):
        at = then.json()["updatedAt"]
        for options in (["--version", number], ["--at", at]):
            result = jejak("user", "show", person.email, "--json", *options, url=database.url)
            assert (result.returncode, result.stderr) == (0, "")
            assert result.stdout.encode() == then.content + b"\n"
    text = jejak("user", "show", person.id, url=database.url)
    assert text.returncode == 0
    for word in (person.id, person.email, "firstName", "Ada", "165.5", "version", "5"):
        assert word in text.stdout
    shown = jejak("history", person.id, url=database.url)
    assert "reverts" not in shown.stdout
    revert(person, 4)
    assert "reverts: 4" in jejak("history", person.id, url=database.url).stdout


@pytest.mark.parametrize(("options", "status"), [
    (["--version", "0"], 2), (["--version", "x"], 2), (["--at", "now"], 2),
    (["--version", "1", "--at", "2026-11-30T10:00:00Z"], 2), (["--version", "9"], 1),
    (["--at", "2001-01-01T00:00:00Z"], 1), (["--at", "2001-01-01"], 1),
    (["--at", "2001-02-29"], 2)])
def test_the_command_refuses_a_moment_that_is_none(ada, database, options, status):
    result = jejak("user", "show", ada.id, *options, url=database.url)
    assert (result.returncode, result.stdout) == (status, "")
    assert result.stderr.strip()


def test_the_command_knows_its_verbs(service, database):
    for arguments in ([], ["show"], ["hide", "x"], ["show", "x", "y"], ["show", "no one"]):
        assert jejak("user", *arguments, url=database.url).returncode == 2
    assert jejak("user", "show", "no@example.org", url=database.url).returncode == 1
    assert Person(service).email  # the service still runs
