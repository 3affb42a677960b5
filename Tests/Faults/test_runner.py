"""Followers of the log, while services are killed and connections die without a word.

`JEJAK_TEST_KILLS` changes the number of kills, `JEJAK_TEST_SEED` the moments.
"""

import os
import random
import signal
import time

import pytest
from support.client import signed_in
from support.load import Load
from support.projections import APPLICATION, check_followers, wait_caught_up
from support.proxy import CuttingProxy
from support.service import Service
from support.wait import until

KILLS = int(os.environ.get("JEJAK_TEST_KILLS", "20"))
SEED = int(os.environ.get("JEJAK_TEST_SEED", random.SystemRandom().randrange(10**6)))


@pytest.fixture
def pair(fresh_database):
    """Two services on one database."""
    with Service(fresh_database.url) as first, Service(fresh_database.url) as second:
        yield first, second


def leads(service):
    """Whether the service runs the projections, by its last word on that."""
    words = [line for line in service.stderr(10**6).splitlines()
             if "runs the projections" in line or '"serving"' in line]
    return bool(words) and '"runs the projections"' in words[-1]


def test_another_process_takes_over_when_the_runner_is_killed(pair, fresh_database):
    until("one of them leads", lambda: any(map(leads, pair)))
    leader, other = sorted(pair, key=leads, reverse=True)
    assert not leads(other)
    signed_in(leader)
    wait_caught_up(fresh_database)
    leader.kill()
    begin = time.monotonic()
    signed_in(other)
    check_followers(fresh_database)
    assert leads(other)
    print(f"taken over after {time.monotonic() - begin:.1f} s")
    leader.start()
    signed_in(leader)
    check_followers(fresh_database)
    assert not leads(leader)
    # Told to stop, it gives the lease up at once.
    begin = time.monotonic()
    other.stop()
    until("the other one leads", lambda: leads(leader))
    print(f"handed over after {time.monotonic() - begin:.1f} s")


def test_kills_of_two_services_under_load(pair, fresh_database):
    print(f"JEJAK_TEST_SEED={SEED}")
    dice = random.Random(SEED)
    loads = [Load(service, connections=8, people=8) for service in pair]
    for load in loads:
        load.start()
    for number in range(KILLS):
        service, load = dice.choice(list(zip(pair, loads, strict=True)))
        load.wait_acknowledged(dice.randrange(10, 150))
        if dice.random() < 0.5:
            until("the runner is under way", lambda: fresh_database.value(
                "select count(*) from projection_runner where held_until > clock_timestamp()"))
        service.kill()
        service.start()
        print(f"kill {number + 1}")
    for load in loads:
        load.stop()
    check_followers(fresh_database)


def test_a_frozen_runner_is_replaced_and_does_no_harm_when_it_thaws(pair, fresh_database):
    for _ in range(2):
        until("one of them leads", lambda: any(map(leads, pair)))
        leader, other = sorted(pair, key=leads, reverse=True)
        load = Load(other, connections=8, people=8)
        load.start()
        load.wait_acknowledged(100)
        # Wherever it is, a step of its own included.
        os.kill(leader.process.pid, signal.SIGSTOP)
        try:
            until("the other one leads", lambda service=other: leads(service))
            load.wait_acknowledged(20)
            wait_caught_up(fresh_database)
        finally:
            os.kill(leader.process.pid, signal.SIGCONT)
        load.wait_acknowledged(20)
        load.stop()
        check_followers(fresh_database)
        until("the thawed one knows", lambda service=leader: not leads(service))


def test_i3_the_connection_of_the_runner_dies_silently(postgres, fresh_database):
    proxy = CuttingProxy(("127.0.0.1", postgres.port))
    with Service(postgres.url(fresh_database.name, proxy.port)) as service:
        signed_in(service)
        wait_caught_up(fresh_database)
        for _ in range(3):
            until("the runner is connected", lambda: proxy.silence(APPLICATION))
            begin = time.monotonic()
            signed_in(service)
            wait_caught_up(fresh_database)
            print(f"advanced after {time.monotonic() - begin:.2f} s")
        check_followers(fresh_database)
    proxy.close()
