"""The signed log: checkpoints, tiles and proofs, verified by a second implementation."""

import base64
import itertools
import json
import re
import stat

import pytest
from cryptography.exceptions import InvalidSignature
from support import transparency
from support.client import http, problem, signed_in
from support.erasure import delete
from support.load import Load
from support.log import head
from support.processes import short_directory
from support.sealing import key_file
from support.service import Service, environment, jejak
from support.transparency import Log, Proof, Verifier
from support.wait import until

OTHER_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"


@pytest.fixture(scope="module")
def filled(service):
    """The service with more than two tiles of events, signed as they came."""
    load = Load(service, connections=8, people=8)
    load.start()
    load.wait_acknowledged(700)
    load.stop()
    return service


@pytest.fixture
def log(filled):
    with http(filled) as client:
        yield Log(client)


def wait_signed(database):
    """Returns how many events are signed, when that is all of them."""
    until("all is signed", lambda: transparency.signed_up_to(database) == head(database))
    return transparency.signed_up_to(database)


def test_checkpoint_and_tiles_are_those_of_the_events(log, database):
    size = wait_signed(database)
    checkpoint = log.checkpoint()
    assert checkpoint.size == size > 512
    entries = transparency.entries(database)
    leaves = [transparency.leaf_hash(entry) for entry in entries]
    tree = log.tree(size)
    assert tree.leaves == leaves[:size]
    assert tree.root() == transparency.root(leaves[:size]) == checkpoint.root


def test_every_event_is_included_and_every_checkpoint_consistent(log, database):
    size = wait_signed(database)
    verifier, tree = log.verifier(), log.tree(size)
    root = log.checkpoint().root
    for index, entry in enumerate(transparency.entries(database)[:size]):
        leaf, path = transparency.leaf_hash(entry), tree.inclusion(index)
        assert transparency.check_inclusion(index, size, leaf, path, root)
    notes = [row[0] for row in database.rows("select note from checkpoints order by size")]
    checkpoints = [transparency.open_checkpoint(note, verifier) for note in notes]
    assert len(checkpoints) > 1
    for old, new in itertools.combinations_with_replacement(checkpoints, 2):
        if new.size <= size:
            path = tree.consistency(old.size, new.size)
            assert transparency.check_consistency(old.size, new.size, old.root, new.root, path)


def test_tiles_of_former_checkpoints_stay(log, database):
    size = wait_signed(database)
    whole = log.tree(size)
    for former, in database.rows("select size from checkpoints where size <= %s", size):
        assert log.tree(former).root() == whole.root(former)


def test_answers_are_what_the_standards_want(log, database):
    size = wait_signed(database)
    checkpoint = log.client.get("/v1/log/checkpoint")
    assert checkpoint.headers["content-type"] == "text/plain; charset=utf-8"
    assert checkpoint.headers["cache-control"] == "no-cache"
    tile = log.client.get("/v1/log/tile/0/000")
    assert tile.headers["content-type"] == "application/octet-stream"
    assert "immutable" in tile.headers["cache-control"] and len(tile.content) == 8192
    assert log.client.get("/v1/log/tile/0/000.p/17").content == tile.content[:17 * 32]
    assert log.client.head("/v1/log/tile/0/000").headers["content-length"] == "8192"
    beyond = f"/v1/log/tile/0/{size // 256:03d}"
    for path in [beyond, f"{beyond}.p/{size % 256 + 1}", "/v1/log/tile/0/x001/000",
                 "/v1/log/tile/2/000", "/v1/log/tile/7/000.p/1", "/v1/log/tile/63/000.p/1",
                 "/v1/log/tile/0/000.p/256", "/v1/log/tile/0/000.p/0", "/v1/log/tile/0/0",
                 "/v1/log/tile/64/000", "/v1/log/tile/00/000", "/v1/log/tile/entries/000",
                 "/v1/log/tile/0/x000/000", "/v1/log/tile/0/" + "x999/" * 6 + "999",
                 "/v1/log/tile/", "/v1/log/", "/v1/log/checkpoint/"]:
        if head(database) == size or path != f"{beyond}.p/{size % 256 + 1}":
            problem(log.client.get(path), 404, "not-found")
    for path in ["checkpoint", "key", "tile/0/000"]:
        refused = log.client.post(f"/v1/log/{path}")
        problem(refused, 405, "method-not-allowed")
        assert refused.headers["allow"] == "GET, HEAD, OPTIONS"
        problem(log.client.get(f"/v1/log/{path}?x=1"), 400, "malformed-request")


