"""I11: yesterday's backup is restored, and what is kept outside tells what it lacks."""

import json

import pytest
from support.client import PASSWORD, Person, http, signed_in
from support.erasure import delete, held, is_erased
from support.log import check_all, head
from support.processes import short_directory
from support.projections import check_followers, wait_caught_up
from support.service import Service, jejak
from support.threads import together
from support.transparency import Verifier, open_checkpoint, signed_up_to
from support.wait import until

PEOPLE = 24
REFUSAL_SECONDS = 30


class Outside:
    """What an operator keeps outside the database: the signing key, the checkpoint, the list."""

    def __init__(self):
        self.directory = short_directory()
        self.key, self.checkpoint, self.erasures = (
            self.directory / name for name in ("key", "checkpoint", "erasures.jsonl"))
        self.env = {"JEJAK_SIGNING_KEY_FILE": self.key, "JEJAK_CHECKPOINT_FILE": self.checkpoint,
                    "JEJAK_ERASURE_FILE": self.erasures}
        self.verifier = self.command("checkpoint", "key", "--origin", "example.com/log")

    def command(self, *arguments, url=None):
        """The output of a command that succeeds."""
        result = jejak(*arguments, url=url, env=self.env)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def service(self, database):
        return Service(database.url, env=self.env)

    def check(self, database, *arguments):
        """Exit status and report of `jejak backup-check`."""
        result = self.backup_check(database, "--json", *arguments)
        assert result.stdout, result.stderr
        return result.returncode, json.loads(result.stdout)

    def advice(self, database, *arguments):
        """Exit status, and what it says to people."""
        result = self.backup_check(database, *arguments)
        return result.returncode, result.stdout, result.stderr

    def backup_check(self, database, *arguments):
        """As on a machine that has no master key."""
        env = {**self.env, "JEJAK_MASTER_KEY_FILE": self.directory / "none"}
        return jejak("backup-check", *arguments, url=database.url, env=env)


def problems(report):
    return [finding["problem"] for finding in report["checkpoint"]["first"]]


def wait_signed(database):
    until("all is signed", lambda: signed_up_to(database) == head(database))


def notary(service):
    """What `/readyz` says of the notary; None where all is well."""
    with http(service) as client:
        answer = client.get("/readyz")
    assert answer.status_code == 200
    return answer.json().get("notary")


def restore(postgres, backup):
    database = postgres.create_database()
    postgres.tool("pg_restore", "-d", database.name, backup)
    return database


@pytest.fixture
def outside():
    return Outside()


