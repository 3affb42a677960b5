"""Sealed payloads and master keys, seen from outside and opened by a second implementation."""

import json
import os
import stat

import pytest
from support import log, sealing
from support.client import PASSWORD, Person, http, problem, signed_in
from support.load import Load
from support.sealing import Opener
from support.service import Service, jejak
from support.threads import together
from support.wait import until


@pytest.fixture
def key_file(tmp_path):
    """A key file with one key, for a test that changes it."""
    return sealing.write_keys(tmp_path / "master-keys", {1: os.urandom(32)})


def env(key_file):
    return {"JEJAK_MASTER_KEY_FILE": key_file}


def test_a_dump_tells_no_value_of_a_payload(service, database, postgres):
    person = signed_in(service, firstName="Zebulon", attributes={"height": 187.25})
    assert person.patch({"firstName": "Ignatius"}).status_code == 200
    events = postgres.tool("pg_dump", "--data-only", "-t", "events", database.name).stdout
    for value in (b"Zebulon", b"Ignatius", b"187.25", person.email.encode()):
        assert value not in events
        # bytea is dumped in hexadecimal digits.
        assert value.hex().encode() not in events
    texts = Opener(database).texts("user_id = %s", person.id)
    assert json.loads(texts[0])["changes"][0]["new"] == person.email
    assert json.loads(texts[-1])["changes"] == [
        {"field": "firstName", "old": "Zebulon", "new": "Ignatius"}]
    assert database.value("select bool_and(payload_sha256 = sha256(payload)) from events")


def test_a_payload_opens_at_its_own_place_alone(service, database):
    ada, grace = signed_in(service, firstName="Ada"), signed_in(service, firstName="Grace")
    opener = Opener(database)
    row, other = (
        database.rows(f"select {sealing.PLACE} from events where user_id = %s and stream = 1",
                      person.id)[0] for person in (ada, grace))
    user, stream, version, kind, schema, payload = row
    assert sealing.opens(opener, *row)
    assert not sealing.opens(opener, grace.id, *row[1:])
    assert not sealing.opens(opener, user, 2, version, kind, schema, payload)
    assert not sealing.opens(opener, user, stream, 2, kind, schema, payload)
    assert not sealing.opens(opener, user, stream, version, "ProfileUpdated", schema, payload)
    assert not sealing.opens(opener, user, stream, version, kind, 2, payload)
    assert not sealing.opens(opener, *row[:5], other[5])


@pytest.mark.parametrize("change", [
    "payload = (select payload from events where user_id = '{other}' and stream = 1)",
    "payload = '\\x7b7d'", "payload = set_byte(payload, 40, 255 - get_byte(payload, 40))"])
def test_a_payload_that_was_exchanged_is_told_and_harms_nobody_else(fresh_database, change):
    with Service(fresh_database.url) as service:
        ada, grace = signed_in(service, firstName="Ada"), signed_in(service, firstName="Grace")
        position = fresh_database.value(
            f"update events set {change.format(other=grace.id)} where user_id = %s "
            "and stream = 1 returning position", ada.id)
        answer = ada.get("/v1/users/me?version=1")
        assert (answer.status_code, answer.json()["code"]) == (503, "unreadable-event")
        assert answer.json()["position"] == position
        entry = ada.history(order="asc")[0]
        assert (entry["type"], entry["changes"]) == ("UserRegistered", None)
        assert grace.get("/v1/users/me?version=1").json()["firstName"] == "Grace"
        assert ada.get().json()["firstName"] == "Ada"
        result = jejak("projection", "verify", "current_users", url=fresh_database.url)
        assert result.returncode == 1 and f"position {position}" in result.stderr
        assert "does not open" in result.stderr


def test_parallel_sign_ins_are_each_a_version_of_their_own(service, database):
    person = signed_in(service)

    def attempt(number):
        with http(service) as client:
            if number % 4 == 0:
                client.post("/v1/sessions", json={"email": person.email, "password": "wrong one"})
            answer = client.post(
                "/v1/sessions", json={"email": person.email, "password": PASSWORD})
            return answer.status_code

    assert together(20, attempt) == [201] * 20
    until("the failures are noted", lambda: database.value(
        "select count(*) from events where user_id = %s and type = 'SignInFailed'",
        person.id) == 5)
    log.check_all(database)


def start(url, env, *arguments):
    """The result of a `serve` that is expected to end by itself."""
    return jejak("serve", "--listen", "127.0.0.1:0", *arguments, url=url, env=env, timeout=30)


