"""The projections that follow the log, as an operator sees them: list, resume, readyz."""

import json
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import ANY

import pytest
from support.client import http, signed_in
from support.projections import (
    FOLLOWERS,
    append_poison,
    check_followers,
    mend_poison,
    wait_caught_up,
)
from support.service import Service, jejak
from support.stall import stalled_append
from support.wait import until


@pytest.fixture
def alone(fresh_database):
    """A service on a database of its own."""
    with Service(fresh_database.url) as service:
        yield service


def listed(database):
    """What `projection list --json` says of each projection, by name."""
    result = jejak("projection", "list", "--json", url=database.url)
    assert result.returncode == 0, result.stderr
    return {entry["name"]: entry for entry in json.loads(result.stdout)}


def ready(service):
    with http(service) as client:
        response = client.get("/readyz")
        assert response.status_code == 200
        return response.json()


def test_followers_are_what_the_log_adds_up_to(alone, fresh_database):
    for number in range(5):
        person = signed_in(alone, firstName=f"Ada {number}")
        person.patch({"firstName": "Grace"})
    check_followers(fresh_database)
    states = listed(fresh_database)
    assert list(states) == ["current_users", "audit_entries", "directory", "statistics"]
    assert {state["state"] for state in states.values()} == {"running"}
    assert {state["lag"] for state in states.values()} == {0}
    assert {state["position"] for state in states.values()} == {15}
    assert states["current_users"]["mode"] == "inline"
    assert states["audit_entries"]["rows"] == 15
    assert ready(alone) == {"status": "ok"}


def test_the_list_says_when_nobody_follows_the_log(alone, fresh_database):
    signed_in(alone)
    wait_caught_up(fresh_database)
    assert "nobody" not in jejak("projection", "list", url=fresh_database.url).stdout
    assert alone.stop() == 0
    assert "nobody follows the log" in jejak("projection", "list", url=fresh_database.url).stdout


@pytest.mark.parametrize("mended_by", ["resume", "restart"])
def test_g7_i8_a_poison_event_stops_its_projection_alone(alone, fresh_database, mended_by):
    person = signed_in(alone)
    wait_caught_up(fresh_database)
    # The second sign-in, at position 4, is refused by the table of one projection alone.
    fresh_database.rows("alter table statistics add constraint poison check (sign_ins < 2)")
    signed_in(alone)
    signed_in(alone)
    until("readyz says what has stopped", lambda: ready(alone)["status"] == "degraded")
    wait_caught_up(fresh_database, ["audit_entries", "directory"])
    until("readyz knows the lag", lambda: ready(alone)["projections"][0]["lag"] == 3)
    assert ready(alone)["projections"] == [{
        "name": "statistics", "state": "stopped", "position": 3, "lag": 3,
        "error": {"position": 4, "reason": "SQLSTATE 23514: refused"}}]
    states = listed(fresh_database)
    assert states["statistics"]["state"] == "stopped"
    assert states["statistics"]["error"]["position"] == 4
    assert states["directory"]["state"] == states["audit_entries"]["state"] == "running"
    text = jejak("projection", "list", url=fresh_database.url).stdout
    assert "statistics stopped at position 4" in text
    assert "jejak projection resume statistics" in text
    # Nothing was skipped: what it holds ends just before the event.
    assert fresh_database.value("select sum(events) from statistics") == 3
    assert person.get().status_code == 200

    fresh_database.rows("alter table statistics drop constraint poison")
    if mended_by == "restart":
        alone.restart()
    else:
        result = jejak("projection", "resume", "statistics", url=fresh_database.url)
        assert result.returncode == 0 and "position 4" in result.stdout
    until("readyz is well again", lambda: ready(alone) == {"status": "ok"})
    check_followers(fresh_database)
    [line] = [line for line in alone.stderr().splitlines() if "a projection has stopped" in line]
    assert json.loads(line)["position"] == 4


