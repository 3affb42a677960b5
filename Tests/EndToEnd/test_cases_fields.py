"""Cases A: lost or invented profile fields."""

import pytest
from support.client import Person, exact, field_errors, new_email, problem, signed_in
from support.log import ACCESS, PROFILE, count_events
from support.service import Service
from support.threads import together
from support.unchanged import unchanged

FULL = {"dateOfBirth": "1990-12-10", "height": 165.5, "weight": 60, "isMarried": True}


def test_A1_update_of_attributes_keeps_the_names_and_the_address(ada):
    response = ada.patch({"attributes": {"weight": 61}})
    assert response.status_code == 200
    user = ada.get().json()
    assert (user["firstName"], user["lastName"], user["email"]) == ("Ada", "Lovelace", ada.email)
    assert user["attributes"]["weight"] == 61


@pytest.mark.parametrize("field, value", [
    ("dateOfBirth", "1991-01-01"), ("height", 170), ("weight", 1), ("isMarried", False)])
def test_A2_update_of_one_attribute_keeps_the_others(ada, field, value):
    assert ada.patch({"attributes": {field: value}}).status_code == 200
    assert ada.get().json()["attributes"] == {**FULL, field: value}


def test_A8_a_whole_stale_object_is_refused_by_its_etag(ada, database):
    stale = ada.get()
    assert ada.patch({"firstName": "Augusta"}).status_code == 200
    whole = {name: stale.json()[name] for name in ("firstName", "lastName", "attributes")}
    with unchanged(ada, database):
        body = problem(ada.patch(whole, if_match=stale.headers["etag"]), 412,
                       "precondition-failed")
    assert body["changed"] == ["firstName"]


@pytest.mark.parametrize("member", ["password", "newPassword", "oldPassword"])
@pytest.mark.parametrize("value", [None, "something else entirely", 1, {}])
def test_A9_a_password_in_a_patch_is_refused_by_name(ada, database, member, value):
    with unchanged(ada, database):
        body = problem(ada.patch({member: value}), 422, "validation-failed")
    assert field_errors(body) == {f"/{member}": "unknown-field"}


def test_A9_a_null_new_password_is_refused_and_the_old_one_stays(ada, database):
    with unchanged(ada, database, stream=PROFILE):
        body = problem(ada.change_password(
            oldPassword=ada.password, newPassword=None, confirmPassword=None),
            422, "new-password-required")
        assert body["errors"][0]["pointer"] == "/newPassword"
    assert ada.sign_in().status_code == 201


def test_A9_a_null_password_at_registration_is_refused(service, anyone):
    body = problem(anyone.post("/v1/users", json={"email": new_email(), "password": None}),
                   422, "validation-failed")
    assert list(field_errors(body)) == ["/password"]


@pytest.mark.parametrize("field", sorted(FULL))
def test_A10_null_clears_an_optional_attribute(ada, field):
    assert ada.patch({"attributes": {field: None}}).status_code == 200
    expected = {name: value for name, value in FULL.items() if name != field}
    assert ada.get().json()["attributes"] == expected


@pytest.mark.parametrize("field", ["firstName", "lastName"])
def test_A10_null_clears_a_name_and_absence_keeps_it(ada, field):
    assert ada.patch({"attributes": {"weight": 62}}).json()[field] is not None
    assert ada.patch({field: None}).status_code == 200
    assert ada.get().json()[field] is None


def test_A10_null_for_what_is_required_is_refused(ada, database):
    with unchanged(ada, database):
        problem(ada.patch({"email": None}), 422, "validation-failed")


def test_A10_null_for_all_attributes_clears_them_or_is_refused(ada):
    response = ada.patch({"attributes": None})
    assert response.status_code in (200, 422)
    assert ada.get().json()["attributes"] == ({} if response.status_code == 200 else FULL)


@pytest.mark.parametrize("email", [{}, {"email": None}, {"email": ""}])
def test_A11_without_an_address_nobody_is_a_duplicate(anyone, email):
    for _ in range(2):
        body = problem(anyone.post("/v1/users", json={"password": "long enough to pass", **email}),
                       422, "validation-failed")
        assert field_errors(body)["/email"] in ("required", "invalid-email", "wrong-type")


def test_A12_what_was_never_set_is_absent_and_never_zero(person):
    user = person.get().json()
    assert user["attributes"] == {}
    assert user["firstName"] is None and user["lastName"] is None