def test_the_service_refuses_to_start_without_the_right_key(fresh_database, key_file, tmp_path):
    url = fresh_database.url
    with Service(url, env=env(key_file)) as service:
        signed_in(service)
    right = key_file.read_text()
    for keys, words in (
            ({1: os.urandom(32)}, "master key 1 is not the one"),
            ({2: os.urandom(32), 7: os.urandom(32)}, "master key 1 is in use")):
        sealing.write_keys(key_file, keys)
        for result in (start(url, env(key_file)),
                       jejak("projection", "verify", "current_users", url=url, env=env(key_file)),
                       jejak("audit", url=url, env=env(key_file))):
            assert result.returncode == 1, result
            assert words in result.stderr
    unset = start(url, {"JEJAK_MASTER_KEY_FILE": None})
    assert unset.returncode == 1 and "JEJAK_MASTER_KEY_FILE" in unset.stderr
    missing = start(url, {"JEJAK_MASTER_KEY_FILE": tmp_path / "none"})
    assert missing.returncode == 1 and "there is no file" in missing.stderr
    key_file.write_text(right)
    for mode in (0o604, 0o640 if os.geteuid() else 0o660, 0o666):
        key_file.chmod(mode)
        result = start(url, env(key_file))
        assert result.returncode == 1 and "chmod 600" in result.stderr
    key_file.chmod(0o600)
    with Service(url, env=env(key_file)) as service:
        assert service.ready()


def test_no_message_tells_a_key(fresh_database, key_file):
    key = key_file.read_text().split()[1]
    for text in (f"1 {key}\n1 {key}\n", f"x {key}\n", f"1 {key} {key}\n", f"1 {key[:-1]}\n"):
        key_file.write_text(text)
        result = start(fresh_database.url, env(key_file))
        assert result.returncode == 1 and f"{key_file}:" in result.stderr
        assert key[:20] not in result.stderr + result.stdout


def test_an_embedded_log_has_its_key_in_the_data_directory(tmp_path):
    directory = sealing.processes.short_directory() / "data"
    settings = {"JEJAK_DATA_DIR": directory}
    with Service(env=settings) as service:
        person = signed_in(service)
        assert "made master keys" in service.stderr()
        file = directory / "master-keys"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        listed = jejak("key", "list", "--json", env=settings)
        assert json.loads(listed.stdout) == [
            {"masterKey": 1, "inFile": True, "isRight": True, "inUse": True, "users": 1}]
        assert jejak("history", person.email, env=settings).returncode == 0
    kept = file.read_text()
    file.unlink()
    # A new key could not stand for the one in use.
    result = jejak("serve", "--listen", "127.0.0.1:0", env=settings, timeout=30)
    assert result.returncode == 1 and "there is no file" in result.stderr
    assert not file.exists()
    file.touch(mode=0o600)
    file.write_text(kept)
    with Service(env=settings) as service:
        assert service.ready()
        assert "made master keys" not in service.stderr()


def test_generate_adds_a_key_and_keeps_the_others(tmp_path):
    file = tmp_path / "keys"
    settings = {"JEJAK_MASTER_KEY_FILE": file}
    results = together(4, lambda _: jejak("key", "generate", "--json", env=settings))
    assert [result.returncode for result in results] == [0] * 4
    numbers = sorted(json.loads(result.stdout)["masterKey"] for result in results)
    assert numbers == [1, 2, 3, 4]
    keys = sealing.read_keys(file)
    assert list(keys) == [1, 2, 3, 4] and len(set(keys.values())) == 4
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    unset = jejak("key", "generate", url="postgresql://localhost/none",
                  env={"JEJAK_MASTER_KEY_FILE": None})
    assert unset.returncode == 1 and "JEJAK_MASTER_KEY_FILE" in unset.stderr
    for wrong in ([], ["burn"], ["list", "all"]):
        assert jejak("key", *wrong, env=settings).returncode == 2


def users_by_key(database):
    return dict(database.rows("select master_key, count(*) from user_keys group by 1"))