def proof_of(person, version, **query):
    """The proof of one of a person's own events, once there is one."""
    path = f"/v1/users/me/history/{version}/proof"

    def answer():
        response = person.get(path, params=query)
        if response.status_code == 404 and response.json()["code"] == "not-in-tree-yet":
            assert response.headers["retry-after"] == "1"
            return None
        assert response.status_code == 200, response.text
        return response

    return until("there is a proof", answer)


def test_a_person_can_prove_what_happened_to_them(filled, log, database):
    ada = signed_in(filled, firstName="Ada")
    for name in ["Augusta", "Countess"]:
        assert ada.patch({"firstName": name}).status_code == 200
    ada.change_password(oldPassword=ada.password, newPassword="a quiet analytical engine",
                        confirmPassword="a quiet analytical engine")
    verifier = log.verifier()
    entries = transparency.entries(database)
    cases = [(version, {}) for version in range(1, 5)] + [(1, {"stream": "access"})]
    for version, query in cases:
        response = proof_of(ada, version, **query)
        assert response.headers["cache-control"] == "private, no-cache"
        proof = Proof.parse(response.text)
        checkpoint = proof.check(verifier)
        assert checkpoint.size > proof.index
        assert proof.entry == entries[proof.index]
        row = database.rows("select type, request_id, trace_id, changed from events"
                            " where position = %s", proof.index + 1)[0]
        assert proof.details == tuple(row)
        stream = 2 if query else 1
        assert database.value("select position from events where user_id = %s and version = %s"
                              " and stream = %s", ada.id, version, stream) == proof.index + 1
    # By one's own id too, and of nobody else.
    assert ada.get(f"/v1/users/{ada.id}/history/1/proof").status_code == 200
    other = signed_in(filled)
    problem(other.get(f"/v1/users/{ada.id}/history/1/proof"), 404, "not-found")
    problem(ada.get("/v1/users/me/history/5/proof"), 404, "no-such-version")
    problem(ada.get("/v1/users/me/history/1/proof?stream=x"), 400, "malformed-request")
    problem(ada.get("/v1/users/me/history/0/proof"), 404, "not-found")
    with http(filled) as anyone:
        problem(anyone.get("/v1/users/me/history/1/proof"), 401, "authentication-required")
        audit = {"Authorization": "Bearer " + filled.api_key("audit:read")}
        users = {"Authorization": "Bearer " + filled.api_key("users:read")}
        path = f"/v1/users/{ada.id}/history/1/proof"
        Proof.parse(anyone.get(path, headers=audit).text).check(verifier)
        problem(anyone.get(path, headers=users), 403, "insufficient-scope")


def test_what_is_left_of_the_erased_can_be_proven_to_operators(filled, log, database):
    ada = signed_in(filled, firstName="Ada")
    assert delete(ada).status_code == 204
    wait_signed(database)
    entries = transparency.entries(database)
    with http(filled) as client:
        def proof(version, **query):
            headers = {"Authorization": "Bearer " + audit}
            path = f"/v1/users/{ada.id}/history/{version}/proof"
            return client.get(path, params=query, headers=headers)

        audit = filled.api_key("audit:read")
        cases = [(1, {}, "UserRegistered"), (2, {}, "UserErased"),
                 (1, {"stream": "access"}, "SignedIn")]
        for version, query, kind in cases:
            response = proof(version, **query)
            assert response.status_code == 200, response.text
            found = Proof.parse(response.text)
            found.check(log.verifier())
            assert found.entry == entries[found.index] and found.details.type == kind
        problem(proof(3), 404, "no-such-version")
        problem(client.get(f"/v1/users/{ada.id}/history/2/proof"), 401, "authentication-required")
        problem(client.get("/v1/users/01a22abc-86f0-7172-a247-47adcfe285ce/history/1/proof",
                           headers={"Authorization": "Bearer " + audit}), 404, "not-found")


