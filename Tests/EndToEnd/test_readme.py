"""The README's walk-through does what it says, command by command."""

import os
import socket
import threading

import pytest
from support.processes import REPOSITORY, short_directory
from support.service import Service, binary, environment
from support.walkthrough import Shell, blocks, matches, steps

ADDRESS = ("127.0.0.1", 8080)


def port_is_free():
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(ADDRESS)
        except OSError:
            return False
    return True


@pytest.fixture
def readme_service():
    """The service at the README's address, with a database in a data directory of its own."""
    if not port_is_free():
        pytest.skip("somebody else listens on 127.0.0.1:8080")
    settings = {"JEJAK_DATA_DIR": short_directory() / "data"}
    with Service(env=settings, listen="%s:%d" % ADDRESS) as service:
        yield service


def test_the_walk_through_of_the_readme(readme_service):
    script = blocks((REPOSITORY / "README.md").read_text())
    assert script, "README.md has no walk-through"
    path = f"{os.path.dirname(binary())}:{os.environ['PATH']}"
    shell = Shell(REPOSITORY, environment({**readme_service.env, "PATH": path}))
    watchdog = threading.Timer(120, shell.process.kill)
    watchdog.start()
    try:
        for commands, expected in (step for lines in script for step in steps(lines)):
            status, output = shell.run(commands)
            assert status == 0, f"failed with {status}:\n{commands}\n{output}"
            for line in expected:
                assert matches(line, output), f"expected {line!r} from:\n{commands}\n{output}"
    finally:
        watchdog.cancel()
        shell.close()
