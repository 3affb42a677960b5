"""The change feed: every event once and in order, whatever happens to readers and connections."""

import contextlib
import itertools
import os
import re
import signal

import pytest
from support import log
from support.client import http, problem, signed_in
from support.feed import SSE, Feed, export
from support.processes import resident_bytes
from support.raw import Closed, once, request
from support.sealing import Opener, bulk
from support.service import Service, jejak
from support.threads import Background, together
from support.wait import until

LISTENER = "select pid from pg_stat_activity where datname = current_database() " \
           "and application_name = 'jejak listener'"


@pytest.fixture(scope="module")
def key(service):
    return service.api_key("events:read")


def changes(person, count, name="change"):
    """Changes the first name that often."""
    for number in range(count):
        response = person.patch({"firstName": f"{name} {number}"})
        assert response.status_code == 200, response.text


def fill(database, person, count):
    """Appends events of access by SQL, as many as make a log long."""
    last, kind = database.rows(
        "select version, type from events where user_id = %s and stream = 2 "
        "order by version desc limit 1", person.id)[0]
    with database.connect() as connection:
        bulk(connection, Opener(database), person.id, last + 1, count, kind,
             '{"changes":[],"source":{}}')
        connection.execute("""
            with base as (select * from events where user_id = %s and stream = 2
                           order by version desc limit 1),
                 head as (select max(position) as position, max(recorded_at) as at from events)
            insert into events (position, user_id, stream, version, event_id, type, schema,
              recorded_at, actor_kind, actor_id, request_id, trace_id, changed, payload,
              payload_sha256)
            select head.position + n, user_id, stream, version + n, gen_random_uuid(), type,
              schema, head.at + n * interval '1 microsecond', actor_kind, actor_id, request_id,
              trace_id, changed, sealed.payload, sha256(sealed.payload)
            from base, head, sealed""", [person.id])


def test_an_event_is_a_cloud_event(service, database, key, ada):
    ada.patch({"lastName": "King"})
    head = log.head(database)
    with Feed(service, key, f"/v1/events?after={head - 1}") as feed:
        assert feed.head.status_code == 200
        assert feed.head.headers["content-type"] == SSE
        assert feed.head.headers["cache-control"] == "no-store"
        event = feed.event()
        assert int(feed.retry) > 0
    assert event.id == head and event.type == "jejak.ProfileUpdated"
    entry = ada.history(limit=1)[0]
    event_id = database.value("select event_id::text from events where position = %s", head)
    assert event.cloud == {
        "specversion": "1.0", "id": event_id, "source": "/v1/events",
        "type": "jejak.ProfileUpdated", "subject": ada.id, "time": entry["recordedAt"],
        "datacontenttype": "application/json", "sequence": str(head), "data": entry}
    assert export(service, key, f"/v1/events?after={head - 1}") == [event.cloud]


def test_nothing_is_missing_or_out_of_order_while_eight_write(service, database, key):
    people = [signed_in(service) for _ in range(8)]
    start = log.head(database)
    with Feed(service, key, f"/v1/events?after={start}") as feed:
        together(8, lambda number: changes(people[number], 60))
        head = log.head(database)
        events = feed.up_to(head)
    assert [event.id for event in events] == list(range(start + 1, head + 1))
    told = [(e.id, e.cloud["subject"], e.cloud["type"]) for e in events]
    assert told == [(row[0], row[1], f"jejak.{row[4]}")
                    for row in log.events(database) if row[0] > start]


def test_a_reader_that_comes_back_misses_and_repeats_nothing(service, database, key, person):
    start, seen, turn = log.head(database), [], itertools.count()
    with Background(lambda: changes(person, 1, f"turn {next(turn)}")):
        while len(seen) < 100:
            last = {"Last_Event_ID": seen[-1]} if seen else {}
            # What the address says counts for the first connection alone.
            with Feed(service, key, f"/v1/events?after={start}", **last) as feed:
                seen += [feed.event().id for _ in range(9)]
    assert seen == list(range(start + 1, start + 1 + len(seen)))


def test_lines_end_at_the_head_unless_they_follow(service, database, key, person):
    changes(person, 3)
    whole = export(service, key)
    assert [int(event["sequence"]) for event in whole] == \
        list(range(1, log.head(database) + 1))
    assert export(service, key, "/v1/events?after=head") == []
    with Feed(service, key, "/v1/events?after=head&follow=true",
              accept="application/x-ndjson") as feed:
        changes(person, 1, "followed")
        assert f'"sequence":"{log.head(database)}"' in feed.line()
    with Feed(service, key, f"/v1/events?after={log.head(database) - 1}&follow=false") as feed:
        assert feed.event() is not None and feed.event() is None


