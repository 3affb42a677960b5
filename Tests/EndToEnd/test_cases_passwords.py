"""Cases F: passwords and sessions."""

import unicodedata

import pytest
from support.client import (
    COMMON_PASSWORD,
    NEW_PASSWORD,
    OTHER_PASSWORD,
    PASSWORD,
    Person,
    field_errors,
    new_email,
    problem,
    signed_in,
)
from support.log import PROFILE
from support.processes import cpu_seconds
from support.service import Service
from support.unchanged import unchanged
from support.wait import until

LETTER_15 = "wzkqvjxhpfybmgd"


def change(old=PASSWORD, new=NEW_PASSWORD, confirm=NEW_PASSWORD):
    body = {"oldPassword": old, "newPassword": new, "confirmPassword": confirm}
    return {name: value for name, value in body.items() if value is not ...}


REFUSED = [
    (change(old=...), "old-password-required", "/oldPassword"),
    (change(old=None), "old-password-required", "/oldPassword"),
    (change(old=""), "old-password-required", "/oldPassword"),
    (change(new=...), "new-password-required", "/newPassword"),
    (change(new=None), "new-password-required", "/newPassword"),
    (change(new="", confirm=""), "new-password-required", "/newPassword"),
    (change(new=PASSWORD, confirm=PASSWORD), "same-password", "/newPassword"),
    (change(confirm=OTHER_PASSWORD), "confirmation-mismatch", "/confirmPassword"),
    (change(confirm=...), "confirmation-mismatch", "/confirmPassword"),
    (change(confirm=NEW_PASSWORD + " "), "confirmation-mismatch", "/confirmPassword"),
    (change(new="short", confirm="short"), "password-too-short", "/newPassword"),
    (change(new="é" * 14, confirm="é" * 14), "password-too-short", "/newPassword"),
    (change(new="x" * 1025, confirm="x" * 1025), "password-too-long", "/newPassword"),
    (change(new=COMMON_PASSWORD, confirm=COMMON_PASSWORD), "password-too-common", "/newPassword"),
    (change(old=OTHER_PASSWORD), "wrong-password", "/oldPassword"),
]


@pytest.mark.parametrize("body, code, pointer", REFUSED)
def test_F1_F2_F3_a_refused_change_changes_nothing(service, database, body, code, pointer):
    person = signed_in(service)
    other = person.session()
    sessions = person.sessions()
    with unchanged(person, database, PROFILE):
        answer = problem(person.change_password(**body), 422, code)
    assert answer["errors"][0]["pointer"] == pointer
    assert person.sessions() == sessions
    assert other.get().status_code == 200
    assert person.sign_in(PASSWORD).status_code == 201
    problem(person.sign_in(NEW_PASSWORD), 401, "invalid-credentials")


@pytest.mark.parametrize("body, code", [
    ({}, "old-password-required"),
    ({"newPassword": "", "confirmPassword": "x"}, "old-password-required"),
    (change(old=OTHER_PASSWORD, new="", confirm="x"), "new-password-required"),
    (change(old="x", new="x", confirm="y"), "same-password"),
    (change(old=OTHER_PASSWORD, new="x", confirm="y"), "confirmation-mismatch"),
    (change(old=OTHER_PASSWORD, new="x", confirm="x"), "password-too-short"),
    (change(old=OTHER_PASSWORD, new="y" * 1025, confirm="y" * 1025), "password-too-long"),
    (change(old=OTHER_PASSWORD, new=COMMON_PASSWORD, confirm=COMMON_PASSWORD),
     "password-too-common")])
def test_F2_the_rules_have_an_order(person, body, code):
    problem(person.change_password(**body), 422, code)


def test_F2_the_words_of_the_two_classic_refusals(person):
    same = problem(person.change_password(**change(new=PASSWORD, confirm=PASSWORD)), 422,
                   "same-password")
    assert "Old and new password are equal." in (same["title"], same.get("detail"))
    differ = problem(person.change_password(**change(confirm="x")), 422, "confirmation-mismatch")
    assert "New and confirm password are not equal." in (differ["title"], differ.get("detail"))


@pytest.mark.parametrize("blank", [" " * 20, "\u3000" * 20, "\t" * 20])
def test_F3_nothing_but_spaces_is_no_password(service, person, database, blank):
    with unchanged(person, database, PROFILE):
        answer = person.change_password(**change(new=blank, confirm=blank))
        assert answer.status_code == 422, answer.text
    answer = Person(service, password=blank).register()
    assert list(field_errors(problem(answer, 422, "validation-failed"))) == ["/password"]


def test_F5_nul_in_a_password_is_refused(service, person):
    for password in ("long enough pass\0A", "long enough pass\0B"):
        body = problem(Person(service, password=password).register(), 422, "validation-failed")
        assert list(field_errors(body)) == ["/password"]
        answer = person.change_password(**change(new=password, confirm=password))
        assert answer.status_code == 422
    assert person.sign_in(PASSWORD + "\0").status_code in (401, 422)


