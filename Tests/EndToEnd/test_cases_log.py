"""Cases G and I: the log, its readers, and PostgreSQL's life beneath."""

import datetime

import pytest
from support.client import Person, exact, new_email, problem, signed_in
from support.load import Load
from support.log import check_all, count_events, events, head, new_values
from support.pooler import Pooler
from support.postgres import PostgresServer, free_port
from support.proxy import CuttingProxy
from support.service import Service, jejak
from support.stall import WAITING, stalled_append
from support.threads import Background, together
from support.unchanged import unchanged
from support.wait import until

BY_POSITION = "select position from events where position > %s order by position"


class Reader:
    """Reads on from the last position it saw, and never accepts a hole."""

    def __init__(self, database):
        self.connection, self.last = database.connect(), 0

    def read(self):
        for position, in self.connection.execute(BY_POSITION, [self.last]):
            assert position == self.last + 1, f"{position} came after {self.last}"
            self.last = position


@pytest.fixture
def loaded(fresh_database):
    """A service of this test's own under load from eight clients."""
    with Service(fresh_database.url) as service:
        load = Load(service, connections=8, people=8)
        load.start()
        yield load
        if load.running.is_set():
            load.stop()


def test_G3_what_is_refused_leaves_no_event(service, ada, database):
    before = database.value("select count(*) from events")
    ada.patch({"firstName": 1})
    ada.patch({"firstName": "x"}, if_match='"7"')
    ada.patch("{")
    ada.get("/v1/users/0198f0c2-0000-7000-8000-000000000000")
    ada.change_password(oldPassword="x", newPassword="x", confirmPassword="x")
    Person(service, ada.email).register()
    Person(service, "no address").register()
    Person(service, new_email(), password="short").register()
    assert database.value("select count(*) from events") == before
    assert head(database) == before


@pytest.mark.parametrize("outcome", ["commit", "rollback"])
def test_G4_I1_a_stalled_writer_is_never_passed_by(fresh_database, loaded, outcome):
    bystander = signed_in(loaded.service)
    with Background(Reader(fresh_database).read) as reading:
        for _ in range(5):
            loaded.wait_acknowledged(50)
            with stalled_append(fresh_database, bystander.id) as (connection, position):
                until("writers wait behind it", lambda: fresh_database.value(WAITING))
                seen = fresh_database.value("select max(position) from events")
                assert seen == position - 1
                getattr(connection, outcome)()
        loaded.wait_acknowledged(50)
        assert reading.error is None
    loaded.stop()
    rows = check_all(fresh_database)
    loaded.check(new_values(rows))
    expected = 1 + (5 if outcome == "commit" else 0)
    assert count_events(fresh_database, bystander.id, 2) == expected


def test_I1_a_lock_on_one_user_holds_up_nobody_else_for_ever(fresh_database, loaded):
    """A user's row is locked by somebody else and let go: his update comes, nothing is lost."""
    victim = loaded.people[0]
    with fresh_database.connect(autocommit=False) as blocker:
        blocker.execute("select 1 from current_users where user_id = %s for update", [victim.id])
        until("a writer waits for the row", lambda: fresh_database.value(WAITING))
        blocker.rollback()
    loaded.wait_acknowledged(200)
    loaded.stop()
    loaded.check(new_values(check_all(fresh_database)))


def test_I2_long_foreign_transactions_hold_nothing_up(fresh_database, loaded):
    with fresh_database.connect(autocommit=False) as idle:
        idle.execute("set transaction isolation level repeatable read")
        first = idle.execute("select count(*) from events").fetchone()[0]
        loaded.wait_acknowledged(100)
        dump = fresh_database.server.tool("pg_dump", fresh_database.name).stdout
        assert b"PostgreSQL database dump complete" in dump
        loaded.wait_acknowledged(100)
        assert loaded.people[0].history()
        assert idle.execute("select count(*) from events").fetchone()[0] == first
        result = jejak("projection", "verify", "current_users", url=fresh_database.url)
        assert result.returncode == 0, result.stderr
        idle.rollback()
    loaded.stop()
    loaded.check(new_values(check_all(fresh_database)))


def test_I4_a_dump_lives_on_in_a_fresh_cluster(service, database):
    ada = signed_in(service, firstName="Ada", attributes={"weight": 60})
    for weight in range(61, 66):
        assert ada.patch({"attributes": {"weight": weight}}).status_code == 200
    roles = database.server.tool("pg_dumpall", "--roles-only").stdout
    dump = database.server.tool("pg_dump", database.name).stdout
    last, before = head(database), events(database)
    cluster = PostgresServer().start()
    try:
        copy = cluster.create_database()
        cluster.tool("psql", "-q", "postgres", input=roles)
        cluster.tool("psql", "-q", "-v", "ON_ERROR_STOP=1", copy.name, input=dump)
        assert events(copy) == before
        with Service(copy.url) as restored:
            person = Person(restored, ada.email)
            assert person.sign_in().status_code == 201
            assert copy.value("select max(position) from events") == last + 1
            assert person.get().json()["attributes"] == {"weight": 65}
            assert person.patch({"attributes": {"weight": 66}}).status_code == 200
            assert [entry["version"] for entry in person.history()] == [7, 6, 5, 4, 3, 2, 1]
        assert check_all(copy)[-1][0] == last + 2
    finally:
        cluster.stop()