def test_an_event_that_was_not_signed_yet_is_told(filled, database):
    with database.connect(autocommit=False) as blocker:
        blocker.execute("select from notary for update")
        ada = signed_in(filled)
        response = ada.get("/v1/users/me/history/1/proof")
        problem(response, 404, "not-in-tree-yet")
        assert response.headers["retry-after"] == "1"
        blocker.rollback()
    assert proof_of(ada, 1)


def test_a_proof_is_not_given_for_what_was_altered(fresh_database):
    with Service(fresh_database.url) as service:
        ada = signed_in(service)
        proof_of(ada, 1)
        fresh_database.rows("update events set request_id = 'another' where position = 1")
        body = problem(ada.get("/v1/users/me/history/1/proof"), 503, "unprovable-event")
        assert body["position"] == 1


@pytest.fixture
def proof_file(filled, log):
    """A proof in a file, its text, and the public key."""
    ada = signed_in(filled)
    text = proof_of(ada, 1).text
    path = short_directory() / "event.tlog-proof"
    path.write_text(text)
    return path, text, log.client.get("/v1/log/key").text.strip(), ada


def test_the_command_verifies_a_proof_without_service_and_database(proof_file):
    path, _, key, ada = proof_file
    result = jejak("verify-proof", path, "--key", key)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("proven: the log example.com/tests has this event")
    assert re.search(rf"^user +{ada.id}$", result.stdout, re.MULTILINE)
    assert re.search(r"^type +UserRegistered$", result.stdout, re.MULTILINE)
    assert re.search(r"^fields +email$", result.stdout, re.MULTILINE)
    result = jejak("verify-proof", path, "--key", key, "--json")
    assert result.returncode == 0 and f'"user":"{ada.id}"' in result.stdout
    told = json.loads(result.stdout)
    assert (told["type"], told["changed"]) == ("UserRegistered", ["email"])
    assert told["requestId"] and told["traceId"] is None
    piped = jejak("verify-proof", "-", "--key", key, "--json", input=path.read_text())
    assert piped.returncode == 0 and json.loads(piped.stdout) == told
    several = jejak("verify-proof", path, "--key", f"{OTHER_KEY}\n{key}\n", "--json")
    assert several.returncode == 0 and json.loads(several.stdout) == told
    assert jejak("verify-proof", path, "--key", f"{key}\nx").returncode == 2
    assert jejak("verify-proof", "-", "--key", key, input="").returncode == 1


def test_the_command_refuses_every_change_of_a_proof(proof_file):
    path, text, key, _ = proof_file
    extra = base64.b64decode(re.search(r"^extra (.*)$", text, re.MULTILINE)[1])
    def with_extra(place, extra=extra):
        altered = bytearray(extra)
        altered[place] ^= 1
        return text.replace(base64.b64encode(extra).decode(), base64.b64encode(altered).decode())

    assert b"UserRegistered" in extra[137:]
    size = re.search(r"\n\n\S+\n(\d+)\n", text)[1]
    index = int(re.search(r"^index (\d+)$", text, re.MULTILINE)[1])
    changes = {
        "entry": with_extra(20),
        "digest of the details": with_extra(80),
        "length of the type": with_extra(137),
        "type": with_extra(142),
        "a field's name": with_extra(len(extra) - 1),
        "no details": text.replace(base64.b64encode(extra).decode(),
                                   base64.b64encode(extra[:137]).decode()),
        "more behind the details": text.replace(base64.b64encode(extra).decode(),
                                                base64.b64encode(extra + b"x").decode()),
        "index": text.replace(f"index {index}", f"index {index - 1}"),
        "size": text.replace(f"\n{size}\n", f"\n{int(size) + 1}\n"),
        "hash": re.sub(r"(index \d+\n)(.)",
                       lambda m: m[1] + ("A" if m[2] != "A" else "B"), text),
        "a hash left out": re.sub(r"(index \d+\n).*\n", r"\1", text),
        "no entry": re.sub(r"extra .*\n", "", text),
        "no proof": "hello\n",
    }
    for what, changed in changes.items():
        assert changed != text, what
        path.write_text(changed)
        result = jejak("verify-proof", path, "--key", key)
        assert result.returncode == 1 and result.stdout == "", (what, result)
        assert result.stderr.startswith("jejak: "), what
        if what == "index":
            assert f"says a wrong place: its index is {index - 1}, and its event" in result.stderr
    path.write_text(text)
    result = jejak("verify-proof", path, "--key", OTHER_KEY)
    assert result.returncode == 1
    assert "is not signed by PeterNeumann's key" in result.stderr
    assert jejak("verify-proof", path, "--key", "x").returncode == 2
    name, number, public = key.split("+", 2)
    for wrong in (f"{name}x+{number}+{public}", f"{name}+{int(number, 16) ^ 1:08x}+{public}"):
        result = jejak("verify-proof", path, "--key", wrong)
        assert result.returncode == 2 and "is not that of its name and key" in result.stderr
    assert jejak("verify-proof", path, url="postgresql://nowhere/x",
                 env={"JEJAK_SIGNING_KEY_FILE": "/nowhere"}).returncode == 2
    assert jejak("verify-proof", path.parent / "missing", "--key", key).returncode == 1
    assert jejak("verify-proof").returncode == 2


