"""Twenty kills of the service and twenty of PostgreSQL, under load, and nothing is lost.

`JEJAK_TEST_KILLS` changes the number, `JEJAK_TEST_SEED` the moments.
"""

import os
import random

import pytest
from support.client import problem, signed_in
from support.load import Load
from support.log import check_all, new_values
from support.service import Service, jejak
from support.wait import until

KILLS = int(os.environ.get("JEJAK_TEST_KILLS", "20"))
SEED = int(os.environ.get("JEJAK_TEST_SEED", random.SystemRandom().randrange(10**6)))


@pytest.fixture
def database(cluster):
    return cluster.create_database()


def check(load, database):
    """With no client at work: the laws of the log, the ledger, the fold and `verify`."""
    load.check(new_values(check_all(database)))
    result = jejak("projection", "verify", "current_users", url=database.url)
    assert result.returncode == 0, result.stdout + result.stderr


def rounds(load, database, kill, recover):
    print(f"JEJAK_TEST_SEED={SEED}")
    dice = random.Random(SEED)
    for number in range(KILLS):
        load.start()
        load.wait_acknowledged(dice.randrange(20, 400))
        kill()
        recover()
        load.wait_acknowledged(20)
        load.stop()
        check(load, database)
        print(f"kill {number + 1}: {len(load.acknowledged)} acknowledged, all there")


def test_the_service_is_killed(database):
    with Service(database.url) as service:
        load = Load(service)
        rounds(load, database, service.kill, service.start)


def test_postgresql_is_killed(cluster, database):
    with Service(database.url) as service:
        pid = service.process.pid
        load = Load(service)

        def recover():
            cluster.restart_after_kill()
            service.wait_ready()

        rounds(load, database, cluster.kill, recover)
        assert service.process.pid == pid and service.running


def test_without_postgresql_it_says_so_and_comes_back(cluster, database):
    with Service(database.url) as service:
        person = signed_in(service)
        cluster.kill()
        until("/readyz fails", lambda: not service.ready())
        answer = person.get()
        problem(answer, 503, "unavailable")
        assert answer.headers["retry-after"]
        problem(person.patch({"firstName": "Grace"}), 503, {"unavailable", "outcome-unknown"})
        assert person.http.get("/livez").status_code == 200
        problem(person.http.get("/readyz"), 503, "unavailable")
        cluster.restart_after_kill()
        service.wait_ready()
        assert person.patch({"firstName": "Grace"}).status_code == 200
        check_all(database)
