"""The whole story of a profile screen, and of an operator who rebuilds beneath it."""

import pytest
from support.client import (
    COMMON_PASSWORD,
    NEW_PASSWORD,
    OTHER_PASSWORD,
    PASSWORD,
    Person,
    problem,
    signed_in,
)
from support.load import Load
from support.log import PROFILE, check_all, count_events, new_values
from support.service import Service, jejak
from support.unchanged import unchanged

BEFORE = {"firstName": "Ada", "lastName": "Byron", "attributes": {
    "dateOfBirth": "1990-12-10", "height": 165.5, "weight": 60, "isMarried": False}}
AFTER = {"firstName": "Augusta Ada", "lastName": "Lovelace", "attributes": {
    "dateOfBirth": "1990-12-11", "height": 166.25, "weight": 61, "isMarried": True}}
REFUSALS = [
    ({"newPassword": NEW_PASSWORD, "confirmPassword": NEW_PASSWORD}, "old-password-required"),
    ({"oldPassword": PASSWORD, "confirmPassword": NEW_PASSWORD}, "new-password-required"),
    ({"oldPassword": PASSWORD, "newPassword": PASSWORD, "confirmPassword": PASSWORD},
     "same-password"),
    ({"oldPassword": PASSWORD, "newPassword": NEW_PASSWORD, "confirmPassword": PASSWORD},
     "confirmation-mismatch"),
    ({"oldPassword": PASSWORD, "newPassword": "abc", "confirmPassword": "abc"},
     "password-too-short"),
    ({"oldPassword": PASSWORD, "newPassword": "x" * 1025, "confirmPassword": "x" * 1025},
     "password-too-long"),
    ({"oldPassword": PASSWORD, "newPassword": COMMON_PASSWORD,
      "confirmPassword": COMMON_PASSWORD}, "password-too-common"),
    ({"oldPassword": OTHER_PASSWORD, "newPassword": NEW_PASSWORD,
      "confirmPassword": NEW_PASSWORD}, "wrong-password"),
]


def flat(user):
    """The fields of a user by their names in the history."""
    fields = {name: user[name] for name in ("firstName", "lastName")}
    return fields | {f"attributes.{name}": value for name, value in user["attributes"].items()}


def test_the_profile_screen_from_registration_to_history(service, database):
    phone = Person(service, **BEFORE)
    assert phone.register().status_code == 201
    assert phone.sign_in().status_code == 201
    tablet = phone.session()
    user = phone.get().json()
    assert flat(user) == flat(BEFORE) and user["version"] == 1

    saved = phone.patch(AFTER, if_match=phone.get().headers["etag"])
    assert saved.status_code == 200 and saved.headers["etag"] == '"2"'
    assert saved.headers["cache-control"] == "private, no-cache"
    seen = tablet.get()
    assert seen.json() == saved.json() and seen.headers["etag"] == '"2"'
    assert flat(seen.json()) == flat(AFTER)
    assert seen.json()["createdAt"] == user["createdAt"] < seen.json()["updatedAt"]

    sessions = phone.sessions()
    for body, code in REFUSALS:
        with unchanged(phone, database, PROFILE):
            problem(phone.change_password(**body), 422, code)
        assert phone.sessions() == sessions
        assert tablet.get().status_code == 200
    problem(Person(service, phone.email).sign_in(NEW_PASSWORD), 401, "invalid-credentials")
    assert phone.session().get().status_code == 200

    old_token = phone.token
    changed = phone.change_password(oldPassword=PASSWORD, newPassword=NEW_PASSWORD,
                                    confirmPassword=NEW_PASSWORD)
    assert changed.status_code == 200 and {"token", "expiresAt"} <= changed.json().keys()
    assert phone.get().status_code == 200
    problem(tablet.get(), 401, "authentication-required")
    tablet.token = old_token
    problem(tablet.get(), 401, "authentication-required")
    problem(tablet.sign_in(PASSWORD), 401, "invalid-credentials")
    assert tablet.sign_in(NEW_PASSWORD).status_code == 201
    assert flat(tablet.get().json()) == flat(AFTER)

    check_history(phone)
    check_all(database)


