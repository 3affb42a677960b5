"""The notary, while it is killed, while two of them work, and when the log is not what it was.

`JEJAK_TEST_NOTARY_KILLS` changes the number of kills, `JEJAK_TEST_SEED` the moments.
"""

import itertools
import os
import random
import re
import signal
import threading

import pytest
from support import transparency
from support.client import http, signed_in
from support.load import Load
from support.log import head
from support.processes import short_directory
from support.service import Service, jejak
from support.transparency import Log, Proof, Verifier
from support.wait import until

KILLS = int(os.environ.get("JEJAK_TEST_NOTARY_KILLS", "10"))
SEED = int(os.environ.get("JEJAK_TEST_SEED", random.SystemRandom().randrange(10**6)))
REFUSAL_SECONDS = 30
NOTARY = "application_name = 'jejak notary' and datname = current_database()"


def signed_service(database, **env):
    """A service with a key and a checkpoint file of its own directory; not yet started."""
    directory = short_directory()
    made = jejak("checkpoint", "key", "--origin", "example.com/log",
                 "--signing-key-file", directory / "key")
    assert made.returncode == 0, made.stderr
    service = Service(database.url, env={"JEJAK_SIGNING_KEY_FILE": directory / "key",
                                         "JEJAK_CHECKPOINT_FILE": directory / "checkpoint", **env})
    service.signing, service.verifier = directory, Verifier.parse(made.stdout.strip())
    return service


def wait_signed(database):
    until("all is signed", lambda: transparency.signed_up_to(database) == head(database))


def notary(service):
    """What `/readyz` says of the notary; None where all is well."""
    with http(service) as client:
        response = client.get("/readyz")
    assert response.status_code == 200
    body = response.json()
    assert (body["status"] == "degraded") == ("notary" in body)
    return body.get("notary")


def wait_refusal(service, code):
    """Waits until the notary refuses for this reason, and nothing but signing has stopped."""
    found = until(f"the notary refuses: {code}",
                  lambda: (found := notary(service)) and found["code"] == code and found,
                  REFUSAL_SECONDS)
    assert found["state"] == "refusing" and found["reason"]
    assert signed_in(service).get().status_code == 200
    return found["reason"]


def wait_step(database, who=NOTARY, seconds=30):
    """Returns while a notary is in its transaction, or was a moment ago."""
    query = f"select 1 from pg_stat_activity where {who} and xact_start is not null"
    with database.connect() as watch:
        until("a notary is at work", lambda: watch.execute(query).fetchone(), seconds, every=0.0005)


class Witness(threading.Thread):
    """Keeps every checkpoint that it can get hold of, over HTTP and out of the files."""

    def __init__(self, services):
        super().__init__(daemon=True)
        self.services, self.notes, self.ended = services, set(), threading.Event()

    def run(self):
        while not self.ended.is_set():
            for service in self.services:
                try:
                    with http(service, timeout=5) as client:
                        response = client.get("/v1/log/checkpoint")
                    if response.status_code == 200:
                        self.notes.add(response.text)
                except Exception:  # noqa: BLE001 - it is being killed
                    pass
                path = service.signing / "checkpoint"
                if path.exists():
                    self.notes.add(path.read_text())
            self.ended.wait(0.05)

    def check(self, database, verifier):
        """All that was ever seen or stored is of one tree, and that is the log's."""
        self.ended.set()
        self.join(30)
        assert not self.is_alive()
        stored = {row[0] for row in database.rows("select note from checkpoints")}
        checkpoints = {transparency.open_checkpoint(note, verifier)
                       for note in self.notes | stored}
        sizes = [checkpoint.size for checkpoint in checkpoints]
        assert len(sizes) == len(set(sizes)), "two checkpoints of one size"
        with http(self.services[0]) as client:
            log = Log(client)
            tree = log.tree(max(sizes))
        leaves = [transparency.leaf_hash(entry) for entry in transparency.entries(database)]
        assert tree.leaves == leaves[:tree.size]
        ordered = sorted(checkpoints, key=lambda checkpoint: checkpoint.size)
        for old, new in itertools.combinations(ordered, 2):
            path = tree.consistency(old.size, new.size)
            assert transparency.check_consistency(old.size, new.size, old.root, new.root, path)
        print(f"{len(checkpoints)} checkpoints up to {tree.size}, {len(self.notes)} seen")


def test_kills_under_load_never_sign_two_trees(fresh_database):
    print(f"JEJAK_TEST_SEED={SEED}")
    dice = random.Random(SEED)
    with signed_service(fresh_database) as service:
        witness = Witness([service])
        witness.start()
        load = Load(service, connections=8, people=8)
        load.start()
        for number in range(KILLS):
            load.wait_acknowledged(dice.randrange(1, 400))
            if number % 2:
                wait_step(fresh_database)
            service.kill()
            service.start()
            print(f"kill {number + 1}: signed {transparency.signed_up_to(fresh_database)}"
                  f" of {head(fresh_database)}")
        load.stop()
        wait_signed(fresh_database)
        witness.check(fresh_database, service.verifier)
        assert notary(service) is None