def test_a_rotation_brings_everybody_to_the_new_key(fresh_database, key_file):
    database = fresh_database
    with Service(database.url, env=env(key_file)) as service:
        people = [signed_in(service) for _ in range(5)]
        before = database.rows("select position, payload from events order by position")
        rotated = jejak("key", "rotate", "--json", url=database.url, env=env(key_file))
        assert rotated.returncode == 0, rotated.stderr
        assert json.loads(rotated.stdout) == {
            "masterKey": 2, "isNew": True, "rewrapped": 5, "failures": 0, "unopened": []}
        assert users_by_key(database) == {2: 5}
        # The running service knows nothing of it until it meets the new number.
        for person in people:
            assert person.patch({"firstName": "Renewed"}).status_code == 200
            assert person.get("/v1/users/me?version=1").status_code == 200
        signed_in(service)
        assert users_by_key(database) == {2: 6}
        # No payload was touched.
        assert database.rows("select position, payload from events order by position limit %s",
                             len(before)) == before
        assert list(sealing.read_keys(key_file)) == [1, 2]
        opener = Opener(database, key_file)
        assert opener.texts()
        # A key that was generated before is taken, and none is made.
        assert jejak("key", "generate", env=env(key_file)).returncode == 0
        again = jejak("key", "rotate", "--json", url=database.url, env=env(key_file))
        report = json.loads(again.stdout)
        assert (report["masterKey"], report["isNew"], report["rewrapped"]) == (3, False, 6)
    # The first two keys are needed by nobody.
    sealing.write_keys(key_file, {3: sealing.read_keys(key_file)[3]})
    with Service(database.url, env=env(key_file)) as service:
        assert http(service).post("/v1/sessions", json={
            "email": people[0].email, "password": PASSWORD}).status_code == 201
    result = jejak("projection", "verify", "current_users", url=database.url, env=env(key_file))
    assert result.returncode == 0, result.stdout


def test_several_rotations_at_once_do_it_once(fresh_database, key_file):
    database = fresh_database
    with Service(database.url, env=env(key_file)) as service:
        for _ in range(3):
            signed_in(service)
        results = together(4, lambda _: jejak(
            "key", "rotate", "--json", url=database.url, env=env(key_file)))
        assert [result.returncode for result in results] == [0] * 4
        newest = max(sealing.read_keys(key_file))
        assert users_by_key(database) == {newest: 3}
        assert database.value("select master_key from sealing") == newest
        signed_in(service)
        assert users_by_key(database) == {newest: 4}


def test_a_key_that_can_not_be_opened_is_named_and_stays(fresh_database, key_file):
    database = fresh_database
    with Service(database.url, env=env(key_file)) as service:
        lost, kept = signed_in(service), signed_in(service)
        database.rows("update user_keys set wrapped_key = '\\x00' where user_id = %s", lost.id)
        result = jejak("key", "rotate", url=database.url, env=env(key_file))
        assert result.returncode == 1
        assert f"not opened: {lost.id}" in result.stdout and kept.id not in result.stdout
        assert users_by_key(database) == {1: 1, 2: 1}
        # Nothing can be written for them, nor read but for what they are now.
        problem(lost.patch({"firstName": "X"}), 503, "key-unavailable")
        problem(lost.sign_in(), 503, "key-unavailable")
        problem(lost.get("/v1/users/me?version=1"), 503, "unreadable-event")
        assert lost.get().status_code == 200
        assert kept.patch({"firstName": "X"}).status_code == 200


def unseal_log(database, key_file=None):
    """Makes a log as a release before sealing left it: JSON in the table, and no keys."""
    opener = Opener(database, key_file)
    with database.connect(autocommit=False) as connection:
        rows = connection.execute(
            f"select position, {sealing.PLACE} from events order by position").fetchall()
        for position, *place in rows:
            text = opener.open(*place)
            connection.execute(
                "update events set payload = %s, payload_sha256 = sha256(%s) where position = %s",
                [text, text, position])
        connection.execute("delete from user_keys")
        # Nothing was signed before there was sealing.
        connection.execute("truncate checkpoints, log_origins, tree_tiles, tree_edge")
        connection.execute("update notary set size = 0")
        connection.execute(
            "update sealing set master_key = null, wrapped_secret = null, is_complete = false")
    return rows