def test_an_event_of_a_later_release_stops_all_followers(alone, fresh_database):
    person = signed_in(alone)
    poison = append_poison(fresh_database, person.id)
    signed_in(alone)
    until("all have stopped", lambda: set(FOLLOWERS) == {
        trouble["name"] for trouble in ready(alone).get("projections", [])})
    text = jejak("projection", "list", url=fresh_database.url).stdout
    for name in FOLLOWERS:
        state = listed(fresh_database)[name]
        assert state["position"] == poison - 1
        error = state["error"]
        assert error["position"] == poison
        assert error["reason"] == "this release knows no event type 'FromTheFuture' (schema 1)"
        assert (f"{name} stopped at position {poison}, {error['since']}: {error['reason']}\n"
                in text)
    mend_poison(fresh_database)
    for name in FOLLOWERS:
        assert jejak("projection", "resume", name, url=fresh_database.url).returncode == 0
    until("readyz is well again", lambda: ready(alone) == {"status": "ok"})
    check_followers(fresh_database)


def test_a_form_of_a_later_release_stops_all_followers(alone, fresh_database):
    person = signed_in(alone)
    with stalled_append(fresh_database, person.id) as (connection, position):
        connection.execute("update events set schema = 2 where position = %s", [position])
        connection.commit()
    until("all have stopped", lambda: set(FOLLOWERS) == {
        trouble["name"] for trouble in ready(alone).get("projections", [])})
    for name in FOLLOWERS:
        assert listed(fresh_database)[name]["error"] == {
            "position": position, "since": ANY,
            "reason": "this release knows no event type 'SignedIn' (schema 2)"}


def test_resume_says_what_it_does(alone, fresh_database):
    result = jejak("projection", "resume", "directory", url=fresh_database.url)
    assert result.returncode == 0 and "nothing to do" in result.stdout
    result = jejak("projection", "resume", "directory", "--json", url=fresh_database.url)
    assert json.loads(result.stdout) == {
        "projection": "directory", "resumed": False, "position": None}
    result = jejak("projection", "resume", "nonsense", url=fresh_database.url)
    assert result.returncode == 2 and "nonsense" in result.stderr


def test_a_changed_definition_is_told_and_the_service_goes_on(alone, fresh_database):
    alone.stop()
    fresh_database.rows("update projections set revision = 9 where name = 'directory'")
    alone.start()
    until("readyz says so", lambda: "projections" in ready(alone))
    answer = ready(alone)
    assert answer["status"] == "ok"
    [told] = answer["projections"]
    assert told["name"] == "directory" and told["state"] == "rebuild-due"
    assert "a rebuild is due" in alone.stderr()
    state = listed(fresh_database)["directory"]
    assert state["state"] == "rebuild-due"
    assert (state["revision"], state["definedRevision"]) == (9, 1)
    signed_in(alone)
    check_followers(fresh_database)


def rebuild_of(database, name="directory"):
    """What `projection list --json` says of the projection's open rebuild."""
    return listed(database)[name]["rebuild"]


def projection(database, *arguments):
    return jejak("projection", *arguments, url=database.url)


def poisoned(service, database):
    """Appends an event that its readers stop at; gives its position when they have."""
    poison = append_poison(database, signed_in(service).id)
    until("all followers have stopped", lambda: set(FOLLOWERS) == {
        trouble["name"] for trouble in ready(service).get("projections", [])})
    return poison


def mended(service, database):
    """Mends the event, and lets those who have stopped go on."""
    mend_poison(database)
    for name in FOLLOWERS:
        assert projection(database, "resume", name).returncode == 0
    until("readyz is well again", lambda: ready(service) == {"status": "ok"})
    wait_caught_up(database)


