"""The files that are kept outside the database, where they are locked, damaged, links or pipes."""

import fcntl
import json
import os
import stat
import time
from contextlib import contextmanager

import pytest
from support import sealing
from support.client import http, signed_in
from support.erasure import delete, is_erased
from support.service import Service, jejak
from support.transparency import signed_up_to
from support.wait import until

GRACE_SECONDS = 5
COMMAND_SECONDS = 20
HIGHEST_KEY = 2**31 - 1


@pytest.fixture
def path(tmp_path):
    return tmp_path / "erasures.jsonl"


def serving(database, path, **env):
    return Service(database.url, env={
        "JEJAK_ERASURE_FILE": path, "JEJAK_SHUTDOWN_GRACE": f"{GRACE_SECONDS}s", **env})


def unlisted(service):
    """Why `/readyz` says that erasures are not listed; None where they are."""
    with http(service) as client:
        return client.get("/readyz").json().get("erasures", {}).get("unlisted")


def listed(path):
    return [json.loads(line)["user"] for line in path.read_text().splitlines()]


def erase(database, person, path):
    return jejak("user", "erase", person.id, "--yes", url=database.url,
                 env={"JEJAK_ERASURE_FILE": path}, timeout=COMMAND_SECONDS)


def backup_check(database, path):
    return jejak("backup-check", "--erasures", path, url=database.url, timeout=COMMAND_SECONDS)


@contextmanager
def locked(path):
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def stop_within_grace(service):
    began = time.monotonic()
    assert service.stop(GRACE_SECONDS) == 0
    assert time.monotonic() - began < GRACE_SECONDS


def test_a_lock_on_the_list_that_stays_is_told_and_holds_nothing_up(fresh_database, path):
    path.touch()
    reason = f"can't lock {path}: another process holds the lock on it"
    with serving(fresh_database, path) as service:
        ada, grace = signed_in(service), signed_in(service)
        with locked(path):
            assert delete(ada).status_code == 204
            until("/readyz says so", lambda: unlisted(service) == reason)
            assert "erasures are not listed" in service.stderr()
            erased = erase(fresh_database, grace, path)
            assert erased.returncode == 1 and reason in erased.stderr
            assert is_erased(fresh_database, grace.id)
            # A reader is not kept off.
            assert backup_check(fresh_database, path).returncode == 0
            stop_within_grace(service)
            assert listed(path) == []
            # The first try, which nobody has been told of yet, doesn't keep it either.
            service.start()
            service.wait_ready()
            stop_within_grace(service)
        service.start()
        until("they are listed after all", lambda: listed(path) == [ada.id, grace.id])
        until("/readyz says no more", lambda: unlisted(service) is None)


def test_a_list_that_is_a_pipe_is_refused(fresh_database, path):
    os.mkfifo(path)
    reason = f"can't use {path}: it is no regular file"
    with serving(fresh_database, path) as service:
        ada, grace = signed_in(service), signed_in(service)
        assert delete(ada).status_code == 204
        until("/readyz says so", lambda: unlisted(service) == reason)
        erased = erase(fresh_database, grace, path)
        assert erased.returncode == 1 and reason in erased.stderr
        checked = backup_check(fresh_database, path)
        assert checked.returncode == 1 and reason in checked.stderr
        stop_within_grace(service)