def test_a_log_of_before_is_sealed_once(fresh_database, key_file):
    database = fresh_database
    with Service(database.url, env=env(key_file)) as service:
        people = [signed_in(service, firstName="Before") for _ in range(4)]
        for number in range(10):
            assert people[0].patch({"lastName": f"Name {number}"}).status_code == 200
        histories = [person.history() for person in people]
    unseal_log(database, key_file)
    check = jejak("migrate", "--check", "--json", url=database.url, env=env(key_file))
    assert check.returncode == 1 and json.loads(check.stdout) == {"pending": ["sealing"]}
    # Reading works meanwhile, serving without migrating does not.
    assert "Before" in jejak("history", people[1].email, url=database.url, env=env(key_file)).stdout
    refused = start(database.url, env(key_file), "--no-migrate")
    assert refused.returncode == 1 and "jejak migrate" in refused.stderr
    keyless = jejak("migrate", url=database.url, env={"JEJAK_MASTER_KEY_FILE": None})
    assert keyless.returncode == 1 and "JEJAK_MASTER_KEY_FILE" in keyless.stderr
    results = together(3, lambda _: jejak(
        "migrate", "--json", url=database.url, env=env(key_file)))
    assert [result.returncode for result in results] == [0] * 3, [r.stderr for r in results]
    applied = [json.loads(result.stdout)["applied"] for result in results]
    assert sorted(applied) == [[], [], ["sealing"]]
    assert database.value("select is_complete from sealing")
    assert database.value(
        "select bool_and(get_byte(payload, 0) = 1 and payload_sha256 = sha256(payload))"
        " from events")
    rows = Opener(database, key_file).texts()
    assert len(rows) == database.value("select count(*) from events")
    with Service(database.url, env=env(key_file)) as service:
        for person, then in zip(people, histories, strict=True):
            back = Person(service, person.email)
            assert back.sign_in().status_code == 201
            assert back.history() == then
    # From now on a payload as it was before is refused.
    database.rows("""update events set payload = '{"changes":[],"source":{}}' where position = 1""")
    result = jejak("projection", "verify", "current_users", url=database.url, env=env(key_file))
    assert result.returncode == 1 and "does not open" in result.stderr


def forge(database, victim, thief):
    """What whoever can write every table does to sign in as somebody else, without a key."""
    database.rows("""
        insert into events select (select max(position) + 1 from events), now(), user_id,
            gen_random_uuid(), actor_id, (select version + 1 from current_users
            where user_id = %s), 1, 1, actor_kind, 'PasswordChanged', 'forged', null, '{password}',
            p.payload, sha256(p.payload)
          from events e, (select convert_to('{"changes":[],"commitment":"'
            || encode(commitment, 'hex') || '"}', 'UTF8') as payload from credentials
            where user_id = %s) p
         where e.user_id = %s order by position limit 1""", victim, thief, victim)
    database.rows("update current_users set version = version + 1 where user_id = %s", victim)
    database.rows("update credentials c set password_hash = o.password_hash, "
                  "commitment = o.commitment from credentials o "
                  "where c.user_id = %s and o.user_id = %s", victim, thief)
    return database.value("select max(position) from events")


@pytest.mark.parametrize("hidden", [
    "update sealing set is_complete = false",
    "update sealing set is_complete = false, master_key = null, wrapped_secret = null",
    "update sealing set is_complete = false, master_key = null, wrapped_secret = null; "
    "truncate user_keys"])
def test_a_log_that_was_sealed_is_not_sealed_again(fresh_database, key_file, tmp_path, hidden):
    """A forged event in the plain is neither read nor sealed nor signed, whatever a column says."""
    database, settings = fresh_database, {
        **env(key_file), "JEJAK_CHECKPOINT_FILE": tmp_path / "checkpoint"}
    with Service(database.url, env=settings) as service:
        ada, eve = signed_in(service), signed_in(service)
        until("all is signed", lambda: database.value(
            "select max(size) = (select max(position) from events) from checkpoints"))
    with database.connect() as connection:
        connection.execute(hidden)
    at = forge(database, ada.id, eve.id)
    before = database.rows("select position, payload from events order by position")
    for result in (start(database.url, settings),
                   jejak("migrate", url=database.url, env=settings),
                   jejak("audit", url=database.url, env=settings),
                   start(database.url, settings, "--no-migrate")):
        assert result.returncode == 1, result
    assert database.rows("select position, payload from events order by position") == before
    assert database.value("select max(size) from checkpoints") < at
    result = jejak("verify", "--json", url=database.url, env=settings)
    assert result.returncode == 1
    if "master_key" in hidden:
        assert "it has no master key" in result.stderr
    else:
        problems = [finding["problem"] for finding in json.loads(result.stdout)["first"]]
        assert problems == ["unreadable", "sealing-differs"]


def test_a_column_alone_does_not_make_a_log_a_sealed_one(fresh_database, key_file):
    with Service(fresh_database.url, env=env(key_file)) as service:
        signed_in(service)
    unseal_log(fresh_database, key_file)
    assert jejak("audit", url=fresh_database.url, env=env(key_file)).returncode == 0
    result = jejak("verify", "--json", url=fresh_database.url, env=env(key_file))
    assert result.returncode == 1
    assert {"sealing": None, "problem": "not-sealed"}.items() <= json.loads(
        result.stdout)["first"][0].items()
    fresh_database.rows("update sealing set is_complete = true")
    result = start(fresh_database.url, env(key_file))
    assert result.returncode == 1 and "sealing was altered" in result.stderr + result.stdout


