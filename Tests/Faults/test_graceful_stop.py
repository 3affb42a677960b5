"""SIGTERM: what was accepted is answered, then the process ends with 0."""

import json
import threading

import pytest
from support.client import MERGE_PATCH, signed_in
from support.log import LOCK_HEAD, check_all, new_values
from support.raw import Closed, Connection, request
from support.service import Service
from support.stall import WAITING
from support.wait import until

DEADLINE = 30
CLIENTS = 24


@pytest.fixture
def service(fresh_database):
    service = Service(fresh_database.url).start()
    yield service
    service.close()


class KeepAlive:
    """A client that sends request after request on one connection until it is told to stop."""

    def __init__(self, service, person, name):
        self.connection, self.person, self.name = Connection(service.address), person, name
        self.acknowledged, self.dropped, self.wrong = [], None, []
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        number = 0
        while True:
            number += 1
            value = f"{self.name}update{number}"
            try:
                answer = self.connection.ask(request(
                    "PATCH", "/v1/users/me", json.dumps({"firstName": value}).encode(),
                    self.person.token, Content_Type=MERGE_PATCH))
            except (Closed, OSError) as error:
                self.dropped = f"request {number} of {self.name}: {error}"
                return
            if answer.status_code == 200:
                self.acknowledged.append(value)
            else:
                self.wrong.append((answer.status_code, answer.text))
            if answer.closes:
                return


@pytest.mark.parametrize("turn", range(3))
def test_no_accepted_request_is_dropped(service, fresh_database, turn):
    """Each request gets a whole answer; only an answer with `Connection: close` ends a client."""
    people = [signed_in(service) for _ in range(8)]
    clients = [KeepAlive(service, people[n % 8], f"client{n}") for n in range(CLIENTS)]
    for client in clients:
        client.thread.start()
    until("the load runs", lambda: sum(len(client.acknowledged) for client in clients) > 500)
    assert service.stop(DEADLINE) == 0
    for client in clients:
        client.thread.join(DEADLINE)
        assert not client.thread.is_alive()
    assert [client.dropped for client in clients if client.dropped] == []
    assert [client.wrong for client in clients if client.wrong] == []
    acknowledged = {value for client in clients for value in client.acknowledged}
    seen = new_values(check_all(fresh_database))
    assert seen.keys() == acknowledged and set(seen.values()) == {1}


def test_a_request_in_flight_is_finished(service, fresh_database):
    person = signed_in(service)
    with Connection(service.address) as connection:
        with fresh_database.connect(autocommit=False) as blocker:
            blocker.execute(LOCK_HEAD)
            connection.send(request("PATCH", "/v1/users/me", b'{"firstName":"Late"}',
                                    person.token, Content_Type=MERGE_PATCH))
            until("the append waits", lambda: fresh_database.value(WAITING))
            service.process.terminate()
            until("no new connection is accepted", lambda: refused(service))
            blocker.rollback()
        answer = connection.receive()
        assert answer.status_code == 200 and answer.json()["firstName"] == "Late"
    assert service.process.wait(DEADLINE) == 0
    assert new_values(check_all(fresh_database)) == {"Late": 1}


def refused(service):
    try:
        with Connection(service.address, timeout=5) as connection:
            connection.ask(request("GET", "/livez"))
    except (Closed, OSError):
        return True
    return False


def test_idle_and_half_sent_requests_do_not_hold_it_up(service):
    person = signed_in(service)
    idle, half = Connection(service.address), Connection(service.address)
    assert idle.ask(request("GET", "/v1/users/me", token=person.token)).status_code == 200
    half.send(b"PATCH /v1/users/me HTTP/1.1\r\nHost: x\r\nContent-Le")
    assert service.stop(DEADLINE) == 0
    assert idle.ended() == b""
    idle.close()
    half.close()


def test_a_second_signal_is_no_crash(service):
    service.process.terminate()
    service.process.terminate()
    assert service.process.wait(DEADLINE) in (0, -15)


def test_interrupt_stops_as_well(service):
    service.process.send_signal(2)
    assert service.process.wait(DEADLINE) == 0