def test_another_key_has_signed_nothing(log):
    note = log.note()
    with pytest.raises(InvalidSignature):
        transparency.open_note(note, Verifier.parse(OTHER_KEY))
    forged = note.replace("\n", "\n1", 1)
    with pytest.raises(InvalidSignature):
        transparency.open_note(forged, log.verifier())


def test_the_checkpoint_is_shown_and_exported(filled, log, database):
    wait_signed(database)
    shown = jejak("checkpoint", "show", url=database.url)
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"^origin +example.com/tests$", shown.stdout, re.MULTILINE)
    result = jejak("checkpoint", "show", "--json", url=database.url)
    assert '"origin":"example.com/tests"' in result.stdout
    path = short_directory() / "kept"
    result = jejak("checkpoint", "export", path, url=database.url)
    assert result.returncode == 0 and result.stdout == "", result.stderr
    checkpoint = transparency.open_checkpoint(path.read_text(), log.verifier())
    assert checkpoint.size <= head(database)
    nowhere = path.parent / "missing" / "kept"
    refused = jejak("checkpoint", "export", nowhere, url=database.url)
    assert refused.returncode == 1
    assert refused.stderr == f"jejak: can't use {nowhere}: its directory does not exist\n"
    printed = jejak("checkpoint", "export", "-", url=database.url)
    assert printed.returncode == 0 and printed.stderr == "", printed.stderr
    assert transparency.open_checkpoint(printed.stdout, log.verifier()).size >= checkpoint.size
    for wrong in [[], ["hide"], ["export"], ["show", "x"], ["show", "--yes"], ["new-origin"],
                  ["show", "--origin", "x"], ["key", "--origin", "a b"], ["export", "x", "--json"]]:
        assert jejak("checkpoint", *wrong, url=database.url).returncode == 2, wrong


def test_the_key_is_made_once_and_only_its_owner_can_read_it():
    path = short_directory() / "key"
    made = jejak("checkpoint", "key", "--origin", "example.com/log", "--signing-key-file", path)
    assert made.returncode == 0, made.stderr
    assert Verifier.parse(made.stdout.strip()).name == "example.com/log"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = jejak("checkpoint", "key", "--signing-key-file", path)
    assert again.stdout == made.stdout and again.stderr == ""
    other = jejak("checkpoint", "key", "--origin", "example.com/x", "--signing-key-file", path)
    assert other.returncode == 1 and other.stdout == ""
    path.chmod(0o640)
    refused = jejak("checkpoint", "key", "--signing-key-file", path)
    assert refused.returncode == 1
    assert refused.stderr == f"jejak: others can read or write {path}; run chmod 600 {path}\n"


