"""G8: what is left of somebody in dumps, logs and files; and the list that outlives a restore.

`JEJAK_TEST_CROWD` adds so many people to those among whom somebody is erased.
"""

import json
import os
import re

import pytest
from support.client import http, signed_in
from support.erasure import Marked, delete, is_erased, names_of, traces
from support.projections import check_followers, wait_caught_up
from support.service import Service, jejak
from support.wait import until

CROWD = int(os.environ.get("JEJAK_TEST_CROWD", "0"))
SCHEMA = {"type": "object", "properties": {"motto": {"type": "string"}}}


def started(database, tmp_path, **env):
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(SCHEMA))
    settings = {"JEJAK_PROFILE_SCHEMA": schema, "JEJAK_LOG_LEVEL": "debug",
                "JEJAK_ERASURE_FILE": tmp_path / "erasures.jsonl", **env}
    return Service(database.url, env=settings)


def listed(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def relation_files(postgres, database):
    """The bytes of every file of the database, whatever relation it belongs to, as of now."""
    database.rows("checkpoint")
    number = database.value("select oid from pg_database where datname = current_database()")
    directory = postgres.data / "base" / str(number)
    return {entry.name: open(entry.path, "rb").read() for entry in os.scandir(directory)
            if entry.is_file()}


def dump(postgres, database):
    return {"dump": postgres.tool("pg_dump", "-d", database.name).stdout}


def test_g8_nothing_readable_is_left_of_one_among_many(postgres, fresh_database, tmp_path):
    database = fresh_database
    with started(database, tmp_path) as service:
        people = [Marked(service).live() for _ in range(12)]
        for _ in range(CROWD):
            signed_in(service)
        ada, others = people[5], people[:5] + people[6:]
        wait_caught_up(database)
        proofs = [proof_of(person, tmp_path) for person in people]
        checkpoint = tmp_path / "checkpoint"
        checkpoint.write_text(ask(service, "/v1/log/checkpoint").text)
        # Tables of before that are kept, and statistics of the planner, hold people too.
        for name in ("directory", "current_users"):
            assert jejak("projection", "rebuild", name, url=database.url).returncode == 0
        database.rows("analyze")
        key = service.api_key("users:read", "audit:read")
        assert names_of(traces(ada.present, dump(postgres, database))) == ada.present.keys()
        for person in (ada, others[0]):
            found = traces(person.present, relation_files(postgres, database))
            assert names_of(found) == person.present.keys()

        assert delete(ada).status_code == 204
        assert is_erased(database, ada.id)
        wait_caught_up(database)
        fresh = dump(postgres, database)
        assert traces(ada.marks, fresh) == []
        for person in others:
            assert names_of(traces(person.present, fresh)) == person.present.keys()

        scrubbed = jejak("scrub", "--json", url=database.url)
        assert scrubbed.returncode == 0, scrubbed.stdout + scrubbed.stderr
        done = json.loads(scrubbed.stdout)
        assert done["left"] == {} and "directory_previous" in done["rewritten"]
        files = relation_files(postgres, database)
        assert traces(ada.marks, files) == []
        for person in others:
            assert names_of(traces(person.present, files)) == person.present.keys()

        logs = {"service": service.stderr_path.read_bytes(),
                "postgres": postgres.log_path.read_bytes(),
                "list": (tmp_path / "erasures.jsonl").read_bytes()}
        for person in people:
            assert traces(person.marks, logs) == []
        # All others are as they were, and so is what operators see of them.
        with http(service) as client:
            client.headers["authorization"] = f"Bearer {key}"
            for person in others:
                assert person.get().json()["firstName"] == person.fields["firstName"]
                history = client.get(f"/v1/users/{person.id}/history")
                entries = {"history": history.content}
                former = {name: mark for name, mark in person.marks.items() if "name" in name}
                assert names_of(traces(former, entries)) == former.keys()
            history = client.get(f"/v1/users/{ada.id}/history")
            assert traces(ada.marks, {"history": history.content}) == []
        check_followers(database)
        for name in ("directory", "current_users"):
            assert jejak("projection", "rebuild", name, url=database.url).returncode == 0
            assert jejak("projection", "verify", name, url=database.url).returncode == 0
        assert traces(ada.marks, dump(postgres, database)) == []
        # What was proven before is proven still, of her too, and the log is the same, but longer.
        public = ask(service, "/v1/log/key").text.strip()
        for proof in proofs:
            assert jejak("verify-proof", proof, "--key", public).returncode == 0
        told = jejak("verify-proof", "-", "--key", public,
                     input=proof_of_erasure(service, database, ada))
        assert re.search(r"^type +UserErased$", told.stdout, re.MULTILINE), told
        assert re.search(r"^payload +no payload$", told.stdout, re.MULTILINE), told
        verified = jejak("verify", "--checkpoint", checkpoint, url=database.url)
        assert verified.returncode == 0, verified.stdout + verified.stderr


def ask(service, path):
    """An answer that anybody gets, once there is one."""
    def answer():
        with http(service) as client:
            response = client.get(path)
        return response if response.status_code == 200 else None

    return until(f"{path} is there", answer)


def proof_of(person, directory):
    """The file with the proof of somebody's registration."""
    def answer():
        response = person.get("/v1/users/me/history/1/proof")
        return response if response.status_code == 200 else None

    path = directory / f"{person.id}.tlog-proof"
    path.write_bytes(until("it is signed", answer).content)
    return path


def proof_of_erasure(service, database, person):
    """The proof of the last event of somebody who has been erased."""
    version = database.value(
        f"select version from events where user_id = '{person.id}' and type = 'UserErased'")

    def answer():
        response = client.get(f"/v1/users/{person.id}/history/{version}/proof")
        return response if response.status_code == 200 else None

    with http(service) as client:
        client.headers["authorization"] = f"Bearer {service.api_key('audit:read')}"
        return until("it is signed", answer).text


def test_scrub_tells_what_it_could_not_have(fresh_database):
    with Service(fresh_database.url) as service:
        signed_in(service)
        assert service.stop() == 0
    with fresh_database.connect(autocommit=False) as other:
        other.execute("lock table sessions in access share mode")
        result = jejak("scrub", "--lock-timeout", "1s", "--json", url=fresh_database.url)
        assert result.returncode == 1
        told = json.loads(result.stdout)
        assert list(told["left"]) == ["sessions"] and "credentials" in told["rewritten"]
        pid = other.info.backend_pid
        assert re.search(rf"held by process {pid}\b.*open for \d+ s", told["left"]["sessions"])
        assert told["inTheWay"] == []
        other.rollback()
        other.execute("set transaction isolation level repeatable read")
        other.execute("select count(*) from sessions").fetchone()
        # Something happens that this transaction could still ask about.
        fresh_database.rows("delete from sessions")
        result = jejak("scrub", "--lock-timeout", "1s", url=fresh_database.url)
        assert result.returncode == 1
        assert re.search(rf"still open: process {pid}\b.*, open for \d+ s$", result.stderr,
                         re.MULTILINE), result.stderr
        assert "left: sessions: a transaction from before is still open\n" in result.stdout
        assert "left: directory: " in result.stdout and "rewritten" not in result.stdout
    assert jejak("scrub", url=fresh_database.url).returncode == 0
    assert jejak("scrub", "--lock-timeout", "soon", url=fresh_database.url).returncode == 2


def test_every_erasure_is_listed_outside_the_database(fresh_database, tmp_path):
    path = tmp_path / "erasures.jsonl"
    with started(fresh_database, tmp_path) as service:
        people = [signed_in(service) for _ in range(4)]
        assert listed(path) == []
        assert delete(people[0]).status_code == 204
        [entry] = until("the erasure is listed", lambda: listed(path))
        assert entry.keys() == {"user", "position", "erasedAt"} and entry["user"] == people[0].id
        assert entry["position"] == fresh_database.value("select position from erasures")
        # Somebody else erases, who knows no list.
        other = jejak("user", "erase", people[1].id, "--yes", url=fresh_database.url)
        assert other.returncode == 0
        until("that is listed too", lambda: len(listed(path)) == 2)
        assert service.stop() == 0
        # A command lists too; and what is cut short is written again.
        path.write_text(path.read_text() + '{"user":"cut sh')
        command = jejak("user", "erase", people[2].id, "--yes", url=fresh_database.url,
                        env={"JEJAK_ERASURE_FILE": path})
        assert command.returncode == 0 and command.stderr == ""
        assert [line["user"] for line in listed(path)] == [person.id for person in people[:3]]
        path.unlink()
        service.start()
        until("a lost list is made again", lambda: len(listed(path)) == 3)
        assert delete(people[3]).status_code == 204
        assert service.stop() == 0
        assert len(listed(path)) == 4
    exported = tmp_path / "exported"
    result = jejak("erasure", "export", exported, url=fresh_database.url)
    assert result.returncode == 0 and exported.read_text() == path.read_text()
    nowhere = tmp_path / "missing" / "list"
    refused = jejak("erasure", "export", nowhere, url=fresh_database.url)
    assert refused.returncode == 1
    assert refused.stderr == f"jejak: can't write {nowhere}: its directory does not exist\n"
    printed = jejak("erasure", "export", "-", url=fresh_database.url)
    assert printed.stdout == path.read_text()


def test_a_list_that_cannot_be_written_is_told(fresh_database, tmp_path):
    path = tmp_path / "missing" / "erasures.jsonl"
    with started(fresh_database, tmp_path, JEJAK_ERASURE_FILE=path) as service:
        ada = signed_in(service)
        assert delete(ada).status_code == 204
        until("the log says so", lambda: "erasures are not listed" in service.stderr())
        path.parent.mkdir()
        until("it is listed after all", lambda: len(listed(path)) == 1)
        until("the log says so", lambda: "written again" in service.stderr())


def health(service):
    """What `/readyz` says of erasures; None where all is well."""
    with http(service) as client:
        response = client.get("/readyz")
    assert response.status_code == 200
    body = response.json()
    assert (body["status"] == "degraded") == ("erasures" in body)
    return body.get("erasures")


def test_a_list_that_holds_something_else_is_told(fresh_database, tmp_path):
    path = tmp_path / "erasures.jsonl"
    with started(fresh_database, tmp_path) as service:
        ada = signed_in(service)
        assert health(service) is None
        path.write_text("no erasure\n")
        erased = jejak("user", "erase", ada.id, "--yes", url=fresh_database.url,
                       env={"JEJAK_ERASURE_FILE": path})
        reason = f"{path}:1: this line is no erasure"
        assert erased.returncode == 1 and erased.stdout.startswith(f"erased {ada.id} ")
        assert f"not in the list yet: {reason}" in erased.stderr
        assert is_erased(fresh_database, ada.id)
        until("/readyz says so", lambda: health(service) == {"unlisted": reason})
        path.unlink()
        until("/readyz says no more", lambda: health(service) is None)
        assert [line["user"] for line in listed(path)] == [ada.id]
        # A list that is taken away is made anew, without a restart.
        path.unlink()
        until("it is there again", lambda: len(listed(path)) == 1)


@pytest.mark.parametrize("form", ["plain", "custom"])
def test_i11_a_restore_of_yesterday_owes_the_erasures_of_today(
        postgres, fresh_database, tmp_path, form):
    path, backup = tmp_path / "erasures.jsonl", tmp_path / "backup"
    with started(fresh_database, tmp_path) as service:
        people = [Marked(service).live() for _ in range(4)]
        gone, early = people[0], people[1]
        assert delete(early).status_code == 204
        wait_caught_up(fresh_database)
        postgres.tool("pg_dump", "-d", fresh_database.name, "-F", form[0], "-f", backup)
        assert delete(gone).status_code == 204
        later = Marked(service).live()
        assert delete(later).status_code == 204
        until("all are listed", lambda: len(listed(path)) == 3)

    restored = postgres.create_database()
    try:
        if form == "plain":
            postgres.tool("psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", restored.name, "-f", backup)
        else:
            postgres.tool("pg_restore", "-d", restored.name, backup)
        assert not is_erased(restored, gone.id) and is_erased(restored, early.id)
        missing = jejak("backup-check", url=restored.url)
        assert missing.returncode == 2 and "--erasures" in missing.stderr
        env = {"JEJAK_ERASURE_FILE": path}
        found = jejak("backup-check", "--json", url=restored.url, env=env)
        assert found.returncode == 1
        told = json.loads(found.stdout)
        assert told["owed"] == [gone.id] and told["listed"] == 3 and told["erased"] == []
        # The log is shorter than what the list knows of.
        assert told["position"] < told["listedPosition"]
        assert not is_erased(restored, gone.id)
        text = jejak("backup-check", "--erasures", path, url=restored.url)
        assert text.returncode == 1 and text.stdout == f"owed: {gone.id}\n"
        with started(restored, tmp_path) as service:
            until("the service says so",
                  lambda: "people who were erased are here again" in service.stderr())
            assert health(service) == {"owed": 1}
            replayed = jejak("backup-check", "--erasures", path, "--replay", url=restored.url)
            # What else was lost stays lost.
            assert replayed.returncode == 1 and replayed.stdout == f"erased: {gone.id}\n"
            until("nobody is owed an erasure any more", lambda: health(service) is None)
        assert is_erased(restored, gone.id) and is_erased(restored, early.id)
        again = jejak("backup-check", "--erasures", path, "--replay", url=restored.url)
        assert again.returncode == 1 and again.stdout == ""
        assert "was lost" in again.stderr
        with started(restored, tmp_path) as service:
            check_followers(restored)
            for name in ("directory", "current_users"):
                verified = jejak("projection", "verify", name, url=restored.url)
                assert verified.returncode == 0, verified.stdout
            dumped = dump(postgres, restored)
            assert traces(gone.marks, dumped) == []
            for person in people[2:]:
                assert names_of(traces(person.present, dumped)) == person.present.keys()
            with http(service) as client:
                answer = client.post("/v1/sessions", json={
                    "email": gone.email, "password": gone.password})
                assert answer.status_code == 401
    finally:
        restored.drop()


def test_backup_check_refuses_a_list_that_is_none(fresh_database, tmp_path):
    assert jejak("migrate", url=fresh_database.url).returncode == 0
    path = tmp_path / "list"
    result = jejak("backup-check", "--erasures", path, url=fresh_database.url)
    assert result.returncode == 1 and str(path) in result.stderr
    path.write_text('{"user":"x"}\n')
    result = jejak("backup-check", "--erasures", path, url=fresh_database.url)
    assert result.returncode == 1 and f"{path}:1" in result.stderr
    path.write_text("")
    result = jejak("backup-check", "--erasures", path, url=fresh_database.url)
    assert result.returncode == 0 and result.stdout == ""