@pytest.mark.parametrize("value", [False, True])
def test_A13_false_is_a_value(person, value):
    assert person.patch({"attributes": {"isMarried": value}}).status_code == 200
    assert person.get().json()["attributes"]["isMarried"] is value


@pytest.mark.parametrize("field, zero", [("weight", 0), ("height", 0), ("height", "0.0")])
def test_A13_zero_meets_the_rule_of_its_range(ada, database, field, zero):
    with unchanged(ada, database):
        response = ada.patch(f'{{"attributes":{{"{field}":{zero}}}}}')
        body = problem(response, 422, "validation-failed")
    assert field_errors(body) == {f"/attributes/{field}": "out-of-range"}


def test_A13_zero_and_false_count_where_the_schema_lets_them(custom):
    person = signed_in(custom, attributes={"points": 0, "ratio": 0.0, "subscribed": False})
    expected = {"points": 0, "ratio": 0, "subscribed": False}
    assert person.get().json()["attributes"] == expected


@pytest.mark.parametrize("field, wrong", [
    ("weight", "abc"), ("weight", "80"), ("weight", True), ("weight", []), ("weight", 78.5),
    ("height", "170"), ("height", {}), ("height", False), ("isMarried", "False"),
    ("isMarried", 0), ("isMarried", "true"), ("dateOfBirth", 19901210), ("dateOfBirth", True)])
def test_A14_A15_a_value_of_another_type_is_refused_and_the_old_one_kept(
        ada, database, field, wrong):
    with unchanged(ada, database):
        body = problem(ada.patch({"attributes": {field: wrong}}), 422, "validation-failed")
    assert list(field_errors(body)) == [f"/attributes/{field}"]
    assert field_errors(body)[f"/attributes/{field}"] in ("wrong-type", "number-not-exact")


@pytest.mark.parametrize("field", ["firstName", "lastName"])
@pytest.mark.parametrize("wrong", [1, True, [], {}, 1.5])
def test_A14_a_name_is_text(ada, database, field, wrong):
    with unchanged(ada, database):
        body = problem(ada.patch({field: wrong}), 422, "validation-failed")
    assert field_errors(body) == {f"/{field}": "wrong-type"}


def test_A14_one_wrong_field_keeps_the_right_ones_out_too(ada, database):
    with unchanged(ada, database):
        body = problem(ada.patch({"firstName": "Grace", "attributes": {
            "weight": "abc", "isMarried": "no"}}), 422, "validation-failed")
    assert field_errors(body).keys() == {"/attributes/weight", "/attributes/isMarried"}


@pytest.mark.parametrize("same", [
    {}, {"firstName": "Ada"}, {"attributes": {}}, {"attributes": {"height": 165.5}},
    {"firstName": "Ada", "lastName": "Lovelace", "attributes": FULL}])
def test_A17_equal_values_change_nothing(ada, database, same):
    with unchanged(ada, database):
        etag = ada.get().headers["etag"]
        response = ada.patch(same)
        assert response.status_code == 200
        assert response.headers["etag"] == etag


@pytest.mark.parametrize("member, value, code", [
    ("role", "admin", "unknown-field"), ("isAdmin", True, "unknown-field"),
    ("emailVerified", True, "read-only"), ("id", "0198f0c2-0000-7000-8000-000000000000",
                                           "read-only"),
    ("createdAt", "2020-01-01T00:00:00Z", "read-only"), ("updatedAt", None, "read-only"),
    ("status", "suspended", "read-only"), ("version", 9, "read-only"),
    ("email", "other@example.org", "read-only")])
def test_A19_what_is_not_ones_own_to_set_is_refused(ada, database, member, value, code):
    with unchanged(ada, database):
        body = problem(ada.patch({"firstName": "Eve", member: value}), 422, "validation-failed")
    assert field_errors(body) == {f"/{member}": code}


@pytest.mark.parametrize("member, value", [
    ("role", "admin"), ("emailVerified", True), ("id", "0198f0c2-0000-7000-8000-000000000000"),
    ("createdAt", "2020-01-01T00:00:00Z"), ("status", "active"), ("version", 1)])
def test_A19_registration_takes_no_privilege_either(service, database, member, value):
    before = database.value("select count(*) from events")
    body = problem(Person(service, **{member: value}).register(), 422, "validation-failed")
    assert list(field_errors(body)) == [f"/{member}"]
    assert database.value("select count(*) from events") == before