def test_a_selection_by_type_and_user(service, database, key, person):
    changes(person, 2)
    everything = export(service, key)
    mine = export(service, key, f"/v1/events?user={person.id}")
    assert mine == [event for event in everything if event["subject"] == person.id]
    kinds = "SignedIn,jejak.ProfileUpdated"
    some = export(service, key, f"/v1/events?type={kinds}&user={person.id}")
    assert some == [e for e in mine if e["type"] in ("jejak.SignedIn", "jejak.ProfileUpdated")]
    assert len(some) == 3
    with Feed(service, key, f"/v1/events?after=head&type=ProfileUpdated&user={person.id}") as feed:
        changes(signed_in(service), 1)
        changes(person, 1, "selected")
        event = feed.event()
        assert event.cloud["subject"] == person.id and event.id == log.head(database)


def test_a_selection_passes_over_a_long_log(service, database, key, person):
    fill(database, person, 25_000)
    changes(person, 1, "after all")
    head = log.head(database)
    assert [int(event["sequence"]) for event in
            export(service, key, f"/v1/events?type=ProfileUpdated&after={head - 25_001}")] == \
        [head]
    whole = export(service, key)
    assert [int(event["sequence"]) for event in whole] == list(range(1, head + 1))


def test_a_slow_reader_holds_up_nobody_and_costs_little(service, database, key, person):
    fill(database, person, 50_000)
    before = resident_bytes(service.process.pid)
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(Feed(service, key)) for _ in range(20)]
        assert all(feed.head.status_code == 200 for feed in slow)
        head = log.head(database)
        with Feed(service, key, f"/v1/events?after={head}") as quick:
            changes(person, 50)
            assert [event.id for event in quick.up_to(head + 50)] == \
                list(range(head + 1, head + 51))
        # Twenty readers would take some 600 MB in all; each has one page and one buffer.
        assert resident_bytes(service.process.pid) - before < 100 << 20
        assert [event.id for event in slow[0].up_to(1000)] == list(range(1, 1001))


def goes_on(service, database, key, person, break_connection):
    """Events arrive after `break_connection` was called, long before anybody can have noticed."""
    with Feed(service, key, "/v1/events?after=head", timeout=5) as feed:
        changes(person, 1, "before")
        assert feed.event().id == log.head(database)
        break_connection()
        for number in range(3):
            changes(person, 1, f"after {number}")
            assert feed.event().id == log.head(database)


def test_the_listening_connection_is_killed(service, database, key, person):
    pid = database.value(LISTENER)
    goes_on(service, database, key, person,
            lambda: database.value("select pg_terminate_backend(%s)", pid))
    until("there is another one", lambda: database.rows(LISTENER) not in ([], [(pid,)]))


def test_the_listening_connection_dies_silently(service, database, key, person):
    until("there is a listener", lambda: database.rows(LISTENER))
    pid = database.value(LISTENER)
    try:
        goes_on(service, database, key, person, lambda: os.kill(pid, signal.SIGSTOP))
    finally:
        os.kill(pid, signal.SIGCONT)


def test_every_connection_is_killed(service, database, key, person):
    with Feed(service, key, "/v1/events?after=head") as feed:
        start = log.head(database)
        database.rows("select pg_terminate_backend(pid) from pg_stat_activity "
                      "where application_name like 'jejak%' and datname = current_database()")
        until("changes are taken again",
              lambda: person.patch({"firstName": "Again"}).status_code == 200)
        changes(person, 5)
        head = log.head(database)
        assert [event.id for event in feed.up_to(head)] == list(range(start + 1, head + 1))


def test_open_feeds_end_when_the_service_stops(fresh_database):
    with Service(fresh_database.url, arguments=["--shutdown-grace", "90s"]) as service:
        key = service.api_key("events:read")
        person = signed_in(service)
        with contextlib.ExitStack() as stack:
            feeds = [stack.enter_context(Feed(service, key)) for _ in range(30)]
            for feed in feeds:
                assert len(feed.up_to(log.head(fresh_database))) == log.head(fresh_database)
            changes(person, 1)
            # Long before the grace is over.
            assert service.stop(30) == 0
            head = log.head(fresh_database)
            for feed in feeds:
                last = [event.id for event in iter(feed.event, None)]
                assert last in ([], [head])