@pytest.fixture
def yesterday(postgres, fresh_database, outside, tmp_path):
    """A log that has gone on since its backup, which is restored; `there` is the log itself."""
    backup = tmp_path / "backup"
    with outside.service(fresh_database) as service:
        people = together(8, lambda number: [
            signed_in(service, firstName=f"Ada {number}") for _ in range(PEOPLE // 8)])
        people = [person for group in people for person in group]
        wait_signed(fresh_database)
        wait_caught_up(fresh_database)
        postgres.tool("pg_dump", "-d", fresh_database.name, "-F", "c", "-f", backup)
        size = head(fresh_database)
        time = fresh_database.value("select max(recorded_at) from events")
        for person in people:
            assert person.patch({"firstName": "Grace"}).status_code == 200
        assert delete(people[0]).status_code == 204
        late = signed_in(service)
        wait_signed(fresh_database)
        until("the erasure is listed",
              lambda: outside.erasures.exists() and people[0].id in outside.erasures.read_text())
        proof = people[1].request("GET", "/v1/users/me/history/2/proof")
        assert proof.status_code == 200
    restored = restore(postgres, backup)
    restored.there, restored.people, restored.late = fresh_database, people, late
    restored.size, restored.time, restored.backup, restored.proof = size, time, backup, proof.text
    yield restored
    restored.drop()


def test_i11_yesterdays_backup_is_restored_and_goes_on(yesterday, outside, tmp_path):
    lost = head(yesterday.there) - yesterday.size
    gone, others = yesterday.people[0], yesterday.people[1:]
    assert not is_erased(yesterday, gone.id) and lost == PEOPLE + 3
    kept = outside.checkpoint.read_text()

    # What is kept outside tells all of it, and nothing is changed.
    for _ in range(2):
        status, report = outside.check(yesterday)
        assert status == 1
        assert report["owed"] == [gone.id] and report["erased"] == []
        assert report["position"] == head(yesterday) == yesterday.size
        assert report["listedPosition"] > report["position"]
        assert report["lost"].pop("since").startswith(f"{yesterday.time:%Y-%m-%dT%H:%M:%S}")
        assert report["lost"] == {"events": lost}
        checkpoint = report["checkpoint"]
        assert (checkpoint["file"], checkpoint["origin"], checkpoint["size"]) == (
            str(outside.checkpoint), "example.com/log", yesterday.size + lost)
        assert problems(report) == ["file-ahead"]
    status, output, advice = outside.advice(yesterday)
    assert status == 1
    assert output.splitlines()[0] == f"owed: {gone.id}"
    assert f"checkpoint of {yesterday.size + lost} events: the log ends at" in output
    assert f"the log ends at position {yesterday.size} of " in advice
    assert f"was lost, {lost} events at least" in advice
    assert "backup-check --replay" in advice and "checkpoint new-origin --yes" in advice

    # Whoever was erased since is erased once more; that something is lost stays so.
    status, report = outside.check(yesterday, "--replay")
    assert status == 1 and report["erased"] == [gone.id] and report["owed"] == []
    assert report["lost"]["events"] == lost
    assert is_erased(yesterday, gone.id) and held(yesterday, gone.id) == {}
    status, report = outside.check(yesterday, "--replay")
    assert (status, report["erased"], report["owed"]) == (1, [], [])
    assert report["position"] == yesterday.size + 1 and report["lost"]["events"] == lost
    advice = outside.advice(yesterday)[2]
    assert f"the log was put back to position {yesterday.size} of " in advice
    assert f"was lost, {lost} events at least" in advice

    with outside.service(yesterday) as service:
        refusal = until("the notary refuses", lambda: notary(service), REFUSAL_SECONDS)
        assert refusal["code"] == "checkpoint-file-ahead" and refusal["state"] == "refusing"
        # All but signing goes on, and what is appended is not signed either.
        for person in others[:3]:
            person.service, person.http = service, http(service)
            assert person.sign_in().status_code == 201
            assert person.get().json()["firstName"].startswith("Ada ")
        for person in (gone, yesterday.late):
            answer = Person(service, person.email, PASSWORD).sign_in()
            assert answer.status_code == 401
        assert Person(service, gone.email).register().status_code == 201
        assert notary(service)["code"] == "checkpoint-file-ahead"
        assert signed_up_to(yesterday) == yesterday.size
        assert outside.checkpoint.read_text() == kept
        # Whoever is erased now was not lost, and what was is still known.
        assert delete(others[2]).status_code == 204
        until("the erasure is listed", lambda: others[2].id in outside.erasures.read_text())
        status, report = outside.check(yesterday)
        assert (status, report["owed"], report["lost"]["events"]) == (1, [], lost)

        # Another name, and all of it is signed.
        new = outside.command("checkpoint", "new-origin", "--yes", "--origin", "example.com/log/2",
                              url=yesterday.url)
        until("the notary signs again", lambda: notary(service) is None, REFUSAL_SECONDS)
        wait_signed(yesterday)
        signed = open_checkpoint(outside.checkpoint.read_text(), Verifier.parse(new))
        assert signed.size == head(yesterday)
        # What was signed before is put aside, and is still proven by the key of before.
        [aside] = outside.directory.glob("checkpoint.*")
        assert aside.read_text() == kept
        (tmp_path / "proof").write_text(yesterday.proof)
        outside.command("verify-proof", tmp_path / "proof", "--key", outside.verifier)
        new_proof = others[1].request("GET", "/v1/users/me/history/1/proof")
        (tmp_path / "proof").write_text(new_proof.text)
        outside.command("verify-proof", tmp_path / "proof", "--key", new)
        check_followers(yesterday)

    assert outside.command("verify", url=yesterday.url).endswith("nothing is wrong")
    assert outside.command("verify", "--key", new, url=yesterday.url)
    check_all(yesterday)
    # What is signed now is what there is; nothing is left to do.
    status, report = outside.check(yesterday)
    assert (status, report["owed"], report["lost"]) == (0, [], None)
    # The checkpoint of before is of another history, and is told as one under another key.
    assert outside.check(yesterday, "--checkpoint", aside)[1]["lost"]["events"] == lost
    status, output, advice = outside.advice(yesterday, "--checkpoint", aside)
    assert status == 1 and "under another key, of example.com/log, than the log has now" in advice
    assert "of example.com/log/2" in advice


def test_a_log_that_has_all_of_it_passes(yesterday, outside):
    status, report = outside.check(yesterday.there)
    assert (status, report["owed"], report["lost"]) == (0, [], None)
    assert problems(report) == [] and report["checkpoint"]["size"] == report["position"]
    status, output, advice = outside.advice(yesterday.there)
    assert (status, output) == (0, "")
    assert f"the log holds what the checkpoint of {report['position']} events says" in advice
    # An older one is one that the log has grown out of.
    note = yesterday.there.value("select note from checkpoints order by size limit 1")
    outside.checkpoint.write_text(note)
    assert outside.check(yesterday.there)[0] == 0
    # Without one, nobody can tell but the list.
    outside.checkpoint.unlink()
    status, report = outside.check(yesterday.there)
    assert (status, report["checkpoint"]) == (0, None)
    assert "no checkpoint to hold the log against" in outside.advice(yesterday.there)[2]
    status, output, error = outside.advice(yesterday.there, "--checkpoint", outside.checkpoint)
    assert (status, output) == (1, "") and str(outside.checkpoint) in error


def test_a_list_that_is_missing_is_told_with_what_to_do(yesterday, outside):
    outside.erasures.unlink()
    status, output, error = outside.advice(yesterday)
    assert (status, output) == (1, "") and f"no list of erasures at {outside.erasures}" in error
    assert "put your copy back" in error and "an empty file is the list" in error
    outside.erasures.touch()
    status, report = outside.check(yesterday.there)
    assert (status, report["listed"]) == (0, 0)


def test_the_list_alone_tells_of_a_shorter_log(yesterday, outside):
    outside.checkpoint.unlink()
    status, report = outside.check(yesterday, "--replay")
    assert (status, report["checkpoint"]) == (1, None)
    assert report["lost"]["events"] == report["listedPosition"] - yesterday.size
    status, output, advice = outside.advice(yesterday)
    assert (status, output) == (1, "") and "was lost" in advice and "new-origin" in advice


def test_a_log_that_has_gone_on_in_another_way(yesterday, outside):
    """It has grown beyond what was signed, so that no number tells."""
    with outside.service(yesterday) as service:
        ada = signed_in(service)
        for number in range(head(yesterday.there) - yesterday.size + 2):
            assert ada.patch({"firstName": f"Mary {number}"}).status_code == 200
    assert head(yesterday) > head(yesterday.there)
    status, report = outside.check(yesterday, "--replay")
    assert (status, problems(report)) == (1, ["file-differs"])
    assert report["lost"] == {"events": None, "since": None}
    advice = outside.advice(yesterday)[2]
    assert "has another history" in advice and "new-origin" in advice


def test_a_checkpoint_of_a_log_begun_anew_after_the_backup(yesterday, outside, tmp_path):
    outside.command("checkpoint", "new-origin", "--yes", "--origin", "example.com/log/2",
                    url=yesterday.there.url)
    with outside.service(yesterday.there):
        wait_signed(yesterday.there)
    status, report = outside.check(yesterday)
    assert (status, report["checkpoint"]["origin"]) == (1, "example.com/log/2")
    assert problems(report) == ["file-ahead", "key-differs"]
    # On a machine that has no signing key, nothing vouches for the checkpoint.
    outside.env["JEJAK_SIGNING_KEY_FILE"] = tmp_path / "none"
    status, report = outside.check(yesterday)
    assert (status, problems(report)) == (1, ["file-unsigned"])
    advice = outside.advice(yesterday)[2]
    assert "of example.com/log/2, under a key that this log, of example.com/log, doesn't" in advice


def test_an_event_that_was_altered_in_the_backup(yesterday, outside):
    yesterday.rows("update events set request_id = 'another' where position = 5")
    note = yesterday.value("select note from checkpoints order by size desc limit 1")
    outside.checkpoint.write_text(note)
    status, report = outside.check(yesterday)
    assert status == 1 and problems(report) == ["event-differs"]
    status, output, advice = outside.advice(yesterday, "--replay")
    assert status == 1 and "position 5: the event is not" in output
    assert "jejak verify tells all of it" in advice