def test_a_new_origin_keeps_the_name_and_the_former_keys_are_told(fresh_database):
    """Without a name of its own it is the former one with a number."""
    path = short_directory() / "key"
    env = {"JEJAK_SIGNING_KEY_FILE": path}
    made = jejak("checkpoint", "key", "--origin", "example.com/jejak", env=env)
    with Service(fresh_database.url, env=env) as service, http(service) as client:
        ada = signed_in(service)
        proof = proof_of(ada, 1).text
        log, printed = Log(client), [made.stdout]
        for number in (2, 3):
            result = jejak("checkpoint", "new-origin", "--yes", url=fresh_database.url, env=env)
            assert result.returncode == 0, result.stderr
            printed.insert(0, result.stdout)
            assert log.verifiers()[0].name == f"example.com/jejak/{number}"
        assert client.get("/v1/log/key").text == "".join(printed)
        # What was proven under a former key is proven still, by what the service gives now.
        Proof.parse(proof).check(log.verifiers()[-1])
        file = path.parent / "event.tlog-proof"
        file.write_text(proof)
        keys = client.get("/v1/log/key").text
        result = jejak("verify-proof", file, "--key", keys)
        assert result.returncode == 0, result.stderr
        assert result.stdout.startswith("proven: the log example.com/jejak has")
        newest = jejak("verify-proof", file, "--key", printed[0])
        assert newest.returncode == 1, newest.stdout
        wait_signed(fresh_database)
        verified = jejak("verify", "--key", keys, url=fresh_database.url, env=env)
        assert verified.returncode == 0, verified.stdout + verified.stderr


def test_the_service_refuses_to_start_without_a_key_of_its_own(fresh_database):
    def refusal(**settings):
        env = {"JEJAK_DATABASE_URL": fresh_database.url, "JEJAK_LISTEN": "127.0.0.1:0",
               "JEJAK_MASTER_KEY_FILE": key_file(), **settings}
        result = jejak("serve", env=env)
        assert result.returncode == 1, result
        return result.stderr

    assert environment().get("JEJAK_SIGNING_KEY_FILE") is None
    told = refusal()
    assert "JEJAK_SIGNING_KEY_FILE (--signing-key-file) is not set" in told
    assert "put your copy back, or make a key with jejak checkpoint key" in told
    path = short_directory() / "key"
    assert str(path) in refusal(JEJAK_SIGNING_KEY_FILE=path)
    path.write_text("no key\n")
    path.chmod(0o600)
    assert "holds no key" in refusal(JEJAK_SIGNING_KEY_FILE=path)
    path.chmod(0o644)
    assert "others can read or write" in refusal(JEJAK_SIGNING_KEY_FILE=path)


def test_the_service_can_add_to_the_tree_and_not_change_it(database, filled):
    with database.connect() as connection:
        for table in ["tree_tiles", "checkpoints", "log_origins"]:
            for right, expected in [("select", True), ("insert", True), ("update", False),
                                    ("delete", False), ("truncate", False)]:
                found = connection.execute(
                    "select has_table_privilege('jejak_service', %s, %s)", [table, right])
                assert found.fetchone()[0] == expected, (table, right)


def test_embedded_the_service_makes_its_key_and_keeps_the_checkpoint():
    directory = short_directory() / "data"
    with Service(env={"JEJAK_DATA_DIR": directory}) as service:
        assert "made a key that signs the log" in service.stderr()
        assert stat.S_IMODE((directory / "signing-key").stat().st_mode) == 0o600
        ada = signed_in(service)
        proof = Proof.parse(proof_of(ada, 1).text)
        with http(service) as client:
            verifier = Log(client).verifier()
        assert re.fullmatch(r"localhost/jejak/[0-9a-f]{8}", verifier.name)
        proof.check(verifier)
        kept = transparency.open_checkpoint((directory / "checkpoint").read_text(), verifier)
        assert kept.size >= 1
        service.restart()
        assert "made a key that signs the log" not in service.stderr().split("stopped")[-1]
        key = jejak("checkpoint", "key", "--data-dir", directory)
        assert Verifier.parse(key.stdout.strip()) == verifier
