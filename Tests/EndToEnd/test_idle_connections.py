"""Ten thousand phones that keep a connection open and say nothing."""

import contextlib
import resource
import socket

import pytest
from support.client import signed_in
from support.processes import resident_bytes
from support.raw import Connection, once, request
from support.service import Service

CONNECTIONS = 10_000
MEMORY_LIMIT = 256 << 20


@pytest.fixture
def many_files():
    """The right to hold that many sockets, as far as the system gives it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = CONNECTIONS + 500
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip(f"the hard limit of open files is {hard}, below {needed}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_ten_thousand_idle_connections_cost_little(fresh_database, many_files):
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(Service(fresh_database.url))
        person = signed_in(service)
        ask = request("GET", "/v1/users/me", token=person.token)
        idle = [stack.enter_context(socket.create_connection(service.address, 30))
                for _ in range(CONNECTIONS)]
        assert once(service, ask).status_code == 200
        assert resident_bytes(service.process.pid) < MEMORY_LIMIT
        for number in range(0, CONNECTIONS, 100):
            connection = Connection.over(idle[number])
            assert connection.ask(ask).status_code == 200