def check_history(person):
    """Registration, update and password change, newest first, with old and new values."""
    newest, update, registration = person.history()
    assert (newest["type"], newest["changes"], newest["version"]) == ("PasswordChanged", [], 3)
    assert (update["type"], update["version"]) == ("ProfileUpdated", 2)
    assert {change["field"]: (change["old"], change["new"]) for change in update["changes"]} == {
        field: (old, flat(AFTER)[field]) for field, old in flat(BEFORE).items()}
    assert (registration["type"], registration["version"]) == ("UserRegistered", 1)
    set_at_first = {change["field"]: change["new"] for change in registration["changes"]}
    assert set_at_first == {"email": person.email, **flat(BEFORE)}
    assert all(change["old"] is None for change in registration["changes"])
    for entry in (newest, update):
        assert entry["actor"] == {"kind": "user", "id": person.id}
        assert entry["stream"] == "profile"
        assert entry["source"]["address"] == "127.0.0.1"
        assert entry["source"]["agent"].startswith("python-httpx")
        assert entry["source"]["requestId"]
    positions = [entry["position"] for entry in (newest, update, registration)]
    assert positions == sorted(positions, reverse=True)
    times = [entry["recordedAt"] for entry in (newest, update, registration)]
    assert times == sorted(times, reverse=True)


@pytest.fixture
def alone(fresh_database):
    with Service(fresh_database.url) as service:
        yield service


def table(database):
    return database.rows("""
        select user_id, version, access_version, status, document, created_at, updated_at
        from current_users order by user_id""")


def test_a_rebuild_under_load_gives_the_same_table(alone, fresh_database):
    load = Load(alone, connections=16, people=16)
    load.start()
    load.wait_acknowledged(300)
    for _ in range(3):
        result = jejak("projection", "rebuild", "current_users", url=fresh_database.url)
        assert result.returncode == 0, result.stderr
        load.wait_acknowledged(100)
    result = jejak("projection", "verify", "current_users", url=fresh_database.url)
    assert result.returncode == 0, result.stdout + result.stderr
    load.stop()

    load.check(new_values(check_all(fresh_database)))
    live = table(fresh_database)
    assert jejak("projection", "rebuild", "current_users",
                 url=fresh_database.url).returncode == 0
    assert table(fresh_database) == live
    assert jejak("projection", "verify", "current_users", url=fresh_database.url).returncode == 0
    assert load.people[0].get().status_code == 200
    assert load.people[0].patch({"firstName": "after the rebuild"}).status_code == 200
    check_all(fresh_database)


def test_verify_finds_a_row_that_was_touched(alone, fresh_database):
    people = [signed_in(alone, firstName="Ada") for _ in range(3)]
    count = count_events(fresh_database, people[1].id)
    fresh_database.rows("""
        update current_users set document = convert_to(replace(
          convert_from(document, 'UTF8'), 'Ada', 'Eve'), 'UTF8') where user_id = %s""",
        people[1].id)
    result = jejak("projection", "verify", "current_users", url=fresh_database.url)
    assert result.returncode == 1
    assert people[1].id in result.stdout + result.stderr
    # The log is right and the table wrong: somebody has to say so.
    result = jejak("projection", "rebuild", "current_users", url=fresh_database.url)
    assert result.returncode == 1
    assert people[1].id in result.stdout and "--accept-differences" in result.stderr
    assert people[1].get().json()["firstName"] == "Eve"
    result = jejak("projection", "rebuild", "current_users", "--accept-differences",
                   url=fresh_database.url)
    assert result.returncode == 0, result.stderr
    assert people[1].get().json()["firstName"] == "Ada"
    assert count_events(fresh_database, people[1].id) == count
    assert jejak("projection", "verify", "current_users", url=fresh_database.url).returncode == 0
