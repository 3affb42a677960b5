"""A key file that is lost, or another one: what commands and running services say of it."""

import json
import os
import shutil

import pytest
from support import sealing
from support.client import PASSWORD, http, problem, signed_in
from support.projections import wait_caught_up
from support.service import Service, jejak
from support.wait import until


@pytest.fixture
def key_file(tmp_path):
    return sealing.write_keys(tmp_path / "master-keys", {1: os.urandom(32)})


def env(key_file):
    return {"JEJAK_MASTER_KEY_FILE": key_file}


def ready(service):
    """Status and body of `/readyz`."""
    with http(service) as client:
        response = client.get("/readyz")
        return response.status_code, response.json()


def logged(service, message):
    """The lines with this message."""
    lines = [json.loads(line) for line in service.stderr(1_000_000).splitlines()]
    return [line for line in lines if line["message"] == message]


def listed(database, key_file):
    result = jejak("key", "list", "--json", url=database.url, env=env(key_file))
    keys = [(key["masterKey"], key["inFile"], key["isRight"]) for key in json.loads(result.stdout)]
    return result.returncode, keys


def test_list_tells_another_key_by_its_number(fresh_database, key_file):
    database = fresh_database
    with Service(database.url, env=env(key_file)) as service:
        signed_in(service)
    right = sealing.read_keys(key_file)[1]
    assert listed(database, key_file) == (0, [(1, True, True)])
    sealing.write_keys(key_file, {1: bytes([right[0] ^ 1]) + right[1:]})
    assert listed(database, key_file) == (1, [(1, True, False)])
    result = jejak("key", "list", url=database.url, env=env(key_file))
    assert result.returncode == 1 and "another key" in result.stdout
    assert "master key 1 is not the one that this log was sealed with" in result.stderr
    # One that is not in use is known by the users who are under it.
    keys = {1: right, 2: os.urandom(32)}
    sealing.write_keys(key_file, keys)
    assert listed(database, key_file) == (0, [(1, True, True), (2, True, None)])
    with database.connect(autocommit=False) as connection:
        connection.execute("create temporary table before as select * from user_keys")
        rotated = jejak("key", "rotate", url=database.url, env=env(key_file))
        assert rotated.stdout == "master key 2 is in use; 1 key was wrapped anew\n"
        connection.execute("update user_keys k set master_key = b.master_key, "
                           "wrapped_key = b.wrapped_key from before b where k.user_id = b.user_id")
        connection.commit()
    assert listed(database, key_file) == (0, [(1, True, True), (2, True, True)])
    sealing.write_keys(key_file, {1: os.urandom(32), 2: keys[2]})
    assert listed(database, key_file) == (1, [(1, True, False), (2, True, True)])


def test_hints_do_not_lead_to_a_new_key_for_an_old_log(fresh_database, key_file):
    url = fresh_database.url
    with Service(url, env=env(key_file)) as service:
        signed_in(service)
    kept = key_file.read_text()
    advice = "for a log that exists put your copy of it back"
    key_file.write_text("")
    for setting in (key_file, None, key_file.with_name("none")):
        result = jejak("key", "list", url=url, env=env(setting))
        assert result.returncode == 1 and advice in result.stderr
    key_file.unlink()
    # A new key under the number of the one that was lost would look as if nothing were wrong.
    result = jejak("key", "generate", url=url, env=env(key_file))
    assert result.returncode == 1 and "used master keys up to 1" in result.stderr
    assert not key_file.exists()
    key_file.touch(mode=0o600)
    key_file.write_text(kept)
    assert jejak("key", "generate", url=url, env=env(key_file)).returncode == 0
    assert list(sealing.read_keys(key_file)) == [1, 2]


def test_generate_needs_no_database(tmp_path):
    key_file = tmp_path / "master-keys"
    result = jejak("key", "generate", url="postgresql://127.0.0.1:1/none", env=env(key_file))
    assert result.returncode == 0 and "can't be told" in result.stderr
    assert list(sealing.read_keys(key_file)) == [1]


@pytest.mark.parametrize("code", ["key-file-unusable", "master-key-missing", "master-key-differs"])
def test_a_service_tells_that_its_key_file_is_lost(fresh_database, key_file, code):
    with Service(fresh_database.url, env=env(key_file)) as service:
        kept = key_file.read_text()
        if code == "key-file-unusable":
            key_file.unlink()
        else:
            number = 1 if code == "master-key-differs" else 2
            sealing.write_keys(key_file, {number: os.urandom(32)})
        until("readyz tells it", lambda: ready(service)[1]["status"] == "degraded")
        status, body = ready(service)
        assert status == 200
        assert (body["keys"]["masterKey"], body["keys"]["code"]) == (1, code)
        assert body["keys"]["reason"]
        # What it knows in memory does.
        signed_in(service)
        key_file.touch(mode=0o600)
        key_file.write_text(kept)
        until("readyz is well again", lambda: ready(service) == (200, {"status": "ok"}))
        lost, = logged(service, "the key file no longer has the master key in use; "
                       "put it back before the service ends")
        assert (lost["level"], lost["code"]) == ("error", code)
        well, = logged(service, "the key file has the master key in use again")
        assert (well["level"], well["masterKey"]) == ("notice", 1)