def test_two_services_sign_one_tree(fresh_database):
    print(f"JEJAK_TEST_SEED={SEED}")
    dice = random.Random(SEED)
    with signed_service(fresh_database) as first:
        second = signed_service(fresh_database, JEJAK_SIGNING_KEY_FILE=first.signing / "key")
        with second:
            witness = Witness([first, second])
            witness.start()
            loads = [Load(service, connections=8, people=8) for service in (first, second)]
            for load in loads:
                load.start()
            for _ in range(3):
                loads[0].wait_acknowledged(300)
                killed = dice.choice([first, second])
                killed.kill()
                killed.start()
            for load in loads:
                load.stop()
            wait_signed(fresh_database)
            for service in (first, second):
                until("its file has the last one", lambda service=service:
                      transparency.open_checkpoint((service.signing / "checkpoint").read_text(),
                                                   first.verifier).size == head(fresh_database))
                assert notary(service) is None
            witness.check(fresh_database, first.verifier)
    # Whoever signs: never more than one a second, but for the moment of a kill.
    close = fresh_database.value(
        "select count(*) from (select signed_at - lag(signed_at) over (order by size) as pause"
        " from checkpoints) c where pause < interval '0.99 s'")
    assert close == 0


def test_a_notary_that_freezes_in_its_step_is_replaced(fresh_database):
    with signed_service(fresh_database) as first:
        signed_in(first)
        wait_signed(fresh_database)
        frozen = fresh_database.value(f"select pid from pg_stat_activity where {NOTARY}")
        second = signed_service(fresh_database, JEJAK_SIGNING_KEY_FILE=first.signing / "key")
        with second:
            witness = Witness([second])
            witness.start()
            load = Load(second, connections=4, people=4)
            load.start()
            wait_step(fresh_database, f"pid = {frozen}")
            os.kill(first.process.pid, signal.SIGSTOP)
            try:
                signed = transparency.signed_up_to(fresh_database)
                load.wait_acknowledged(10)
                until("the other one signs",
                      lambda: transparency.signed_up_to(fresh_database) > signed)
            finally:
                os.kill(first.process.pid, signal.SIGCONT)
            load.wait_acknowledged(100)
            load.stop()
            wait_signed(fresh_database)
            for service in (first, second):
                until("all is well", lambda service=service: notary(service) is None)
            witness.check(fresh_database, first.verifier)


def checkpoints(database):
    return database.rows("select origin, size, note from checkpoints order by origin, size")


@pytest.fixture
def signing(fresh_database):
    """A service whose log of some events is signed."""
    with signed_service(fresh_database) as service:
        for _ in range(5):
            signed_in(service)
        wait_signed(fresh_database)
        yield service


def test_a_cut_tail_is_noticed_also_when_the_log_grows_again(signing, fresh_database):
    before, size = checkpoints(fresh_database), head(fresh_database)
    fresh_database.rows("delete from events where position > %s", size - 2)
    reason = until("it refuses", lambda: notary(signing), REFUSAL_SECONDS)["reason"]
    assert f"position {size - 2}" in reason and f"{size} events" in reason
    for _ in range(3):
        signed_in(signing)
    assert f"position {size - 1}" in wait_refusal(signing, "event-differs")
    assert checkpoints(fresh_database) == before
    errors = [line for line in signing.stderr(10**6).splitlines()
              if "the log is no longer signed" in line]
    # A line for each reason, and not for each try.
    assert 1 <= len(errors) <= 3, errors


def test_a_hole_is_noticed(signing, fresh_database):
    before, size = checkpoints(fresh_database), head(fresh_database)
    with fresh_database.connect(autocommit=False) as blocker:
        blocker.execute("select from notary for update")
        signed_in(signing)
        signed_in(signing)
        blocker.execute("delete from events where position = %s", [size + 2])
        blocker.commit()
    assert f"position {size + 2}" in wait_refusal(signing, "hole-in-log")
    assert checkpoints(fresh_database) == before


def test_an_event_altered_before_the_next_signature_is_noticed(signing, fresh_database):
    before, size = checkpoints(fresh_database), head(fresh_database)
    fresh_database.rows("update events set payload_sha256 = sha256('x') where position = %s", size)
    signed_in(signing)
    wait_refusal(signing, "event-differs")
    assert checkpoints(fresh_database) == before


def test_an_altered_tree_is_noticed(signing, fresh_database):
    before = checkpoints(fresh_database)
    fresh_database.rows("update tree_edge set hashes = set_byte(hashes, 0,"
                        " 255 - get_byte(hashes, 0)) where level = 0")
    # Though nothing is appended.
    until("it refuses", lambda: notary(signing), REFUSAL_SECONDS)
    assert checkpoints(fresh_database) == before


