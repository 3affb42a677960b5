"""Rotations and sealings that are killed at random moments: nobody's key or payload is lost.

`JEJAK_TEST_ROTATION_KILLS` changes the number of kills, `JEJAK_TEST_SEED` the moments.
"""

import os
import random
import subprocess
import uuid

import pytest
from support import processes, sealing
from support.client import signed_in
from support.load import Load
from support.log import check_all, new_values
from support.sealing import Opener
from support.service import Service, binary, environment, jejak
from support.wait import until

KILLS = int(os.environ.get("JEJAK_TEST_ROTATION_KILLS", "10"))
SEED = int(os.environ.get("JEJAK_TEST_SEED", random.SystemRandom().randrange(10**6)))
# So many that a rotation takes a while.
KEYS = 40_000
EVENTS = 100_000


@pytest.fixture
def database(fresh_database):
    return fresh_database


@pytest.fixture
def key_file(tmp_path):
    return sealing.write_keys(tmp_path / "master-keys", {1: os.urandom(32)})


def env(key_file):
    return {"JEJAK_MASTER_KEY_FILE": key_file}


def begin(database, key_file, *arguments):
    """A command as a process of its own."""
    return processes.start(
        [binary(), *arguments],
        env=environment({"JEJAK_DATABASE_URL": database.url, **env(key_file)}),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)


def killed(process, moment):
    """Kills a process after so many seconds; false where it had ended, and well."""
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    assert process.returncode == 0, process.stderr.read()
    return False


def add_keys(database, key_file, count):
    """Keys of people who do nothing; what they are, by user."""
    master = sealing.read_keys(key_file)[1]
    keys = {str(uuid.uuid4()): os.urandom(32) for _ in range(count)}
    with database.connect() as connection, connection.cursor().copy(
            "copy user_keys (user_id, master_key, wrapped_key) from stdin") as copy:
        for user, key in keys.items():
            copy.write_row((user, 1, sealing.seal(master, key, sealing.user_binding(1, user))))
    return keys


def check_keys(database, key_file, expected):
    """Every key opens, by whichever master key it is wrapped, and is the one it was."""
    master = sealing.read_keys(key_file)
    found = {
        user: sealing.unseal(master[number], wrapped, sealing.user_binding(number, user))
        for user, number, wrapped in database.rows(
            "select user_id::text, master_key, wrapped_key from user_keys")}
    assert expected.items() <= found.items()
    return found


def progress(database):
    """The master key in use, and how many are still under another one."""
    return database.rows("""
        select s.master_key, count(k.user_id) filter (where k.master_key <> s.master_key)
          from sealing s left join user_keys k on true group by 1""")[0]


def test_ten_kills_of_a_rotation_under_load(database, key_file):
    print(f"JEJAK_TEST_SEED={SEED}")
    dice = random.Random(SEED)
    with Service(database.url, env=env(key_file)) as service:
        load = Load(service, connections=8, people=8)
        keys = add_keys(database, key_file, KEYS)
        keys = check_keys(database, key_file, keys)
        load.start()
        load.wait_acknowledged(100)
        kills = halves = rounds = 0
        while kills < KILLS:
            rounds += 1
            moment = dice.uniform(0.02, 1.5)
            kills += killed(begin(database, key_file, "key", "rotate"), moment)
            in_use, left = progress(database)
            halves += 0 < left < KEYS
            print(f"round {rounds}, after {moment:.2f} s: key {in_use} in use, {left} left")
            # Who registers meanwhile comes under the key in use.
            person = signed_in(service)
            assert database.value(
                "select master_key from user_keys where user_id = %s", person.id) == in_use
            load.wait_acknowledged(20)
            keys = check_keys(database, key_file, keys)
            assert rounds < KILLS * 20, "it never gets killed"
        assert halves > 0, "no kill met it at work"
        last = jejak("key", "rotate", url=database.url, env=env(key_file))
        assert last.returncode == 0, last.stderr
        in_use, left = progress(database)
        assert left == 0 and in_use == max(sealing.read_keys(key_file))
        check_keys(database, key_file, keys)
        load.wait_acknowledged(50)
        load.stop()
        # The keys of before are needed no more.
        sealing.write_keys(key_file, {in_use: sealing.read_keys(key_file)[in_use]})
        service.restart()
        load.start()
        load.wait_acknowledged(50)
        load.stop()
        load.check(new_values(check_all(database, key_file)))


def plain(database, key_file, count):
    """Makes a log as a release before sealing left it, with so many events; their texts."""
    person = database.value("select user_id::text from current_users limit 1")
    last = database.value(
        "select access_version from current_users where user_id = %s", person)
    opener = Opener(database, key_file)
    with database.connect(autocommit=False) as connection:
        for position, *place in connection.execute(
                f"select position, {sealing.PLACE} from events").fetchall():
            text = opener.open(*place)
            connection.execute("update events set payload = %s where position = %s",
                               [text, position])
        connection.execute("""
            insert into events (position, user_id, stream, version, event_id, type, schema,
              recorded_at, actor_kind, changed, payload, payload_sha256)
            select head.position + n, %s, 2, %s + n, gen_random_uuid(), 'SignInFailed', 1,
                   head.at + n * interval '1 microsecond', 3, '{}',
                   convert_to('{"changes":[],"source":{"agent":"' || n || '"}}', 'UTF8'), ''
              from (select max(position) as position, max(recorded_at) as at from events) head,
                   generate_series(1, %s) n""", [person, last, count])
        connection.execute("update events set payload_sha256 = sha256(payload)")
        connection.execute("update current_users set access_version = %s where user_id = %s",
                           [last + count, person])
        connection.execute("delete from user_keys")
        # Nothing was signed before there was sealing.
        connection.execute("truncate checkpoints, log_origins, tree_tiles, tree_edge")
        connection.execute("update notary set size = 0")
        connection.execute(
            "update sealing set master_key = null, wrapped_secret = null, is_complete = false")
        return [bytes(row[0]) for row in connection.execute(
            "select payload from events order by position").fetchall()]


def test_kills_of_the_sealing_of_a_log(database, key_file):
    print(f"JEJAK_TEST_SEED={SEED}")
    dice = random.Random(SEED)
    with Service(database.url, env=env(key_file)) as service:
        for _ in range(3):
            signed_in(service, firstName="Before")
    texts = plain(database, key_file, EVENTS)
    kills = halves = rounds = 0
    done = 0
    while kills < KILLS and not database.value("select is_complete from sealing"):
        rounds += 1
        moment = dice.uniform(0.05, 0.3)
        kills += killed(begin(database, key_file, "migrate"), moment)
        # The server may be about to commit what the process had sent.
        until("its session has ended", lambda: not database.value(
            "select count(*) from pg_stat_activity where application_name = 'jejak sealing'"
            " and datname = current_database()"))
        before, done = done, database.value(
            "select count(*) from events where get_byte(payload, 0) = 1")
        print(f"round {rounds}, after {moment:.2f} s: {done} sealed")
        assert done >= before
        halves += 0 < done < len(texts)
    assert halves > 0, "no kill met it at work"
    result = jejak("migrate", url=database.url, env=env(key_file))
    assert result.returncode == 0, result.stderr
    assert database.value("select is_complete from sealing")
    assert Opener(database, key_file).texts() == texts
    check_all(database, key_file)
    verified = jejak("projection", "verify", "current_users", url=database.url, env=env(key_file))
    assert verified.returncode == 0, verified.stdout + verified.stderr
