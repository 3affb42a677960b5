"""Cases E: one address, one account."""

import pytest
from support.client import Person, field_errors, new_email, problem, signed_in
from support.threads import together
from support.wait import until


def registered_events(database, user_ids):
    return database.value(
        "select count(*) from events where type = 'UserRegistered' and user_id = any(%s::uuid[])",
        user_ids)


def test_E1_the_case_of_an_address_makes_no_second_account(service, database):
    lower = new_email("jason")
    mixed = lower.replace("jason", "Jason").replace("example.org", "Example.ORG")
    first = Person(service, mixed)
    assert first.register().status_code == 201
    users = database.value("select count(*) from current_users")
    for email in (lower, mixed, lower.upper(), f"  {lower} "):
        problem(Person(service, email).register(), 409, "email-taken")
    assert database.value("select count(*) from current_users") == users
    for email in (lower, mixed, lower.upper()):
        answer = Person(service, email).sign_in()
        assert answer.status_code == 201 and answer.json()["user"]["id"] == first.id


def test_E2_another_case_tells_nothing_more(service, anyone):
    person = signed_in(service)
    wrong = [anyone.post("/v1/sessions", json={"email": email, "password": "not the password"})
             for email in (person.email, person.email.upper(), new_email())]
    bodies = []
    for answer in wrong:
        body = problem(answer, 401, "invalid-credentials")
        bodies.append({name: body[name] for name in ("type", "title", "code", "detail")
                       if name in body})
    assert bodies[0] == bodies[1] == bodies[2]


def test_E4_a_domain_in_unicode_and_in_punycode_is_one(service):
    local = new_email().partition("@")[0]
    person = Person(service, f"{local}@bücher.example")
    assert person.register().status_code == 201
    problem(Person(service, f"{local}@xn--bcher-kva.example").register(), 409, "email-taken")
    answer = Person(service, f"{local}@xn--bcher-kva.example").sign_in()
    assert answer.status_code == 201 and answer.json()["user"]["id"] == person.id


def test_E6_a_plus_is_part_of_the_address(service):
    local, _, domain = new_email().partition("@")
    plain, tagged = f"{local}@{domain}", f"{local}+news@{domain}"
    people = [signed_in(service, email=email) for email in (plain, tagged)]
    assert people[0].id != people[1].id
    assert people[1].get().json()["email"] == tagged


@pytest.mark.parametrize("email", [
    "l" * 65 + "@example.org", "a@" + "d" * 63 + ("." + "d" * 63) * 3 + ".org",
    "l" * 64 + "@" + ("d" * 60 + ".") * 3 + "example.org", "a@b@c", "a@b@example.org", "plain",
    "@example.org", "a@", "a b@example.org", "a@exa mple.org", "a@.org", "a@example..org",
    "a@-example.org", "a@example-.org", "a\t@example.org", "a\n@example.org",
    "a@" + "d" * 64 + ".org", "<a@example.org>", "Ada <a@example.org>", "a@example.org,b@x.org",
    ".a@example.org", "a..b@example.org"])
def test_E7_what_is_no_address_is_refused_by_name(service, email):
    body = problem(Person(service, email).register(), 422, "validation-failed")
    assert list(field_errors(body)) == ["/email"]
    assert field_errors(body)["/email"] in ("invalid-email", "too-long", "forbidden-character")


@pytest.mark.parametrize("email", [
    "ada@localhost", '"quoted local"@example.org', "a@[127.0.0.1]", "a@[IPv6:::1]", "a@127.0.0.1",
    "δοκιμή@example.org", "用户@例子.example", "a@example.org.", "a@ex_ample.org", "a@\u202eb.org"])
def test_E7_a_rare_address_is_taken_or_refused_and_never_a_bug(service, email):
    person = Person(service, email)
    response = person.register()
    if response.status_code == 201:
        assert person.sign_in().status_code == 201
    else:
        body = problem(response, 422, "validation-failed")
        assert list(field_errors(body)) == ["/email"]


@pytest.mark.parametrize("email", [1, True, [], {}, ["a@example.org"]])
def test_E7_an_address_is_text(service, anyone, email):
    answer = anyone.post("/v1/users", json={"email": email, "password": "long enough to pass"})
    assert field_errors(problem(answer, 422, "validation-failed")) == {"/email": "wrong-type"}


def test_E8_of_20_registrations_at_once_one_wins(service, database):
    email = new_email("crowd")
    forms = [email, email.upper(), email.capitalize(), email.replace("example", "Example")]
    people = [Person(service, forms[n % 4]) for n in range(20)]

    def register(number):
        """Until it has an answer: a full queue for hashes says 503 and is asked again."""
        return until("an answer other than 503", lambda: taken(people[number].register()), 60)

    def taken(response):
        return response if response.status_code != 503 else None

    answers = together(20, register)
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 19
    for answer in answers:
        if answer.status_code == 409:
            problem(answer, 409, "email-taken")
    winner = next(person for person in people if person.id)
    assert registered_events(database, [winner.id]) == 1
    assert database.value("select count(*) from email_claims where user_id = %s", winner.id) == 1
    assert database.value("select count(*) from credentials where user_id = %s", winner.id) == 1
    assert Person(service, email).sign_in().json()["user"]["id"] == winner.id