def test_a_rebuild_that_fails_says_what_to_do_next(alone, fresh_database):
    poison = poisoned(alone, fresh_database)
    failed = projection(fresh_database, "rebuild", "directory")
    assert failed.returncode == 1
    assert f"position {poison}" in failed.stderr
    assert "then: jejak projection resume directory" in failed.stderr
    assert "jejak projection cancel directory" in failed.stderr
    open_one = rebuild_of(fresh_database)
    assert (open_one["state"], open_one["isRunning"], open_one["waiting"]) == (
        "failed", False, None)
    text = projection(fresh_database, "list").stdout
    assert "directory has a rebuild that failed" in text
    assert "jejak projection status directory" in text
    status = projection(fresh_database, "status", "directory").stdout
    assert "jejak projection resume directory" in status and "FromTheFuture" in status
    paused = projection(fresh_database, "pause", "directory")
    assert paused.returncode == 1 and "nothing to pause" in paused.stderr
    tried = projection(fresh_database, "rebuild", "directory", "--dry-run")
    assert tried.returncode == 1
    assert "jejak projection cancel directory" in tried.stderr
    assert rebuild_of(fresh_database)["id"] == open_one["id"]
    mended(alone, fresh_database)
    assert rebuild_of(fresh_database) is None
    check_followers(fresh_database)


@pytest.mark.parametrize("verb", [["verify"], ["rebuild", "--dry-run"]])
def test_a_dry_run_that_fails_stands_in_nobodys_way(alone, fresh_database, verb):
    poisoned(alone, fresh_database)
    for _ in range(2):
        result = projection(fresh_database, *verb, "directory")
        assert result.returncode == 1 and "FromTheFuture" in result.stderr
        assert "try again" in result.stderr
        assert rebuild_of(fresh_database) is None
        assert fresh_database.value("select to_regclass('directory_rebuild')") is None
    assert fresh_database.rows("select distinct state, error is not null from rebuilds") == [
        ("cancelled", True)]
    assert "FromTheFuture" in projection(fresh_database, "status", "directory").stdout
    mended(alone, fresh_database)
    assert projection(fresh_database, *verb, "directory").returncode == 0


def test_a_paused_rebuild_says_so_and_what_it_goes_on_with(alone, fresh_database):
    for _ in range(3):
        signed_in(alone)
    wait_caught_up(fresh_database)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(projection, fresh_database, "rebuild", "directory", "--throttle", 1,
                              "--workers", 3)
        until("it folds", lambda: (rebuild_of(fresh_database) or {}).get("state") == "folding")
        assert "is under way" in projection(fresh_database, "list").stdout
        busy = projection(fresh_database, "rebuild", "directory")
        assert busy.returncode == 1 and "jejak projection status directory" in busy.stderr
        assert "jejak projection cancel directory" in busy.stderr
        paused = projection(fresh_database, "pause", "directory")
        assert paused.returncode == 0, paused
        assert "is paused" in paused.stdout and "folding, paused" in paused.stdout
        assert "jejak projection resume directory" in paused.stdout
        assert running.result().returncode == 1
    assert rebuild_of(fresh_database)["waiting"] == "paused"
    assert "folding, paused" in projection(fresh_database, "status", "directory").stdout
    result = projection(fresh_database, "rebuild", "directory", "--throttle", 100_000)
    assert result.returncode == 0, result
    assert "as it was begun: --workers 3\n" in result.stderr
    assert "--throttle" not in result.stderr


def test_rows_and_events_are_counted_at_the_exchange(alone, fresh_database):
    signed_in(alone)
    wait_caught_up(fresh_database)
    text = projection(fresh_database, "rebuild", "directory").stdout
    assert "to position 2: 1 row from 2 events" in text
    # A reader holds up the exchange, and more is appended after the rows were counted.
    with fresh_database.connect(autocommit=False) as reader, ThreadPoolExecutor(1) as pool:
        reader.execute("select from directory")
        running = pool.submit(projection, fresh_database, "rebuild", "directory", "--json")
        until("it is about to exchange", lambda: (
            rebuild_of(fresh_database) or {}).get("state") == "exchanging")
        for _ in range(3):
            signed_in(alone)
        wait_caught_up(fresh_database)
        reader.rollback()
        result = running.result()
    rebuilt = json.loads(result.stdout.splitlines()[-1])
    assert rebuilt["state"] == "done"
    assert (rebuilt["rows"], rebuilt["position"], rebuilt["eventsDone"]) == (4, 8, 8)
