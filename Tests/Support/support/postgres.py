"""A PostgreSQL of the tests' own: started, killed and restarted at will."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
from pathlib import Path

import psycopg

from . import processes
from .wait import until

ACCOUNT = "postgres"


def binaries():
    """The directory of the newest installed server's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_major)
    if not found:
        raise RuntimeError("no PostgreSQL server under /usr/lib/postgresql")
    return found[-1].parent


def _major(path):
    return int(path.parts[-3])


def unprivileged(command):
    """The command as the server's account, where the tests run as root."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups", *command]


def free_port():
    """A TCP port of 127.0.0.1 that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class PostgresServer:
    """One cluster in a temporary directory, on a socket and a port of 127.0.0.1, fsync on."""

    def __init__(self):
        self.directory = processes.short_directory(ACCOUNT if os.geteuid() == 0 else None)
        self.data, self.log_path = self.directory / "data", self.directory / "log"
        self.port = free_port()
        self.process = None
        initdb = [binaries() / "initdb", "-D", self.data, "-U", "postgres", "-A", "trust",
                  "-E", "UTF8", "--locale=C.UTF-8"]
        subprocess.run(unprivileged(map_text(initdb)), check=True, cwd="/",
                       stdout=subprocess.DEVNULL)

    def start(self):
        """Starts the server and returns when it answers queries."""
        settings = {
            "listen_addresses": "127.0.0.1", "port": self.port, "fsync": "on",
            "unix_socket_directories": self.directory, "max_connections": 200,
            "shared_buffers": "64MB", "log_min_messages": "warning",
        }
        command = [binaries() / "postgres", "-D", self.data]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with open(self.log_path, "ab") as log:
            self.process = processes.start(
                unprivileged(map_text(command)), cwd="/", stdout=log, stderr=log)
        until("PostgreSQL answers", self._answers)
        return self

    def _answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"PostgreSQL ended:\n{self.log_path.read_text()[-2000:]}")
        try:
            with self.connect("postgres") as connection:
                return connection.execute("select not pg_is_in_recovery()").fetchone()[0]
        except psycopg.OperationalError:
            return False

    def stop(self):
        """Fast shutdown."""
        if self.process is not None:
            processes.stop(self.process, signal.SIGINT, 60)

    def kill(self):
        """SIGKILL to the postmaster and every backend at once."""
        processes.kill_tree(self.process)

    def restart_after_kill(self):
        """Starts over, with crash recovery."""
        return self.start()

    def url(self, database, port=None):
        """A libpq URI of a database, directly or through another port (a proxy, a pooler)."""
        return f"postgresql://postgres@127.0.0.1:{port or self.port}/{database}"

    def connect(self, database, **options):
        """A psycopg connection that commits each statement, unless told otherwise."""
        options.setdefault("autocommit", True)
        return psycopg.connect(self.url(database), connect_timeout=5, **options)

    def create_database(self):
        """A fresh database with a random name."""
        database = Database(self, f"jejak_{secrets.token_hex(6)}")
        with self.connect("postgres") as connection:
            connection.execute(f'create database "{database.name}"')
        return database

    def tool(self, name, *arguments, **options):
        """Runs one of PostgreSQL's client programs against this server."""
        command = [binaries() / name, "-h", "127.0.0.1", "-p", self.port, "-U", "postgres",
                   *arguments]
        options.setdefault("check", True)
        return subprocess.run(map_text(command), capture_output=True, **options)


class Database:
    """One database of a server, and SQL in it as its owner."""

    def __init__(self, server, name):
        self.server, self.name = server, name

    @property
    def url(self):
        return self.server.url(self.name)

    def connect(self, **options):
        return self.server.connect(self.name, **options)

    def rows(self, sql, *values):
        """The rows of one statement."""
        with self.connect() as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    def value(self, sql, *values):
        """The single value of one statement."""
        return self.rows(sql, *values)[0][0]

    def drop(self):
        with contextlib.suppress(psycopg.Error), self.server.connect("postgres") as connection:
            connection.execute(f'drop database if exists "{self.name}" with (force)')


def map_text(command):
    """Each word of a command as text."""
    return [str(word) for word in command]