def test_a_log_that_was_signed_is_not_sealed(fresh_database, key_file, tmp_path):
    """Neither where the database says so, nor where a checkpoint outside does."""
    with Service(fresh_database.url, env=env(key_file)) as service:
        signed_in(service)
    unseal_log(fresh_database, key_file)
    (tmp_path / "checkpoint").write_text("kept")
    result = jejak("migrate", url=fresh_database.url, env={
        **env(key_file), "JEJAK_CHECKPOINT_FILE": tmp_path / "checkpoint"})
    assert result.returncode == 1 and "the log was signed" in result.stderr
    # A reader takes the key into use.
    assert jejak("audit", url=fresh_database.url, env=env(key_file)).returncode == 0
    fresh_database.rows("insert into log_origins values (1, 'some', now())")
    result = jejak("migrate", url=fresh_database.url, env=env(key_file))
    assert result.returncode == 1 and "the log was signed" in result.stderr
    fresh_database.rows("delete from log_origins")
    assert jejak("migrate", url=fresh_database.url, env=env(key_file)).returncode == 0


def test_serve_seals_a_log_of_before(fresh_database, key_file):
    database = fresh_database
    with Service(database.url, env=env(key_file)) as service:
        person = signed_in(service, firstName="Before")
    unseal_log(database, key_file)
    with Service(database.url, env=env(key_file)) as service:
        assert "the log is sealed" in service.stderr()
        assert database.value("select is_complete from sealing")
        back = Person(service, person.email)
        assert back.sign_in().status_code == 201
        assert back.get("/v1/users/me?version=1").json()["firstName"] == "Before"


def test_nothing_plain_is_left_in_the_pages_of_the_log(fresh_database, key_file):
    database = fresh_database
    with Service(database.url, env=env(key_file)) as service:
        person = signed_in(service)
        assert person.patch({"firstName": "Xanthippe"}).status_code == 200
        assert person.patch({"firstName": "Other"}).status_code == 200
    unseal_log(database, key_file)
    database.rows("vacuum events")
    assert jejak("migrate", url=database.url, env=env(key_file)).returncode == 0
    database.rows("checkpoint")
    path = database.server.data / database.value("select pg_relation_filepath('events')")
    assert b"Xanthippe" not in path.read_bytes()


RECEIPT = "select receipt_key, request_sha256, answer from command_receipts"


def test_a_receipt_is_of_no_use_without_the_log_s_secret(fresh_database, key_file):
    """What decision 6 once derived from the request alone is not what is stored."""
    database = fresh_database
    with Service(database.url, env=env(key_file)) as service:
        body = json.dumps({"email": "ada@example.com", "password": PASSWORD}).encode()
        with http(service) as client:
            request = {"content": body, "headers": {
                "Content-Type": "application/json", "Idempotency-Key": "guessable"}}
            first = client.post("/v1/users", **request)
            assert first.status_code == 201
            stored = database.rows(RECEIPT)
            assert len(stored) == 1
            # The secret stays the same through a rotation.
            assert jejak("key", "rotate", url=database.url, env=env(key_file)).returncode == 0
            service.restart()
            again = client.post("/v1/users", **request)
            assert again.headers["Idempotency-Replayed"] == "true"
            assert again.content == first.content
        assert database.rows(RECEIPT) == stored
        # Another secret, and the receipt is not found: nothing of it can be told by the request.
        keys = sealing.read_keys(key_file)
        number = database.value("select master_key from sealing")
        wrapped = sealing.seal(
            keys[number], os.urandom(32), b"jejak.secret.v1" + number.to_bytes(4, "big") + b"\1")
        database.rows("update sealing set wrapped_secret = %s", wrapped)
        service.restart()
        with http(service) as client:
            assert client.post("/v1/users", **request).status_code == 409


def test_load_goes_on_through_a_rotation(fresh_database, key_file):
    database = fresh_database
    with Service(database.url, env=env(key_file)) as service:
        load = Load(service, connections=8, people=4)
        load.start()
        for number in (2, 3, 4):
            load.wait_acknowledged(50)
            result = jejak("key", "rotate", "--json", url=database.url, env=env(key_file))
            assert json.loads(result.stdout)["masterKey"] == number
            signed_in(service)
        load.wait_acknowledged(50)
        load.stop()
        assert users_by_key(database) == {4: 7}
        load.check(log.new_values(log.check_all(database, key_file)))
