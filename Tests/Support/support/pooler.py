"""PgBouncer in transaction mode before one database."""

import os
import shutil

import psycopg

from . import processes
from .postgres import ACCOUNT, unprivileged
from .wait import until

SETTINGS = """
[databases]
{name} = host=127.0.0.1 port={server} dbname={name} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
logfile = {directory}/log
pidfile = {directory}/pid
"""


class Pooler:
    """One PgBouncer; `url` is the database through it."""

    def __init__(self, database, port):
        self.database, self.port = database, port
        self.url = database.server.url(database.name, port)

    def __enter__(self):
        program = shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin")
        assert program, "pgbouncer is not installed"
        directory = processes.short_directory(ACCOUNT if os.geteuid() == 0 else None)
        file = directory / "pgbouncer.ini"
        file.write_text(SETTINGS.format(
            name=self.database.name, server=self.database.server.port, port=self.port,
            directory=directory))
        self.process = processes.start(unprivileged([program, "-q", str(file)]), cwd="/")
        until("the pooler answers", self._answers)
        return self

    def _answers(self):
        assert self.process.poll() is None, "pgbouncer ended"
        try:
            with psycopg.connect(self.url, autocommit=True) as connection:
                return connection.execute("select true").fetchone()[0]
        except psycopg.OperationalError:
            return False

    def __exit__(self, *_):
        processes.stop(self.process)
