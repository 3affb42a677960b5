"""Cases H: the small print of HTTP."""

import json

import pytest
from support.client import (
    MERGE_PATCH,
    NEW_PASSWORD,
    PASSWORD,
    new_email,
    problem,
    signed_in,
)
from support.log import LOCK_HEAD, PROFILE, count_events
from support.raw import Connection, once, request
from support.stall import WAITING
from support.unchanged import unchanged
from support.wait import until


@pytest.mark.parametrize("condition", ['"1"', '"0", "1"', '"1" , "7"', "*", '"a,b", "1"',
                                       '"x","1","y"', 'W/"9", "1"'])
def test_H1_if_match_that_holds(person, condition):
    answer = person.patch({"firstName": "Grace"}, if_match=condition)
    assert answer.status_code == 200 and answer.headers["etag"] == '"2"'


@pytest.mark.parametrize("condition", ['W/"1"', '"0"', '"2"', '"a,1"', '"01"', '"0", W/"1"',
                                       '"99999999999999999999"', '"-1"', '""'])
def test_H1_if_match_that_does_not_hold(person, database, condition):
    with unchanged(person, database):
        answer = person.patch({"firstName": "Grace"}, if_match=condition)
        problem(answer, 412, "precondition-failed")
    assert answer.headers["etag"] == '"1"'


@pytest.mark.parametrize("condition, is_weak", [('W/"1"', True), ('"2"', False), ('"a"', False)])
def test_H1_the_reason_is_told_where_nothing_has_changed(person, condition, is_weak):
    body = problem(person.patch({"firstName": "Grace"}, if_match=condition), 412,
                   "precondition-failed")
    assert body["title"] == "If-Match does not name the profile's version."
    assert ("a weak tag never matches" in body["detail"]) == is_weak and "changed" not in body


@pytest.mark.parametrize("condition", ["1", '"1', '1"', '"1" "2"', "W/1", "*, \"1\"", "W/\"1"])
def test_H1_if_match_that_cannot_be_read(person, database, condition):
    with unchanged(person, database):
        problem(person.patch({"firstName": "Grace"}, if_match=condition), 400,
                "malformed-request")


def test_H1_the_fields_changed_since_are_named(ada):
    ada.patch({"firstName": "Augusta", "attributes": {"weight": 61}})
    ada.patch({"attributes": {"height": 166}})
    body = problem(ada.patch({"lastName": "King"}, if_match='"1"'), 412, "precondition-failed")
    assert sorted(body["changed"]) == ["attributes.height", "attributes.weight", "firstName"]
    body = problem(ada.patch({"lastName": "King"}, if_match='"2"'), 412, "precondition-failed")
    assert body["changed"] == ["attributes.height"]


@pytest.mark.parametrize("condition, status", [
    ('"1"', 304), ('W/"1"', 304), ('"0", "1"', 304), ("*", 304), ('"2"', 200), ('"a,1"', 200)])
def test_H1_if_none_match(person, condition, status):
    answer = person.get(headers={"If-None-Match": condition})
    assert answer.status_code == status
    assert answer.headers["etag"] == '"1"'
    assert (answer.content == b"") == (status == 304)


@pytest.mark.parametrize("kind, status", [
    ("application/json", 200), ("application/json; charset=UTF-8", 200),
    ("application/json;charset=utf-8", 200), (MERGE_PATCH, 200),
    (MERGE_PATCH + "; charset=utf-8", 200), ("APPLICATION/MERGE-PATCH+JSON", 200),
    ("Application/Json; Charset=\"UTF-8\"", 200), (None, 415), ("text/plain", 415),
    ("application/json-patch+json", 415), ("application/x-www-form-urlencoded", 415),
    ("application/jsonx", 415), ("", 415), ("application/json; charset=utf-16", 415)])
def test_H4_media_types_of_a_patch(person, service, database, kind, status):
    headers = {} if kind is None else {"Content_Type": kind}
    answer = once(service, request("PATCH", "/v1/users/me", b'{"firstName":"Grace"}',
                                   person.token, **headers))
    assert answer.status_code == status, answer.text
    if status == 415:
        assert MERGE_PATCH in answer.headers["accept-patch"]
        assert answer.json()["code"] == "unsupported-media-type"
        assert person.get().json()["firstName"] is None


VARYING = {"date", "x-request-id"}


@pytest.mark.parametrize("path", [
    "/v1/users/me", "/v1/sessions", "/v1/users/me/history", "/livez", "/readyz", "/v1/nothing"])
@pytest.mark.parametrize("authorised", [True, False])
def test_H6_head_is_get_without_the_body(service, person, path, authorised):
    token = person.token if authorised else None
    with Connection(service.address) as connection:
        get = connection.ask(request("GET", path, token=token))
        head = connection.ask(request("HEAD", path, token=token), head_only=True)
        again = connection.ask(request("GET", path, token=token))
    assert head.status_code == get.status_code == again.status_code
    names = {name: value for name, value in get.headers.items() if name not in VARYING}
    same = {name: value for name, value in head.headers.items() if name not in VARYING}
    if path == "/v1/sessions" or not same.get("content-type", "").startswith("application/json"):
        names.pop("content-length", None)
        same.pop("content-length", None)
    assert same == names
    assert head.headers["x-request-id"]


def test_H8_expect_100_continue_is_honoured(service):
    body = json.dumps({"email": new_email(), "password": "long enough to pass"}).encode()
    head = request("POST", "/v1/users", body, Content_Type="application/json",
                   Expect="100-continue")[:-len(body)]
    with Connection(service.address) as connection:
        assert connection.ask(head).status_code == 100
        assert connection.ask(body).status_code == 201


