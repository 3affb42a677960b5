"""A log as docs/operations.md advises: its owner is no superuser, and its service logs in apart."""

import contextlib
import secrets

import psycopg

from .postgres import Database
from .service import jejak

SERVICE_ROLE = "jejak_service"


class OwnedLog(Database):
    """A migrated database with an owner and a login of its own, neither of them a superuser."""

    def __init__(self, postgres):
        suffix = secrets.token_hex(4)
        super().__init__(postgres, f"jejak_owned_{suffix}")
        self.owner, self.login = f"owner_{suffix}", f"login_{suffix}"
        with postgres.connect("postgres") as connection:
            with contextlib.suppress(psycopg.errors.DuplicateObject):
                connection.execute(f"create role {SERVICE_ROLE} nologin")
            for role in (self.owner, self.login):
                connection.execute(f"create role {role} login")
                connection.execute(f"grant {SERVICE_ROLE} to {role}")
            connection.execute(f"create database {self.name} owner {self.owner}")
            connection.execute(f"revoke temporary on database {self.name} from public")
        result = jejak("migrate", url=self.owner_url)
        assert result.returncode == 0, result.stderr

    def url_of(self, role):
        return self.url.replace("postgres@", f"{role}@")

    @property
    def owner_url(self):
        return self.url_of(self.owner)

    @property
    def login_url(self):
        return self.url_of(self.login)

    def service_session(self):
        """A connection as the service makes it: its own login, working as the service's role."""
        connection = psycopg.connect(self.login_url, autocommit=True, connect_timeout=5)
        connection.execute(f"set role {SERVICE_ROLE}")
        return connection

    def drop(self):
        super().drop()
        with contextlib.suppress(psycopg.Error), self.server.connect("postgres") as connection:
            connection.execute(f"drop role {self.owner}, {self.login}")