def test_A20_registration_sign_in_and_fetch_show_the_same_user(service):
    person = Person(service, firstName="Ada", lastName="Lovelace", attributes=FULL)
    registered = person.register()
    assert registered.status_code == 201
    assert registered.headers["location"] == f"/v1/users/{person.id}"
    assert registered.headers["etag"] == '"1"'
    entered = person.sign_in()
    assert entered.json()["user"] == registered.json() == person.get().json()
    user = registered.json()
    assert user["attributes"] == FULL and user["email"] == person.email
    assert (user["firstName"], user["lastName"]) == ("Ada", "Lovelace")
    assert (user["emailVerified"], user["status"], user["version"]) == (False, "active", 1)


def test_A21_two_devices_change_different_fields_and_both_survive(service):
    person = signed_in(service)
    devices = [person, person.session()]
    bodies = [{"firstName": "Grace"}, {"attributes": {"weight": 70}}]
    answers = together(2, lambda n: devices[n].patch(bodies[n]))
    assert [answer.status_code for answer in answers] == [200, 200]
    user = person.get().json()
    assert user["firstName"] == "Grace" and user["attributes"] == {"weight": 70}


def test_A22_of_two_with_the_same_if_match_one_wins(service, database):
    person = signed_in(service)
    devices = [person, person.session()]
    before = count_events(database, person.id, PROFILE)
    answers = together(2, lambda n: devices[n].patch({"firstName": f"N{n}"}, if_match='"1"'))
    assert sorted(answer.status_code for answer in answers) == [200, 412]
    winner = [answer.status_code for answer in answers].index(200)
    problem(answers[1 - winner], 412, "precondition-failed")
    assert answers[1 - winner].headers["etag"] == '"2"'
    assert person.get().json()["firstName"] == f"N{winner}"
    assert count_events(database, person.id, PROFILE) == before + 1


def test_events_of_access_never_move_the_etag(person, database):
    etag, accesses = person.get().headers["etag"], count_events(database, person.id, ACCESS)
    assert person.session().get().headers["etag"] == etag
    assert count_events(database, person.id, ACCESS) == accesses + 1


SCHEMA = """{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "prefs": {"type": "object", "properties": {
      "key1": {"type": "string"}, "key2": {"type": "string"},
      "deep": {"type": "object", "properties": {
        "left": {"type": "integer"}, "right": {"type": "integer"}}}}},
    "points": {"type": "integer"},
    "ratio": {"type": "number"},
    "subscribed": {"type": "boolean"}
  }
}"""


@pytest.fixture(scope="module")
def custom(postgres, tmp_path_factory):
    """A service with a profile schema of its own, which has nested objects."""
    file = tmp_path_factory.mktemp("schema") / "profile.json"
    file.write_text(SCHEMA)
    database = postgres.create_database()
    with Service(database.url, env={"JEJAK_PROFILE_SCHEMA": file}) as service:
        yield service
    database.drop()


def test_A6_a_nested_key_is_kept_when_another_is_set(custom):
    person = signed_in(custom)
    assert person.patch({"attributes": {"prefs": {"key1": "a", "key2": "b"}}}).status_code == 200
    assert person.patch({"attributes": {"prefs": {"key2": "c"}}}).status_code == 200
    assert person.get().json()["attributes"]["prefs"] == {"key1": "a", "key2": "c"}


def test_A7_merge_goes_to_the_bottom_and_null_clears_one_leaf(custom):
    person = signed_in(custom, attributes={"prefs": {"key1": "a", "deep": {"left": 1,
                                                                           "right": 2}}})
    response = person.patch({"attributes": {"prefs": {"deep": {"left": None, "right": 3}}}})
    assert response.status_code == 200
    assert person.get().json()["attributes"]["prefs"] == {"key1": "a", "deep": {"right": 3}}
    response = person.patch({"attributes": {"prefs": {"deep": {"middle": 3}}}})
    body = problem(response, 422, "validation-failed")
    assert field_errors(body) == {"/attributes/prefs/deep/middle": "unknown-field"}


def test_A7_the_history_of_a_nested_change_has_old_and_new(custom):
    person = signed_in(custom, attributes={"prefs": {"key1": "a", "key2": "b"}})
    assert person.patch({"attributes": {"prefs": {"key2": "c"}}}).status_code == 200
    change, = exact(person.get("/v1/users/me/history"))["items"][0]["changes"]
    assert change["field"].startswith("attributes.prefs")
    assert "b" in str(change["old"]) and "c" in str(change["new"])