def test_a_reader_that_takes_nothing_does_not_hold_up_the_stop(fresh_database):
    with Service(fresh_database.url, arguments=["--shutdown-grace", "2s"]) as service:
        person = signed_in(service)
        fill(fresh_database, person, 50_000)
        key = service.api_key("events:read")
        with Feed(service, key), Feed(service, key, "/v1/events?follow=false") as finite:
            assert finite.head.status_code == 200
            assert service.stop() == 0
            with pytest.raises((Closed, ValueError)):
                while finite.line() is not None:
                    pass


def test_a_revoked_key_ends_its_open_feeds(service, person):
    key = service.api_key("events:read")
    with Feed(service, key, "/v1/events?after=head", timeout=30) as feed:
        listed = jejak("apikey", "list", "--json", url=service.database_url).stdout
        newest = re.findall(r'"id":\s*"([0-9a-f-]{36})"', listed)[-1]
        assert jejak("apikey", "revoke", newest, url=service.database_url).returncode == 0
        while feed.event() is not None:
            pass
    problem(http(service).get("/v1/events", headers={"Authorization": f"Bearer {key}"}), 401,
            "authentication-required")


@pytest.mark.parametrize("query, header, word", [
    ("after=-1", None, "after"), ("after=x", None, "after"), ("after=", None, "after"),
    ("after=%2B1", None, "after"), ("after=99999999", None, "after"),
    ("after=99999999999999999999", None, "after"), ("after=1&after=2", None, "after"),
    ("follow=yes", None, "follow"), ("type=Nothing", None, "type"), ("type=", None, "type"),
    ("user=1", None, "user"), ("unknown=1", None, "unknown"),
    ("", "x", "Last-Event-ID"), ("after=0", "99999999", "Last-Event-ID"), ("", "-1", "Last-"),
])
def test_bad_parameters_are_named(service, key, person, query, header, word):
    headers = {"Authorization": f"Bearer {key}"}
    if header is not None:
        headers["Last-Event-ID"] = header
    with http(service) as client:
        answer = client.get(f"/v1/events?{query}", headers=headers)
    assert word in problem(answer, 400, "malformed-request")["detail"]


def test_who_may_not_follow(service, person):
    with http(service) as client:
        def ask(token, **headers):
            if token:
                headers["Authorization"] = f"Bearer {token}"
            return client.get("/v1/events", headers=headers)
        problem(ask(None), 401, "authentication-required")
        problem(ask("jjk_" + "A" * 43), 401, "authentication-required")
        problem(ask(person.token), 403, "forbidden")
        problem(ask(service.api_key("audit:read")), 403, "insufficient-scope")


@pytest.mark.parametrize("accept, kind", [
    ("*/*", "application/x-ndjson"), ("text/*", SSE), ("text/event-stream;q=0.5, */*;q=0.1", SSE),
    ("text/event-stream, application/x-ndjson", "application/x-ndjson"),
    ("application/json, text/event-stream", SSE), ("text/html", None),
    ("text/event-stream;q=0, application/json", None),
])
def test_the_form_is_the_clients_choice(service, key, accept, kind):
    with Feed(service, key, "/v1/events?follow=false&after=head", accept=accept) as feed:
        if kind is None:
            assert feed.head.status_code == 406
        else:
            assert (feed.head.status_code, feed.head.headers["content-type"]) == (200, kind)


def test_head_and_other_methods(service, key):
    answer = once(service, request("HEAD", "/v1/events", token=key, Accept=SSE), head_only=True)
    assert answer.status_code == 200 and answer.headers["content-type"] == SSE
    answer = once(service, request("POST", "/v1/events", token=key))
    assert answer.status_code == 405 and answer.headers["allow"] == "GET, HEAD, OPTIONS"


def test_there_is_a_limit_of_open_feeds(fresh_database):
    with Service(fresh_database.url, env={"JEJAK_LOOPS": 1}) as service, \
            contextlib.ExitStack() as stack:
        key = service.api_key("events:read")
        feeds = [stack.enter_context(Feed(service, key)) for _ in range(256)]
        assert all(feed.head.status_code == 200 for feed in feeds)
        with Feed(service, key) as refused:
            assert refused.head.status_code == 503 and refused.head.headers["retry-after"]
        # Even then a request that isn't a feed is answered.
        signed_in(service)