@pytest.mark.parametrize("lacks", ["missing", "another", "damaged"])
def test_a_service_that_was_not_given_the_new_key(fresh_database, key_file, tmp_path, lacks):
    database = fresh_database
    own = tmp_path / "own-keys"
    shutil.copy(key_file, own)
    # The one with a key file of its own comes first, so it runs the projections.
    with (Service(database.url, env=env(own)) as late,
          Service(database.url, env=env(key_file)) as service):
        wait_caught_up(database)
        until("it runs the projections", lambda: logged(late, "runs the projections"))
        old = sealing.read_keys(own)
        if lacks == "another":
            sealing.write_keys(own, {**old, 2: os.urandom(32)})
        rotated = jejak("key", "rotate", url=database.url, env=env(key_file))
        assert rotated.returncode == 0, rotated.stderr
        registration = {"email": "late@example.com", "password": "a rather long password"}
        with http(late) as client:
            # Nobody comes under a key that the other services don't have.
            problem(client.post("/v1/users", json=registration), 503, "key-unavailable")
            until("readyz tells it", lambda: ready(late)[0] == 503)
            answer = client.get("/readyz")
            problem(answer, 503, "key-unavailable")
            assert answer.json()["masterKey"] == 2
        assert ready(service)[0] == 200
        if lacks != "another":
            person = signed_in(service, firstName="Ada")
            until("the directory waits", lambda: [
                line for line in logged(late, "a projection waits")
                if line["projection"] == "directory" and "no master key 2" in line["reason"]])
            assert database.value("select stopped_at from projections where name = 'directory'") \
                is None
        if lacks == "damaged":
            position = database.value(
                "update events set payload = set_byte(payload, 40, 255 - get_byte(payload, 40)) "
                "where user_id = %s and type = 'UserRegistered' returning position", person.id)
        shutil.copy(key_file, own)
        until("readyz is well again", lambda: ready(late)[0] == 200)
        if lacks == "damaged":
            until("the directory stops", lambda: database.value(
                "select stopped_at from projections where name = 'directory'") == position)
            return
        wait_caught_up(database)
        assert ready(late) == (200, {"status": "ok"})
        assert not logged(late, "a projection has stopped")
        told, = logged(late, "the master key in use is not known; put it into the key file")
        assert told["level"] == "error"
        with http(late) as client:
            assert client.post("/v1/users", json=registration).status_code == 201


def test_a_database_of_one_s_own_is_told_what_is_not_kept_outside(fresh_database, tmp_path):
    message = "no checkpoint is kept outside the database; set JEJAK_CHECKPOINT_FILE"
    with Service(fresh_database.url) as service:
        assert logged(service, message)[0]["level"] == "notice"
    with Service(fresh_database.url, env={
            "JEJAK_CHECKPOINT_FILE": tmp_path / "checkpoint"}) as service:
        assert not logged(service, message)


def test_a_key_that_was_taken_out_too_early_is_told(fresh_database, key_file):
    database = fresh_database
    with Service(database.url, env=env(key_file)) as service:
        people = [signed_in(service) for _ in range(3)]
    keys = sealing.read_keys(key_file)
    sealing.write_keys(key_file, {**keys, 2: os.urandom(32)})
    with database.connect(autocommit=False) as connection:
        connection.execute("create temporary table before as select * from user_keys")
        assert jejak("key", "rotate", url=database.url, env=env(key_file)).returncode == 0
        # As a rotation leaves it that was killed on its way.
        connection.execute(
            "update user_keys k set master_key = b.master_key, wrapped_key = b.wrapped_key "
            "from before b where k.user_id = b.user_id and k.user_id = any(%s::uuid[])",
            [[person.id for person in people[:2]]])
        connection.commit()
    whole = sealing.read_keys(key_file)
    sealing.write_keys(key_file, {2: whole[2]})
    message = ("keys of users are wrapped by a master key that is not known; "
               "put it back into the key file")
    with Service(database.url, env=env(key_file)) as service:
        until("it is told", lambda: ready(service)[1].get("keys"))
        status, body = ready(service)
        assert (status, body["status"]) == (200, "degraded")
        assert body["keys"].items() >= {
            "masterKey": 1, "code": "master-key-missing", "users": 2}.items()
        assert [line["users"] for line in logged(service, message)] == [2]
        with http(service) as client:
            login = {"email": people[0].email, "password": PASSWORD}
            problem(client.post("/v1/sessions", json=login), 503, "key-unavailable")
        audit = service.api_key("audit:read")
        with http(service) as client:
            lines = client.get(f"/v1/users/{people[0].id}/history", headers={
                "Authorization": f"Bearer {audit}", "Accept": "text/csv"}).text.splitlines()
            entry = client.get(f"/v1/users/{people[0].id}/history", headers={
                "Authorization": f"Bearer {audit}"}).json()["items"][0]
        assert lines[0].endswith(",unreadable") and len(lines) > 1
        reason = "the key file has no master key 1"
        assert all(line.endswith(f",{reason}") for line in lines[1:])
        assert (entry["changes"], entry["unreadable"]) == (None, reason)
        sealing.write_keys(key_file, whole)
        until("all is well", lambda: "keys" not in ready(service)[1])
        assert logged(service, "the keys of all users can be opened again")
        with http(service) as client:
            assert client.post("/v1/sessions", json=login).status_code == 201