@pytest.mark.parametrize("kept, entered", [("NFC", "NFD"), ("NFD", "NFC"), ("NFC", "NFC")])
def test_F6_the_form_of_a_letter_makes_no_difference(service, kept, entered):
    word = "crème brûlée à volonté"
    person = Person(service, password=unicodedata.normalize(kept, word))
    assert person.register().status_code == 201
    assert person.sign_in(unicodedata.normalize(entered, word)).status_code == 201
    problem(person.sign_in("creme brulee a volonte"), 401, "invalid-credentials")


def test_F6_the_change_compares_in_one_form(service):
    person = signed_in(service, password="crème brûlée à volonté")
    nfd = unicodedata.normalize("NFD", person.password)
    problem(person.change_password(**change(old=person.password, new=nfd, confirm=nfd)), 422,
            "same-password")


def test_F7_spaces_around_a_password_count(service):
    person = Person(service, password=f"  {PASSWORD} ")
    assert person.register().status_code == 201
    for wrong in (PASSWORD, f"  {PASSWORD}", f"{PASSWORD} ", f" {PASSWORD} "):
        problem(person.sign_in(wrong), 401, "invalid-credentials")
    assert person.sign_in().status_code == 201


def test_F7_bytes_beyond_the_72nd_count(service):
    person = Person(service, password="p4 " * 30 + "end one")
    assert person.register().status_code == 201
    problem(person.sign_in("p4 " * 30 + "end two"), 401, "invalid-credentials")
    assert person.sign_in().status_code == 201


@pytest.mark.parametrize("length, allowed", [(14, False), (15, True), (64, True), (1024, True)])
def test_lengths_are_code_points_and_long_ones_are_welcome(service, length, allowed):
    password = (LETTER_15 * 70)[:length]
    answer = Person(service, password=password).register()
    if allowed:
        assert answer.status_code == 201, answer.text
    else:
        body = problem(answer, 422, "validation-failed")
        assert field_errors(body) == {"/password": "password-too-short"}


def test_the_least_length_is_a_setting(fresh_database):
    with Service(fresh_database.url, env={"JEJAK_PASSWORD_MIN_LENGTH": 8}) as service:
        assert Person(service, password="wzkqvjxh").register().status_code == 201
        body = problem(Person(service, password="wzkqvjx").register(), 422, "validation-failed")
        assert field_errors(body) == {"/password": "password-too-short"}


def test_a_password_made_of_the_address_is_too_common(service):
    local = "wolfeschlegelstein"
    person = Person(service, f"{local}@{new_email().replace('@', '.')}", password=local)
    assert field_errors(problem(person.register(), 422, "validation-failed")) == {
        "/password": "password-too-common"}


def test_F8_a_change_ends_every_other_session_and_renews_the_acting_one(service, database):
    person = signed_in(service)
    others = [person.session() for _ in range(3)]
    old_token = person.token
    answer = person.change_password(**change())
    assert answer.status_code == 200 and answer.json()["token"] != old_token
    assert answer.headers["cache-control"] == "no-store"
    for other in others:
        body = other.get()
        problem(body, 401, "authentication-required")
        assert 'error="invalid_token"' in body.headers["www-authenticate"]
        problem(other.patch({"firstName": "late"}), 401, "authentication-required")
    assert person.get().status_code == 200
    assert len(person.sessions()) == 1
    stale = Person(service)
    stale.token = old_token
    problem(stale.get(), 401, "authentication-required")
    problem(person.sign_in(PASSWORD), 401, "invalid-credentials")
    assert person.sign_in(NEW_PASSWORD).status_code == 201
    stored = database.value("select password_hash from credentials where user_id = %s", person.id)
    assert stored.startswith("$argon2id$")


def test_F8_no_password_and_no_token_is_in_the_database(service, database):
    person = signed_in(service)
    token = person.token
    assert person.change_password(**change()).status_code == 200
    dump = database.server.tool("pg_dump", "--data-only", "--inserts", database.name).stdout
    for secret in (PASSWORD, NEW_PASSWORD, token, person.token):
        assert secret.encode() not in dump and secret.encode().hex().encode() not in dump
    log = service.stderr(10**9)
    for secret in (PASSWORD, NEW_PASSWORD, token, person.token):
        assert secret not in log


def test_F14_a_megabyte_is_too_large(anyone, person):
    huge = "x" * 1_000_000
    problem(anyone.post("/v1/users", json={"email": new_email(), "password": huge}), 413,
            "body-too-large")
    problem(anyone.post("/v1/sessions", json={"email": person.email, "password": huge}), 413,
            "body-too-large")
    problem(person.change_password(**change(new=huge, confirm=huge)), 413, "body-too-large")