def test_a_list_that_is_damaged_does_not_pass(fresh_database, path):
    with serving(fresh_database, path) as service:
        people = [signed_in(service) for _ in range(2)]
        for person in people:
            assert delete(person).status_code == 204
        until("they are listed", lambda: path.exists() and len(listed(path)) == 2)
    whole = path.read_bytes()
    first, second = whole.splitlines()
    # A last line without its line break is a line, also to whoever writes the next.
    path.write_bytes(whole.removesuffix(b"\n"))
    checked = backup_check(fresh_database, path)
    assert checked.returncode == 0 and "2 erasures" in checked.stderr
    assert erase(fresh_database, people[0], path).returncode == 0
    assert path.read_bytes() == whole
    for damage, line, what in [
            (first + b"\n" + second[:-1], 2, "was cut short"),
            (first[1:] + b"\n" + second + b"\n", 1, "is no erasure"),
            (whole + b"more", 3, "is no erasure"),
            (b"\0" * (3 << 20), 1, "is no erasure")]:
        path.write_bytes(damage)
        checked = backup_check(fresh_database, path)
        assert checked.returncode == 1
        assert checked.stderr.endswith(f"{path}:{line}: this line {what}\n")


@pytest.fixture
def signed(fresh_database, path):
    """A log that has a checkpoint and an erasure."""
    with serving(fresh_database, path) as service:
        assert delete(signed_in(service)).status_code == 204
        until("it is signed", lambda: signed_up_to(fresh_database) > 0)
    return fresh_database


@pytest.mark.parametrize("command", ["checkpoint", "erasure"])
def test_an_export_replaces_a_file_behind_links_and_nothing_else(signed, tmp_path, command):
    def export(to):
        return jejak(command, "export", to, url=signed.url, timeout=COMMAND_SECONDS)

    printed = export("-").stdout
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "file", tmp_path / "link"
    link.symlink_to("real/file")
    for former in (None, "old"):
        if former:
            target.write_text(former)
        assert export(link).returncode == 0
        assert link.is_symlink() and target.read_text() == printed
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for refused in (pipe, tmp_path / "real", "/dev/null"):
        kind = stat.S_IFMT(os.stat(refused).st_mode)
        result = export(refused)
        assert result.returncode == 1 and f"{refused}: it is no regular file" in result.stderr
        assert stat.S_IFMT(os.stat(refused).st_mode) == kind
    assert sorted(entry.name for entry in (tmp_path / "real").iterdir()) == ["file"]


def test_keys_and_checkpoint_are_written_behind_links(fresh_database, tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    links = {}
    for name, setting in [("keys", "JEJAK_MASTER_KEY_FILE"), ("key", "JEJAK_SIGNING_KEY_FILE"),
                          ("checkpoint", "JEJAK_CHECKPOINT_FILE")]:
        links[setting] = tmp_path / name
        links[setting].symlink_to(real / name)

    def command(*arguments):
        result = jejak(*arguments, url=fresh_database.url, env=links)
        assert result.returncode == 0, result.stderr
        return result.stdout

    command("key", "generate")
    command("checkpoint", "key", "--origin", "example.com/log")
    command("migrate")
    with Service(fresh_database.url, env=links) as service:
        signed_in(service)
        until("it is signed", lambda: signed_up_to(fresh_database) > 0)
    command("key", "rotate")
    command("checkpoint", "new-origin", "--yes")
    assert all(link.is_symlink() for link in links.values())
    assert list(sealing.read_keys(real / "keys")) == [1, 2]
    assert "example.com/log" in (real / "checkpoint").read_text()
    assert "example.com/log/2" in (real / "key").read_text()
    [former] = real.glob("key.*")
    assert "example.com/log/2" not in former.read_text()
    assert len(list(tmp_path.iterdir())) == 4


def test_a_key_file_with_the_highest_number_takes_no_other(fresh_database, tmp_path):
    path = sealing.write_keys(tmp_path / "keys", {HIGHEST_KEY: os.urandom(32)})
    kept = path.read_text()
    env = {"JEJAK_MASTER_KEY_FILE": path}
    assert jejak("migrate", url=fresh_database.url, env=env).returncode == 0
    for verb in ("generate", "rotate"):
        result = jejak("key", verb, url=fresh_database.url, env=env)
        assert result.returncode == 1 and result.stderr.endswith(
            f"{path} takes no other key: it has key {HIGHEST_KEY}, the highest number\n")
    assert path.read_text() == kept
