"""The service under test as a process: `jejak serve`, and the other commands of the binary."""

import functools
import os
import re
import signal
import subprocess
import threading
from pathlib import Path

from . import processes, raw, sealing
from .wait import until

READY = re.compile(r"^jejak: listening on (http://\S+)$")


def binary():
    """The program under test: `JEJAK_BINARY`, or the release build of this repository."""
    default = processes.REPOSITORY / ".build/release/jejak"
    return str(Path(os.environ.get("JEJAK_BINARY", default)).absolute())


def environment(overrides=None):
    """The environment of the program: ours without any JEJAK_ setting, then the overrides."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("JEJAK_", "PG"))}
    clean.update(overrides or {})
    return {k: str(v) for k, v in clean.items() if v is not None}


@functools.cache
def signing_key():
    """A key that signs the logs of this run, for databases that are not embedded."""
    path = processes.short_directory() / "signing-key"
    command = [binary(), "checkpoint", "key", "--origin", "example.com/tests",
               "--signing-key-file", path]
    subprocess.run(command, env=environment(), check=True, capture_output=True, timeout=60)
    return path


def jejak(*arguments, url=None, env=None, **options):
    """Runs one command to its end; the result has returncode, stdout and stderr as text."""
    settings = dict(env or {})
    if url is not None:
        settings.setdefault("JEJAK_DATABASE_URL", url)
        settings.setdefault("JEJAK_MASTER_KEY_FILE", sealing.key_file())
        settings.setdefault("JEJAK_SIGNING_KEY_FILE", signing_key())
    options.setdefault("timeout", 60)
    return subprocess.run([binary(), *map(str, arguments)], env=environment(settings),
                          capture_output=True, text=True, **options)


class Service:
    """One `jejak serve`. It can be stopped, killed and started again on the same port."""

    def __init__(self, url=None, env=None, arguments=(), listen="127.0.0.1:0", cwd=None):
        self.database_url, self.env, self.arguments = url, env or {}, list(arguments)
        self.listen, self.cwd = listen, cwd
        self.directory = processes.short_directory()
        self.stderr_path = self.directory / "stderr"
        self.process = self.base_url = self.announced = None

    def spawn(self):
        """Starts the process without waiting for it to be ready."""
        command = [binary(), "serve", "--listen", self.listen, *self.arguments]
        if self.database_url is not None:
            command += ["--database-url", self.database_url]
            self.env = {"JEJAK_MASTER_KEY_FILE": sealing.key_file(),
                        "JEJAK_SIGNING_KEY_FILE": signing_key(), **self.env}
        self.announced, self._output = None, []
        with open(self.stderr_path, "ab") as stderr:
            self.process = processes.start(
                command, env=environment(self.env), stdout=subprocess.PIPE, stderr=stderr,
                stdin=subprocess.DEVNULL, text=True, cwd=self.cwd)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def _read(self):
        for line in self.process.stdout:
            self._output.append(line)
            match = READY.match(line.rstrip("\n"))
            if match and self.announced is None:
                self.announced = self.base_url = match.group(1).rstrip("/")

    def start(self, seconds=60):
        """Starts, and returns when `/readyz` says 200."""
        self.spawn()
        until("the service says where it listens", self._announced, seconds)
        self.listen = self.base_url.removeprefix("http://")
        self.wait_ready(seconds)
        return self

    def _announced(self):
        if self.process.poll() is not None:
            raise AssertionError(f"serve ended with {self.process.returncode}: {self.stderr()}")
        return self.announced

    def wait_ready(self, seconds=60):
        until("/readyz says 200", self.ready, seconds)

    def ready(self):
        try:
            return raw.once(self, raw.request("GET", "/readyz"), timeout=10).status_code == 200
        except (OSError, raw.Closed):
            return False

    def api_key(self, *scopes, name="tests", **options):
        """A new API key with these scopes: its text; further options are those of `create`."""
        arguments = [f"--{option}={value}" for option, value in options.items()]
        result = jejak("apikey", "create", "--name", name, "--scope", ",".join(scopes),
                       *arguments, url=self.database_url, env=self.env)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    @property
    def address(self):
        """Host and port."""
        host, _, port = self.base_url.removeprefix("http://").rpartition(":")
        return host, int(port)

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def stdout(self):
        self._reader.join(5)
        return "".join(self._output)

    def stderr(self, tail=4000):
        return self.stderr_path.read_text(errors="replace")[-tail:]

    def stop(self, seconds=30):
        """SIGTERM; gives the exit status."""
        return processes.stop(self.process, signal.SIGTERM, seconds)

    def kill(self):
        """SIGKILL."""
        self.process.kill()
        self.process.wait()

    def restart(self):
        """Stops where needed, then starts again on the same port."""
        if self.running:
            self.stop()
        return self.start()

    def close(self):
        """Ends it, however it is."""
        if self.running:
            self.stop()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()