def test_F14_no_hash_is_computed_for_a_password_over_the_limit(service, anyone, person):
    long = "x" * 30_000
    before = cpu_seconds(service.process.pid)
    for _ in range(40):
        body = problem(anyone.post("/v1/users", json={"email": new_email(), "password": long}),
                       422, "validation-failed")
        assert field_errors(body) == {"/password": "password-too-long"}
        problem(person.change_password(**change(new=long, confirm=long)), 422,
                "password-too-long")
    assert cpu_seconds(service.process.pid) - before < 80 * 0.010


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "bEaReR ", "Bearer  "])
def test_F20_the_scheme_has_no_case(person, scheme):
    answer = person.http.get("/v1/users/me", headers={"Authorization": scheme + person.token})
    assert answer.status_code == 200


@pytest.mark.parametrize("credentials, sent", [
    (None, False), ("", False), ("Basic YTpi", False), ("Bearer", None),
    ("Bearer jjs_nobody", True),
    ("Bearer jjs_" + "A" * 43, True), ("Bearer \u00e9".encode(), None), ("Bearer a b", None)])
def test_F20_whoever_is_not_signed_in_is_told_how(anyone, credentials, sent):
    headers = {} if credentials is None else {"Authorization": credentials}
    answer = anyone.get("/v1/users/me", headers=headers)
    problem(answer, 401, "authentication-required")
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith('Bearer realm="jejak"')
    if sent is not None:
        assert ('error="invalid_token"' in challenge) == sent


def test_sessions_are_listed_and_ended(service):
    person = signed_in(service)
    others = [person.session() for _ in range(3)]
    items = person.get("/v1/sessions").json()["items"]
    assert len(items) == 4
    assert [item["current"] for item in items].count(True) == 1
    assert all({"id", "createdAt", "lastUsedAt", "expiresAt", "address", "agent"} <= item.keys()
               for item in items)
    own = {item["id"] for item in others[0].get("/v1/sessions").json()["items"]
           if item["current"]}.pop()
    assert person.request("DELETE", f"/v1/sessions/{own}").status_code == 204
    problem(others[0].get(), 401, "authentication-required")
    problem(person.request("DELETE", f"/v1/sessions/{own}"), 404, "not-found")
    problem(person.request("DELETE", "/v1/sessions"), 400, "malformed-request")
    assert person.request("DELETE", "/v1/sessions?except=current").status_code == 204
    problem(others[1].get(), 401, "authentication-required")
    assert person.request("DELETE", "/v1/sessions/current").status_code == 204
    problem(person.get(), 401, "authentication-required")


def test_nobody_ends_the_session_of_another(service, person):
    stranger = signed_in(service)
    session, = stranger.sessions()
    problem(person.request("DELETE", f"/v1/sessions/{session}"), 404, "not-found")
    problem(person.request("DELETE", "/v1/sessions/not-an-id"), 404, "not-found")
    assert stranger.get().status_code == 200


def test_sign_ins_are_in_the_access_history(service):
    """A failure is written down after its answer, which mustn't tell by its time what was found."""
    person = signed_in(service)
    problem(person.sign_in(OTHER_PASSWORD), 401, "invalid-credentials")
    kinds = until("the failure is written down", lambda: two(
        [entry["type"] for entry in person.history(stream="access", order="asc")]))
    assert kinds == ["SignedIn", "SignInFailed"]
    assert [entry["type"] for entry in person.history()] == ["UserRegistered"]


def two(items):
    """The items, once there are two of them."""
    return items if len(items) >= 2 else None


def test_the_whole_address_is_no_password(service):
    address = new_email("a.rather.long.name")
    person = Person(service, address, password=address)
    body = problem(person.register(), 422, "validation-failed")
    assert field_errors(body)["/password"] == "password-too-common"


def test_a_session_ends_when_all_answers_say(service, person):
    """Sign-in, list and password change tell one time: the end of a session that isn't used."""
    opened = person.session()
    told = opened.sign_in().json()
    listed = {item["id"]: item for item in opened.get("/v1/sessions").json()["items"]}
    assert listed[told["session"]["id"]]["expiresAt"] == told["expiresAt"]
    assert told["session"]["expiresAt"] == told["expiresAt"]


def test_the_history_tells_which_sessions_ended(service):
    person = signed_in(service)
    other, third = person.session(), person.session()
    ended = next(item["id"] for item in other.get("/v1/sessions").json()["items"]
                 if item["current"])
    assert person.request("DELETE", f"/v1/sessions/{ended}").status_code == 204
    assert person.request("DELETE", "/v1/sessions?except=current").status_code == 204
    entries = person.history(stream="access", order="asc")
    assert [entry["type"] for entry in entries][-2:] == ["SignedOut", "SessionsRevoked"]
    assert entries[-2]["session"] == ended
    assert entries[-1]["count"] == 1 and entries[-1]["kept"] in person.sessions()
    assert third.get().status_code == 401


def test_a_cursor_belongs_to_its_list(service):
    person = signed_in(service)
    for height in (150, 151, 152):
        person.patch({"attributes": {"height": height}})
    cursor = person.get("/v1/users/me/history", params={"limit": 1}).json()["next"]
    for query in ({"order": "asc"}, {"stream": "access"}):
        problem(person.get("/v1/users/me/history", params={**query, "cursor": cursor}),
                400, "malformed-request")
