"""Fixtures: one PostgreSQL per session, one database and one service per module."""

import pytest
from support.client import http, signed_in
from support.postgres import PostgresServer
from support.service import Service


@pytest.fixture(scope="session")
def postgres():
    server = PostgresServer().start()
    yield server
    server.stop()


@pytest.fixture
def cluster():
    """A PostgreSQL of a test's own, without roles or databases of others."""
    server = PostgresServer().start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def database(postgres):
    database = postgres.create_database()
    yield database
    database.drop()


@pytest.fixture(scope="module")
def service(database):
    """The service with its default settings on the module's database."""
    service = Service(database.url).start()
    yield service
    service.close()


@pytest.fixture
def person(service):
    """A new person with nothing but an address, registered and signed in."""
    return signed_in(service)


@pytest.fixture
def ada(service):
    """A new person with every field of the default schema set."""
    return signed_in(service, firstName="Ada", lastName="Lovelace", attributes={
        "dateOfBirth": "1990-12-10", "height": 165.5, "weight": 60, "isMarried": True})


@pytest.fixture
def anyone(service):
    """A client that is not signed in."""
    with http(service) as client:
        yield client


@pytest.fixture
def fresh_database(postgres):
    """A database for one test alone."""
    database = postgres.create_database()
    yield database
    database.drop()
