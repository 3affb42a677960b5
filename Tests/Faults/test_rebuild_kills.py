"""Rebuilds that are killed at random moments under load, and go on: nothing lost, nothing twice,
and the live table never touched before the exchange.

`JEJAK_TEST_REBUILD_KILLS` changes the number of kills, `JEJAK_TEST_SEED` the moments.
"""

import os
import random
import signal
import subprocess

import pytest
from support import processes
from support.client import http, signed_in
from support.load import Load
from support.log import check_all, check_model, events, new_values
from support.sealing import key_file
from support.service import Service, binary, environment, jejak
from support.threads import Background
from support.wait import until

KILLS = int(os.environ.get("JEJAK_TEST_REBUILD_KILLS", "10"))
SEED = int(os.environ.get("JEJAK_TEST_SEED", random.SystemRandom().randrange(10**6)))
LAST = "select state, events_done, error from rebuilds order by created_at desc limit 1"
# Slow enough that kills meet it at work, at any step.
PACE = ["--workers", "3", "--throttle", "1500"]


@pytest.fixture
def database(fresh_database):
    return fresh_database


@pytest.fixture
def service(database):
    with Service(database.url) as service:
        yield service


@pytest.fixture
def load(service):
    load = Load(service, connections=8, people=8)
    load.start()
    load.wait_acknowledged(600)
    yield load
    if load.running.is_set():
        load.stop()


def begin(database, *options):
    """`jejak projection rebuild` as a process of its own."""
    return processes.start(
        [binary(), "projection", "rebuild", "current_users", *options],
        env=environment({
            "JEJAK_DATABASE_URL": database.url, "JEJAK_MASTER_KEY_FILE": key_file()}),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)


def live(database):
    """What tells the live table from any other, and how often tables were exchanged."""
    return database.value("select 'current_users'::regclass::oid")


def verify(database):
    result = jejak("projection", "verify", "current_users", url=database.url)
    assert result.returncode == 0, result.stdout + result.stderr


def settle(load, database):
    """With no client at work: the laws of the log, the ledger, a fold of ours and one of theirs."""
    load.stop()
    load.check(new_values(check_all(database)))
    verify(database)


def test_ten_kills_of_the_command_under_load(database, service, load):
    print(f"JEJAK_TEST_SEED={SEED}")
    dice = random.Random(SEED)
    table, kills, rounds = live(database), 0, 0
    while kills < KILLS:
        rounds += 1
        process = begin(database, *PACE)
        moment = dice.uniform(0.02, 1.2)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
        else:
            assert process.returncode == 0, process.stderr.read()
        state, done, error = (database.rows(LAST) or [("none", 0, None)])[0]
        print(f"round {rounds}, after {moment:.2f} s: {state}, {done} events, error {error}")
        assert error is None
        if state != "done":
            # I9: whoever reads or writes does so in the table of before.
            assert live(database) == table
        table = live(database)
        assert rounds < KILLS * 20, "it never gets killed"
    # What goes on keeps the pace that it was begun with, unless it is told another.
    result = jejak("projection", "rebuild", "current_users", "--throttle", "1000000",
                   url=database.url)
    assert result.returncode == 0, result.stderr
    assert database.rows(LAST)[0][0] == "done"
    settle(load, database)


def test_G6_reads_and_writes_go_on_beside_rebuilds(database, service, load):
    person = signed_in(service, firstName="Ada")

    def read():
        answer = person.get()
        assert answer.status_code == 200, answer.text
        assert answer.json()["firstName"] == "Ada"

    with Background(read):
        for name in ["current_users", "audit_entries", "directory", "statistics"] * 2:
            result = jejak("projection", "rebuild", name, "--workers", "2", url=database.url)
            assert result.returncode == 0, (name, result.stdout, result.stderr)
            load.wait_acknowledged(20)
    result = jejak("projection", "rollback", "current_users", url=database.url)
    assert result.returncode == 0, result.stderr
    settle(load, database)
    for name in ["audit_entries", "directory", "statistics"]:
        caught_up(database, name)
        result = jejak("projection", "verify", name, url=database.url)
        assert result.returncode == 0, (name, result.stdout, result.stderr)


def caught_up(database, name):
    until(f"{name} holds every event", lambda: database.value(
        "select position from projections where name = %s", name) == len(events(database)))


