"""Eight writers on one user."""

import pytest
from support.client import NEW_PASSWORD, PASSWORD, Person, http, problem, signed_in
from support.log import check_all, new_values
from support.sealing import Opener
from support.service import Service
from support.threads import together
from support.wait import until

FIELDS = ["firstName", "lastName", "weight", "height"]
WRITES = 40


def body(field, writer, number):
    """A value that only this write of this writer sets."""
    if field in ("firstName", "lastName"):
        return {field: f"{writer} {number}"}
    return {"attributes": {field: (writer + 1) * 1000 + number}}


@pytest.fixture
def alone(fresh_database):
    """A service of this test's own, and its database."""
    with Service(fresh_database.url) as service:
        yield service, fresh_database


def test_without_if_match_no_update_is_lost(alone):
    service, database = alone
    person = signed_in(service)
    devices = [person.session() for _ in range(8)]

    def write(writer):
        field = FIELDS[writer % 4]
        for number in range(WRITES):
            response = devices[writer].patch(body(field, writer, number))
            assert response.status_code == 200, response.text

    together(8, write)
    entries = person.history(order="asc")
    assert [entry["version"] for entry in entries] == list(range(1, 8 * WRITES + 2))
    written = {field: [] for field in FIELDS}
    for entry in entries[1:]:
        change, = entry["changes"]
        field = change["field"].removeprefix("attributes.")
        assert change["old"] == (written[field][-1] if written[field] else None)
        written[field].append(change["new"])
    for writer in range(8):
        field = FIELDS[writer % 4]
        mine = [value(field, writer, number) for number in range(WRITES)]
        assert [item for item in written[field] if item in mine] == mine
    user = person.get().json()
    assert user["version"] == 8 * WRITES + 1
    assert user["firstName"] == written["firstName"][-1]
    assert user["attributes"]["weight"] == written["weight"][-1]
    check_all(database)


def value(field, writer, number):
    content = body(field, writer, number)
    return content[field] if field in content else content["attributes"][field]


def test_with_the_same_if_match_exactly_one_wins(alone):
    service, database = alone
    person = signed_in(service)
    devices = [person.session() for _ in range(8)]
    for version in range(1, 16):
        answers = together(8, lambda n, version=version: devices[n].patch(
            {"firstName": f"{n} of {version}"}, if_match=f'"{version}"'))
        codes = [answer.status_code for answer in answers]
        assert sorted(codes) == [200] + [412] * 7
        winner = codes.index(200)
        assert person.get().json()["firstName"] == f"{winner} of {version}"
        assert person.get().headers["etag"] == f'"{version + 1}"'
        for answer in answers:
            if answer.status_code == 412:
                assert problem(answer, 412, "precondition-failed")["changed"] == ["firstName"]
                assert answer.headers["etag"] == f'"{version + 1}"'
    check_all(database)


@pytest.fixture
def twins(fresh_database):
    """Two services on one database."""
    with Service(fresh_database.url) as one, Service(fresh_database.url) as other:
        yield one, other, fresh_database


def test_G9_what_one_service_wrote_the_other_reads(twins):
    one, other, database = twins
    here = signed_in(one)
    there = Person(other, here.email)
    assert there.sign_in().status_code == 201
    for weight in range(1, 41):
        writer, reader = (here, there) if weight % 2 else (there, here)
        assert writer.patch({"attributes": {"weight": weight}}).status_code == 200
        answer = reader.get()
        assert answer.json()["attributes"]["weight"] == weight
        assert answer.headers["etag"] == f'"{weight + 1}"'
    assert here.change_password(oldPassword=PASSWORD, newPassword=NEW_PASSWORD,
                                confirmPassword=NEW_PASSWORD).status_code == 200
    problem(there.get(), 401, "authentication-required")
    check_all(database)


def test_a_key_is_carried_out_once_by_two_services(twins):
    """The same update reaches both at once: one event, and the same answer from each."""
    one, other, database = twins
    here = signed_in(one)
    there = Person(other, here.email)
    assert there.sign_in().status_code == 201
    for number in range(20):
        def save(turn, number=number):
            person = (here, there)[turn % 2]
            return until("answered", lambda: settled(
                person.patch({"firstName": f"n{number}"}, key=f"save-{number}")))

        first, second = together(2, save)
        assert first.content == second.content
        assert first.json()["version"] == number + 2
    assert set(new_values(check_all(database)).values()) == {1}


def settled(response):
    """The answer, unless the same request is still being carried out."""
    if response.status_code == 409:
        problem(response, 409, "request-in-progress")
        return None
    assert response.status_code == 200, response.text
    return response


def test_twenty_right_sign_ins_at_once_all_succeed(service, person):
    def sign_in(_):
        with http(service) as client:
            while True:
                answer = client.post("/v1/sessions", json={
                    "email": person.email, "password": person.password})
                if answer.status_code != 503:
                    return answer
                assert answer.headers["retry-after"]

    answers = together(20, sign_in)
    assert [answer.status_code for answer in answers] == [201] * 20
    assert len({answer.json()["token"] for answer in answers}) == 20
    assert len(person.sessions()) == 21


def test_history_paged_while_others_write_has_each_entry_once(service, person):
    for weight in range(1, 31):
        assert person.patch({"attributes": {"weight": weight}}).status_code == 200
    for order in ("desc", "asc"):
        versions, cursor, weight = [], None, 1000
        while True:
            query = {"limit": 7, "order": order, **({"cursor": cursor} if cursor else {})}
            response = person.get("/v1/users/me/history", params=query)
            page = response.json()
            versions += [entry["version"] for entry in page["items"]]
            cursor = page["next"]
            assert (cursor is None) == ("link" not in response.headers)
            if cursor is None or len(versions) > 500:
                break
            assert 'rel="next"' in response.headers["link"]
            if weight < 1005:
                weight += 1
                body = {"attributes": {"weight": weight if order == "asc" else -weight + 5000}}
                assert person.patch(body).status_code == 200
        first, last = min(versions), max(versions)
        assert sorted(versions) == list(range(first, last + 1)) and first == 1
        assert versions == sorted(versions, reverse=order == "desc")


def test_one_end_of_a_session_is_one_event(alone):
    """Many requests end the same session at once: one succeeds, and the log tells it once."""
    service, _ = alone
    person = signed_in(service)
    other = person.session()
    answers = together(
        12, lambda _: other.request("DELETE", "/v1/sessions/current").status_code)
    assert answers.count(204) == 1 and set(answers) <= {204, 401, 404}, answers
    kinds = [entry["type"] for entry in person.history(stream="access")]
    assert kinds.count("SignedOut") == 1


def test_nothing_changes_after_a_session_has_ended(alone):
    """Updates that are under way when their session ends come before its end, or not at all."""
    service, database = alone
    person = signed_in(service)
    doomed = person.session()
    session = next(item["id"] for item in doomed.get("/v1/sessions").json()["items"]
                   if item["current"])

    def work(number):
        if number == 0:
            until("updates arrive", lambda: len(person.history()) > 20)
            return person.request("DELETE", f"/v1/sessions/{session}").status_code
        for height in range(1, 100_000):
            answer = doomed.patch({"attributes": {"height": number * 100_000 + height}})
            if answer.status_code == 401:
                return 401
            assert answer.status_code == 200, answer.text
        return None

    assert together(9, work) == [204] + [401] * 8
    end = database.value("select position from events where type = 'SignedOut'")
    later = Opener(database).texts("position > %s", end)
    assert not any(session.encode() in text for text in later)
    check_all(database)
