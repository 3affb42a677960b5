"""The export of a person: one document with all that is held about them."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from support.client import http, problem, signed_in
from support.erasure import Marked, names_of, traces
from support.service import jejak
from support.wait import until


def test_it_has_all_that_is_held(service, ada):
    ada.patch({"firstName": "Grace", "attributes": {"height": 170}})
    other = ada.session()
    answer = ada.get("/v1/users/me/export")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "private, no-store"
    assert answer.headers["content-disposition"].startswith('attachment; filename="jejak-user-')
    document = answer.json()
    assert list(document) == ["format", "formatVersion", "exportedAt", "position", "user",
                              "sessions", "history", "access"]
    assert (document["format"], document["formatVersion"]) == ("jejak-user", 1)
    assert document["user"] == ada.get().json()
    assert {session["id"] for session in document["sessions"]} == ada.sessions()
    listed = {session["id"]: session for session in ada.get("/v1/sessions").json()["items"]}
    for session in document["sessions"]:
        assert {**session, "current": listed[session["id"]]["current"]} == listed[session["id"]]
    for part, stream in (("history", "profile"), ("access", "access")):
        expected = ada.get("/v1/users/me/history",
                           params={"stream": stream, "order": "asc"}).json()["items"]
        assert document[part] == expected and expected
    assert other.token not in answer.text and ada.token not in answer.text


def test_operators_need_both_scopes(service, database, ada):
    path = f"/v1/users/{ada.id}/export"
    for scopes, missing in ((["users:read"], "audit:read"), (["audit:read"], "users:read")):
        with http(service) as client:
            client.headers["authorization"] = f"Bearer {service.api_key(*scopes)}"
            assert problem(client.get(path), 403, "insufficient-scope")["scope"] == missing
    with http(service) as client:
        client.headers["authorization"] = f"Bearer {service.api_key('users:read', 'audit:read')}"
        theirs = client.get(path).json()
        assert client.request("HEAD", path).status_code == 200
        problem(client.get(path + "?x=1"), 400, "malformed-request")
        problem(client.get("/v1/users/01a22abc-86f0-7172-a247-47adcfe285ce/export"), 404,
                "not-found")
        problem(client.get("/v1/users/me/export"), 403, "forbidden")
    own = ada.get(path).json()
    del own["exportedAt"], theirs["exportedAt"]
    assert own == theirs
    printed = jejak("user", "export", ada.email, url=database.url)
    assert printed.returncode == 0, printed.stderr
    told = json.loads(printed.stdout)
    del told["exportedAt"]
    # Other commands may have been carried out meanwhile, of this person none.
    assert {**told, "position": own["position"]} == own
    problem(signed_in(service).get(path), 404, "not-found")
    problem(http(service).get(path), 401, "authentication-required")


def test_a_long_one_is_streamed_and_complete(service):
    person = signed_in(service)
    for number in range(1, 1203):
        assert person.patch({"firstName": f"name {number}"}).status_code == 200
    with person.http.stream("GET", "/v1/users/me/export", headers={
            "Authorization": f"Bearer {person.token}"}) as answer:
        assert answer.headers["transfer-encoding"] == "chunked"
        document = json.loads(answer.read())
    assert [entry["version"] for entry in document["history"]] == list(range(1, 1204))
    assert document["history"][-1]["changes"][0]["new"] == "name 1202"


def test_one_that_an_erasure_breaks_off_is_no_mistake(service, database):
    person, reader = signed_in(service), http(service)
    reader.headers["authorization"] = f"Bearer {service.api_key('users:read', 'audit:read')}"
    with database.connect(autocommit=False) as connection:
        connection.execute("lock table events in access exclusive mode")
        with ThreadPoolExecutor() as pool:
            export = pool.submit(reader.get, f"/v1/users/{person.id}/export")
            until("it waits for the events", lambda: database.value(
                "select count(*) > 0 from pg_locks "
                "where relation = 'events'::regclass and not granted"))
            connection.execute("insert into erasures values (%s, 1, now())", [person.id])
            connection.execute("delete from current_users where user_id = %s", [person.id])
            connection.commit()
            with pytest.raises(httpx.TransportError):
                export.result()
    lines = [line for line in service.stderr(20_000).splitlines() if "has been erased" in line]
    assert len(lines) == 1, service.stderr()
    assert "broken off" in lines[0] and "Erasure(" not in service.stderr()
    assert not re.search("error", lines[0], re.IGNORECASE)


def test_every_string_of_a_person_is_in_theirs_alone(service):
    ada, bob = Marked.plain(service), Marked.plain(service)
    for person, other in ((ada, bob), (bob, ada)):
        text = {"export": person.get("/v1/users/me/export").content}
        known = {name: mark for name, mark in person.marks.items()
                 if not any(secret in name for secret in ("password", "key", "token"))}
        assert names_of(traces(known, text)) == known.keys()
        assert traces(other.marks, text) == []
        assert traces({name: mark for name, mark in person.marks.items() if name not in known},
                      text) == []