def test_it_pauses_goes_on_and_is_cancelled(database, service, load):
    process = begin(database, "--throttle", "200")
    until("it folds", lambda: database.rows(LAST) and database.rows(LAST)[0][1] > 0)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 1 and "resume" in told
    result = jejak("projection", "status", "current_users", url=database.url)
    assert "folding" in result.stdout, result.stdout

    process = begin(database, "--throttle", "200")
    until("another goes on", lambda: database.value(
        "select held_until > now() from rebuilds order by created_at desc limit 1"))
    busy = jejak("projection", "rebuild", "current_users", url=database.url)
    assert busy.returncode == 1 and "under way" in busy.stderr
    for verb in ("status", "cancel"):
        assert f"jejak projection {verb} current_users" in busy.stderr
    assert jejak("projection", "pause", "current_users", url=database.url).returncode == 0
    _, told = process.communicate(timeout=30)
    assert process.returncode == 1 and "resume" in told and "going on" in told

    assert jejak("projection", "cancel", "current_users", url=database.url).returncode == 0
    assert database.rows(LAST)[0][0] == "cancelled"
    assert database.value("select to_regclass('current_users_rebuild')") is None
    assert jejak("projection", "resume", "current_users", url=database.url).returncode == 0
    settle(load, database)


def test_a_stopped_process_is_replaced_and_can_do_nothing_any_more(database, service, load):
    """As a machine that vanishes and comes back: its session and its locks live on."""
    process = begin(database, "--throttle", "300")
    until("it folds", lambda: database.rows(LAST) and database.rows(LAST)[0][1] > 0)
    process.send_signal(signal.SIGSTOP)
    try:
        result = until("another takes over", lambda: succeeded(
            jejak("projection", "rebuild", "current_users", "--throttle", "100000",
                  url=database.url)))
        assert "going on" in result.stderr
    finally:
        process.send_signal(signal.SIGCONT)
    process.communicate(timeout=30)
    assert process.returncode == 1
    assert database.rows(LAST)[0][0] == "done"
    settle(load, database)


def succeeded(result):
    assert result.returncode == 0 or "under way" in result.stderr, result.stderr
    return result if result.returncode == 0 else None


def test_a_wrong_table_is_rolled_back_to_what_it_was(database, service):
    people = [signed_in(service, firstName="Ada") for _ in range(3)]
    rows = events(database)
    assert jejak("projection", "rebuild", "current_users", url=database.url).returncode == 0
    people[0].patch({"firstName": "Grace"})
    assert jejak("projection", "rollback", "current_users", url=database.url).returncode == 0
    check_model(events(database), database)
    assert people[0].get().json()["firstName"] == "Grace"
    assert jejak("projection", "rollback", "current_users", url=database.url).returncode == 0
    check_model(events(database), database)
    assert len(events(database)) == len(rows) + 1
    assert jejak("projection", "drop-previous", "current_users",
                 url=database.url).returncode == 0
    gone = jejak("projection", "rollback", "current_users", url=database.url)
    assert gone.returncode == 1 and "previous" in gone.stderr


def test_kills_of_the_service_that_runs_it(database, service):
    """A rebuild asked for over HTTP goes on by itself when the service is there again."""
    print(f"JEJAK_TEST_SEED={SEED}")
    dice = random.Random(SEED)
    key = service.api_key("projections:write")
    load = Load(service, connections=8, people=8)
    load.start()
    load.wait_acknowledged(300)
    with http(service) as client:
        answer = client.post("/v1/projections/current_users/rebuilds",
                             json={"workers": 2, "throttle": 100},
                             headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 202, answer.text
    table = live(database)
    for number in range(3):
        until("it is at work", lambda: database.value(
            "select holder is not null and held_until > now() or state = 'done' from rebuilds"))
        load.wait_acknowledged(dice.randrange(5, 60))
        service.kill()
        state, done, error = database.rows(LAST)[0]
        print(f"kill {number + 1}: {state}, {done} events")
        assert error is None
        if state != "done":
            assert live(database) == table
        service.start()
    database.rows("update rebuilds set throttle = null")
    until("it is done", lambda: database.rows(LAST)[0][0] == "done", 60)
    settle(load, database)