def test_I5_time_never_falls_along_the_log(fresh_database):
    with Service(fresh_database.url) as service:
        person = signed_in(service, attributes={"weight": 1})
        fresh_database.rows("""
            update events set recorded_at = recorded_at + interval '1 hour'
            where position = (select max(position) from events)""")
        ahead = fresh_database.value("select max(recorded_at) from events")
        for weight in range(2, 8):
            assert person.patch({"attributes": {"weight": weight}}).status_code == 200
        entries = person.history(order="asc", limit=2)
        assert [entry["version"] for entry in entries] == list(range(1, 8))
        times = [datetime.datetime.fromisoformat(entry["recordedAt"].replace("Z", "+00:00"))
                 for entry in entries]
        assert times == sorted(times) and all(at >= ahead for at in times[1:])
        positions = [entry["position"] for entry in person.history(limit=3)]
        assert len(set(positions)) == 7 and positions == sorted(positions, reverse=True)
        check_all(fresh_database)


@pytest.fixture
def proxied(fresh_database):
    """A service whose way to PostgreSQL can be cut."""
    proxy = CuttingProxy(("127.0.0.1", fresh_database.server.port))
    url = fresh_database.server.url(fresh_database.name, proxy.port)
    with Service(url) as service:
        yield service, proxy
    proxy.close()


def retry(service, person, value, key):
    """Sends an update with its key again until it is answered with success."""
    def answer():
        response = person.patch({"firstName": value}, key=key)
        assert response.status_code in (200, 409, 503), response.text
        if response.status_code == 503:
            problem(response, 503, {"outcome-unknown", "unavailable", "overloaded"})
            assert response.headers["retry-after"]
        return response if response.status_code == 200 else None

    service.wait_ready()
    return until("the retry succeeds", answer)


@pytest.mark.parametrize("lose", ["answer", "request"])
def test_I6_a_lost_answer_and_a_retry_make_one_event(fresh_database, proxied, lose):
    """Between the loss and the retry another device writes: the retry is not applied again."""
    service, proxy = proxied
    person = signed_in(service, firstName="Ada")
    tablet = person.session()
    for number in range(5):
        value, key = f"Marked{lose}{number}", f"key-{number}"
        proxy.arm(value, lose)
        first = person.patch({"firstName": value}, key=key)
        assert proxy.cut.wait(30), "the update never went through the proxy"
        assert first.status_code in (200, 503), first.text
        done = first.status_code == 200 or lose == "answer"
        service.wait_ready()
        between = tablet.patch({"firstName": f"Between{number}"})
        assert between.status_code == 200
        assert between.json()["version"] == 2 * number + (3 if done else 2)
        answer = retry(service, person, value, key)
        assert answer.json()["firstName"] == value
        assert answer.json()["version"] == 2 * number + (2 if done else 3)
        assert answer.headers["etag"] == f'"{answer.json()["version"]}"'
        assert person.get().json()["firstName"] == (f"Between{number}" if done else value)
        with unchanged(person, fresh_database):
            replay = person.patch({"firstName": value}, key=key)
        assert (replay.status_code, exact(replay)) == (200, exact(answer))
        assert replay.headers["etag"] == answer.headers["etag"]
    seen = new_values(check_all(fresh_database))
    assert len(seen) == 10 and set(seen.values()) == {1}


def test_I6_a_lost_answer_to_a_registration(fresh_database, proxied):
    service, proxy = proxied
    person = Person(service)
    body = {"Idempotency-Key": "register-once"}
    proxy.arm(person.email)
    answer = person.register(headers=body)
    assert proxy.cut.wait(30)
    answer = until("registered", lambda: succeeded(person.register(headers=body)))
    assert answer.json()["email"] == person.email
    assert fresh_database.value("select count(*) from events") == 1
    assert person.sign_in().status_code == 201


def succeeded(response):
    assert response.status_code in (201, 409, 503), response.text
    return response if response.status_code == 201 else None


def test_I7_behind_a_pooler_it_works_or_says_why_not(fresh_database):
    with Pooler(fresh_database, free_port()) as pooler:
        service = Service(pooler.url)
        service.spawn()
        until("it serves or gives up", lambda: service.announced or not service.running, 60)
        if not service.running:
            assert service.process.returncode == 1
            said = service.stderr().lower()
            assert "pgbouncer" in said or "pooler" in said or "pooling" in said, said
            return
        with_pooler_works(service, fresh_database)


def with_pooler_works(service, database):
    """Everything goes on while the pooler hands each transaction to another backend."""
    service.wait_ready()
    people = [signed_in(service, firstName="Ada") for _ in range(4)]

    def update(number):
        for weight in range(1, 51):
            answer = people[number].patch({"attributes": {"weight": weight}})
            assert answer.status_code == 200, answer.text
            assert people[number].get().json()["attributes"]["weight"] == weight

    together(4, update)
    check_all(database)
    service.close()