def test_I11_a_database_put_back_to_an_earlier_state(signing, postgres, fresh_database):
    server, early = fresh_database.server, head(fresh_database)
    dump = server.tool("pg_dump", "-Fc", fresh_database.name).stdout
    ada = signed_in(signing)
    for name in ["Ada", "Augusta"]:
        assert ada.patch({"firstName": name}).status_code == 200
    wait_signed(fresh_database)
    late = head(fresh_database)
    with http(signing) as client:
        lost_note = client.get("/v1/log/checkpoint").text
    lost = transparency.open_checkpoint(lost_note, signing.verifier)
    assert lost.size == late
    signing.stop()

    restored = server.create_database()
    server.tool("pg_restore", "--no-owner", "-d", restored.name, input=dump)
    assert head(restored) == early
    signing.database_url = restored.url
    signing.start()
    kept = (signing.signing / "checkpoint").read_bytes()
    assert kept.decode() == lost_note
    reason = wait_refusal(signing, "checkpoint-file-ahead")
    assert f"size {late}" in reason
    before = checkpoints(restored)
    # The log grows beyond what was lost: it is another one all the same.
    for _ in range(late):
        signed_in(signing)
    assert head(restored) > late
    wait_refusal(signing, "checkpoint-file-differs")
    assert checkpoints(restored) == before
    assert (signing.signing / "checkpoint").read_bytes() == kept

    begin_anew(signing, restored, lost_note)
    restored.drop()


def begin_anew(service, database, lost_note):
    """An operator begins anew under another origin, while the service runs."""
    env = {"JEJAK_SIGNING_KEY_FILE": service.signing / "key"}
    refused = jejak("checkpoint", "new-origin", "--origin", "example.com/log/2",
                    url=database.url, env=env)
    assert refused.returncode == 2
    result = jejak("checkpoint", "new-origin", "--yes", "--origin", "example.com/log/2",
                   url=database.url, env=env)
    assert result.returncode == 0, result.stderr
    verifier = Verifier.parse(result.stdout.strip())
    assert verifier.name == "example.com/log/2"
    until("it signs again", lambda: notary(service) is None, REFUSAL_SECONDS)
    wait_signed(database)
    with http(service) as client:
        log = Log(client)
        assert log.verifier() == verifier
        checkpoint = log.checkpoint()
        tree = log.tree(checkpoint.size)
    leaves = [transparency.leaf_hash(entry) for entry in transparency.entries(database)]
    assert tree.root() == checkpoint.root == transparency.root(leaves[:checkpoint.size])
    # The former key and the last word under it are put aside, not lost.
    former = service.verifier.key_id.hex()
    assert (service.signing / f"checkpoint.{former}").read_text() == lost_note
    assert (service.signing / f"key.{former}").exists()
    kept = (service.signing / "checkpoint").read_text()
    assert transparency.open_checkpoint(kept, verifier).size >= 1
    assert [row[0] for row in database.rows("select distinct origin from checkpoints"
                                            " order by origin")] == [1, 2]
    ada = signed_in(service)
    text = until("a proof under the new key", lambda: (
        response := ada.get("/v1/users/me/history/1/proof")).status_code == 200 and response.text)
    assert Proof.parse(text).check(verifier).origin == "example.com/log/2"
    assert re.search(r'"the log is signed again"|the log is signed again', service.stderr(10**6))


def test_another_key_is_refused_and_the_right_one_goes_on(signing, fresh_database):
    signing.stop()
    key = signing.signing / "key"
    mine = key.read_bytes()
    key.rename(signing.signing / "mine")
    made = jejak("checkpoint", "key", "--origin", "example.com/log", "--signing-key-file", key)
    assert made.returncode == 0
    signing.start()
    reason = wait_refusal(signing, "key-differs")
    assert "example.com/log+" in reason
    before = checkpoints(fresh_database)
    # Put back, it is read without a restart.
    key.write_bytes(mine)
    until("it signs again", lambda: notary(signing) is None, REFUSAL_SECONDS)
    wait_signed(fresh_database)
    assert len(checkpoints(fresh_database)) > len(before)


def test_a_checkpoint_file_that_is_none_is_told(signing, fresh_database):
    before = checkpoints(fresh_database)
    (signing.signing / "checkpoint").write_text("something else\n")
    signed_in(signing)
    wait_refusal(signing, "checkpoint-file-invalid")
    assert checkpoints(fresh_database) == before
    (signing.signing / "checkpoint").unlink()
    until("it signs again", lambda: notary(signing) is None, REFUSAL_SECONDS)
    wait_signed(fresh_database)


def test_a_log_that_does_not_count_as_sealed_is_not_signed(fresh_database):
    assert jejak("migrate", url=fresh_database.url).returncode == 0
    with signed_service(fresh_database) as service:
        fresh_database.rows("update sealing set is_complete = false")
        before = checkpoints(fresh_database)
        signed_in(service)

        def waits():
            with http(service) as client:
                body = client.get("/readyz").json()
            return body == {"status": "degraded",
                            "notary": {"state": "waiting", "code": "log-not-sealed"}}

        until("it waits", waits)
        assert checkpoints(fresh_database) == before
        fresh_database.rows("update sealing set is_complete = true")
        wait_signed(fresh_database)
        until("all is well", lambda: notary(service) is None)
