"""The recipes of docs/operations.md for a backup and its restore do what they say, line by line."""

import os

import pytest
from support.client import signed_in
from support.erasure import delete
from support.processes import REPOSITORY, short_directory
from support.service import Service, binary, environment, jejak
from support.wait import until
from support.walkthrough import Shell, blocks

SECTION = REPOSITORY / "docs/operations.md"


def recipes():
    """The blocks in their order: dump, copies, two ways to restore, check, verify."""
    text = SECTION.read_text()
    start = text.index("\n## Backups\n")
    return blocks(text[start:text.index("\n## The signed log\n", start)])


@pytest.fixture
def place(cluster):
    """A directory of an operator, and a shell in it that runs the lines of a block."""
    directory = short_directory()
    for name in ("safe", "etc"):
        (directory / name).mkdir()
    path = f"{os.path.dirname(binary())}:{os.environ['PATH']}"
    shell = Shell(directory, environment(
        {"PATH": path, "ADMIN_URL": cluster.url("postgres")}))

    def run(lines):
        text = "\n".join(lines)
        for printed, real in {"/safe": directory / "safe", "/etc/jejak": directory / "etc",
                              "@db/": f"@127.0.0.1:{cluster.port}/"}.items():
            text = text.replace(printed, str(real))
        return shell.run(text)

    yield directory, run
    shell.close()


@pytest.mark.parametrize("way", ["own", "embedded"])
def test_the_recipes_of_a_restore(place, way):
    directory, run = place
    dump, copies, own, embedded, check, verify = recipes()
    data = directory / ".jejak"
    with Service(env={"JEJAK_DATA_DIR": data}) as service:
        # There from the beginning, so that one that is missing is one that was lost.
        assert (data / "erasures.jsonl").read_text() == ""
        ada, bob = signed_in(service), signed_in(service, firstName="Bob")
        signed(data)
        assert run(dump)[0] == 0
        for number in range(3):
            assert ada.patch({"firstName": f"Ada {number}"}).status_code == 200
        assert delete(bob).status_code == 204
        until("it is listed", lambda: bob.id in (data / "erasures.jsonl").read_text())
        signed(data)
        assert run(copies)[0] == 0

    status, output = run(own if way == "own" else embedded)
    assert status == 0, output
    told = {}
    for line in check:
        status, output = run([line])
        told[line.split("  ")[0]] = output
        assert status == (1 if "backup-check" in line else 0), (line, output)
    assert f"owed: {bob.id}" in told["jejak backup-check $where"]
    assert f"erased: {bob.id}" in told["jejak backup-check --replay $where"]
    for output in list(told.values())[1:3]:
        assert "was lost, 4 events at least" in output, output

    env = {"JEJAK_DATA_DIR": directory / "new"}
    arguments = []
    if way == "own":
        env, arguments = {}, ["--config", directory / "etc/jejak.env"]
    with Service(env=env, arguments=arguments) as service:
        ada.service, ada.http.base_url = service, service.base_url
        assert ada.sign_in().status_code == 201 and ada.get().json()["firstName"] != "Ada 2"
        until("it verifies", lambda: run(verify)[0] == 0)
        status, output = run(["jejak backup-check $where"])
        assert status == 0, output


def signed(data):
    """Waits until the checkpoint beside an embedded database has all of its events."""
    def is_signed():
        shown = jejak("checkpoint", "show", "--json", "--data-dir", data)
        return shown.returncode == 0 and '"unsigned":0' in shown.stdout
    until("all is signed", is_signed)