def test_H10_a_replay_gives_the_stored_answer(person, database):
    first = person.patch({"firstName": "Grace"}, key="save-1")
    assert person.patch({"firstName": "Other"}).status_code == 200
    with unchanged(person, database):
        again = person.patch({"firstName": "Grace"}, key="save-1")
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers


def test_H10_another_body_is_refused(person, database):
    assert person.patch({"firstName": "Grace"}, key="save-2").status_code == 200
    with unchanged(person, database):
        problem(person.patch({"firstName": "Eve"}, key="save-2"), 422, "idempotency-key-reused")
        problem(person.request("DELETE", "/v1/sessions/current",
                               headers={"Idempotency-Key": "save-2"}), 422,
                "idempotency-key-reused")


def test_H10_a_request_that_ends_its_own_token_replays_for_it(person):
    """The answer is lost, the token is dead: the retry with it gets the answer all the same."""
    body = {"oldPassword": PASSWORD, "newPassword": NEW_PASSWORD, "confirmPassword": NEW_PASSWORD}
    headers = {"Idempotency-Key": "renew", "Authorization": f"Bearer {person.token}"}
    first = person.http.post("/v1/users/me/password", json=body, headers=headers)
    assert first.status_code == 200
    again = person.http.post("/v1/users/me/password", json=body, headers=headers)
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    problem(person.get(), 401, "authentication-required")
    person.token = first.json()["token"]
    problem(person.patch({"firstName": "Grace"}, key="renew"), 422, "idempotency-key-reused")
    ended = [person.request("DELETE", "/v1/sessions/current",
                            headers={"Idempotency-Key": "leave"}) for _ in range(2)]
    assert [answer.status_code for answer in ended] == [204, 204]
    assert ended[1].headers["idempotency-replayed"] == "true"


def test_H10_old_answers_are_forgotten(service, person, database):
    assert person.patch({"firstName": "Grace"}, key="old").status_code == 200
    database.rows("update command_receipts set created_at = created_at - interval '25 hours'")
    assert person.patch({"firstName": "Joan"}, key="young").status_code == 200
    service.restart()
    count = "select count(*) from command_receipts"
    until("the old receipts are gone", lambda: database.value(count) == 1)
    assert person.patch({"firstName": "Mary"}, key="old").status_code == 200
    problem(person.patch({"firstName": "Mary"}, key="young"), 422, "idempotency-key-reused")


def test_H10_a_key_belongs_to_one_person(service, person):
    other = signed_in(service)
    assert person.patch({"firstName": "Grace"}, key="shared").status_code == 200
    answer = other.patch({"firstName": "Joan"}, key="shared")
    assert answer.status_code == 200 and answer.json()["firstName"] == "Joan"


def test_H10_only_success_is_kept(person):
    problem(person.patch({"firstName": 1}, key="save-3"), 422, "validation-failed")
    assert person.patch({"firstName": "Grace"}, key="save-3").status_code == 200


def test_H10_registration_and_sign_out_replay_too(service, anyone):
    body = {"email": new_email(), "password": "long enough to pass"}
    headers = {"Idempotency-Key": new_email("key")}
    first = anyone.post("/v1/users", json=body, headers=headers)
    again = anyone.post("/v1/users", json=body, headers=headers)
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["location"] == first.headers["location"]
    person = signed_in(service)
    before = person.sessions()
    person.session()
    session, = person.sessions() - before
    for _ in range(2):
        answer = person.request("DELETE", f"/v1/sessions/{session}",
                                headers={"Idempotency-Key": "end-it"})
        assert answer.status_code == 204


@pytest.mark.parametrize("key", ["", "x" * 256, "a b", "é".encode()])
def test_H10_a_key_that_cannot_be_read(person, database, key):
    with unchanged(person, database):
        problem(person.patch({"firstName": "Grace"}, key=key), 400, "malformed-request")


def test_H10_while_the_first_still_runs_the_second_is_told(service, person, database):
    body = request("PATCH", "/v1/users/me", b'{"firstName":"Slow"}', person.token,
                   Content_Type=MERGE_PATCH, Idempotency_Key="in-flight")
    with Connection(service.address) as first, database.connect(autocommit=False) as blocker:
        blocker.execute(LOCK_HEAD)
        first.send(body)
        until("the append waits for the log", lambda: database.value(WAITING))
        second = once(service, body)
        assert second.status_code == 409, second.text
        assert second.json()["code"] == "request-in-progress"
        blocker.rollback()
        assert first.receive().status_code == 200
    again = once(service, body)
    assert again.status_code == 200 and again.headers["idempotency-replayed"] == "true"
    assert count_events(database, person.id, PROFILE) == 2


def test_H10_after_a_restart_the_answer_is_still_there(service, person, database):
    first = person.patch({"firstName": "Grace"}, key="before-restart")
    service.restart()
    person.http.close()
    person.http = type(person)(service).http
    with unchanged(person, database):
        again = person.patch({"firstName": "Grace"}, key="before-restart")
    assert again.content == first.content and again.headers["idempotency-replayed"] == "true"


def test_H16_the_loss_of_every_database_connection_is_survived(service, person, database):
    process = service.process.pid
    for _ in range(3):
        database.rows("""
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()""")
        answers = [person.get().status_code for _ in range(5)]
        assert set(answers) <= {200, 503}
        service.wait_ready()
        assert until("a fetch succeeds", lambda: person.get().status_code == 200)
    assert service.process.pid == process and service.running
    assert person.patch({"firstName": "Grace"}).status_code == 200
