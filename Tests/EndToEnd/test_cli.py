"""The commands of the binary: exit statuses, output, and what the service's role may not do."""

import contextlib
import json
import secrets
import subprocess

import psycopg
import pytest
from support.client import PASSWORD, http, new_email, problem, signed_in
from support.log import head
from support.postgres import Database, binaries
from support.processes import short_directory
from support.service import Service, jejak
from support.threads import together
from support.wait import until

COMMANDS = [["serve"], ["migrate"], ["projection"], ["history"], ["user"], ["apikey"],
            ["audit"], ["database-url"], ["version"]]


def test_version_and_help_succeed():
    assert jejak("version").stdout.strip()
    assert "serve" in jejak("help").stdout
    for command in (["version"], ["help"], ["--help"], *([*name, "--help"] for name in COMMANDS)):
        result = jejak(*command)
        assert (result.returncode, result.stderr) == (0, ""), command
        assert result.stdout.strip()


def test_the_first_help_has_a_line_for_each_command():
    lines = [line for line in jejak("help").stdout.splitlines() if line.startswith("  ")]
    assert len(lines) > 10
    for line in lines:
        assert line.endswith((".", ").")) and len(line) <= 100, line


def test_serve_help_lists_the_settings():
    text = jejak("serve", "--help").stdout
    for setting in ("--listen", "--database-url", "--data-dir", "--master-key-file", "--loops",
                    "--profile-schema",
                    "--password-min-length", "--no-migrate", "--config", "JEJAK_LISTEN"):
        assert setting in text


@pytest.mark.parametrize("command", [
    [], ["nonsense"], ["serve", "--nonsense"], ["serve", "--listen"], ["projection"],
    ["projection", "nonsense"], ["projection", "rebuild"], ["history"],
    ["projection", "list", "--throttle", "5"], ["projection", "verify", "directory", "--dry-run"],
    ["serve", "--listen", "nowhere"], ["serve", "--password-min-length", "7"],
    ["serve", "--loops", "none"]])
def test_wrong_usage_is_2_and_says_so_on_standard_error(command):
    result = jejak(*command, url="postgresql://postgres@127.0.0.1:1/none")
    assert result.returncode == 2, result
    assert result.stdout == "" and result.stderr.strip()


def test_what_fails_is_1():
    url = "postgresql://postgres@127.0.0.1:1/none"
    for command in (["migrate", "--check"], ["migrate"], ["history", new_email()],
                    ["projection", "verify", "current_users"]):
        result = jejak(*command, url=url, timeout=30)
        assert result.returncode == 1, (command, result)
        assert result.stderr.strip()


def test_migrate_check_before_and_after(fresh_database):
    url = fresh_database.url
    assert jejak("migrate", "--check", url=url).returncode == 1
    assert fresh_database.value("select to_regclass('events')") is None
    assert jejak("migrate", url=url).returncode == 0
    assert jejak("migrate", "--check", url=url).returncode == 0
    again = jejak("migrate", "--json", url=url)
    assert again.returncode == 0
    json.loads(again.stdout)
    assert head(fresh_database) == 0


def test_serve_without_migration_refuses_an_empty_database(fresh_database):
    result = jejak("serve", "--no-migrate", "--listen", "127.0.0.1:0", url=fresh_database.url,
                   timeout=30)
    assert result.returncode == 1 and "migrat" in result.stderr.lower()
    assert fresh_database.value("select to_regclass('events')") is None


def test_serve_refuses_a_schema_that_it_cannot_keep(tmp_path, fresh_database):
    """A keyword that isn't understood is refused: ignoring it would let anything in."""
    cases = {"unknown": '{"type":"object","properties":{"a":{"type":"string","pattern":"x"}}}',
             "broken": '{"type":', "none": None}
    for name, text in cases.items():
        path = tmp_path / f"{name}.json"
        if text is not None:
            path.write_text(text)
        result = jejak("serve", "--listen", "127.0.0.1:0", "--profile-schema", path,
                       url=fresh_database.url, timeout=30)
        assert (result.returncode, result.stdout) == (1, ""), result
        assert path.name in result.stderr
        assert name != "unknown" or "pattern" in result.stderr


def test_serve_refuses_another_encoding(postgres):
    with postgres.connect("postgres") as connection:
        connection.execute("drop database if exists latin")
        connection.execute("create database latin encoding 'LATIN1' locale 'C' "
                           "template template0")
    result = jejak("serve", "--listen", "127.0.0.1:0", url=postgres.url("latin"), timeout=30)
    assert (result.returncode, result.stdout) == (1, "")
    assert "LATIN1" in result.stderr


def test_serve_waits_for_its_database(postgres):
    """It lives, says that it isn't ready, and why; and serves when the database is there."""
    database = Database(postgres, f"jejak_late_{secrets.token_hex(4)}")
    with contextlib.closing(Service(database.url).spawn()) as service:
        until("it says where it listens", lambda: service.announced)
        with http(service) as client:
            assert client.get("/livez").status_code == 200
            problem(client.get("/readyz"), 503, "unavailable")
            answer = client.post("/v1/users", json={"email": new_email(), "password": PASSWORD})
            problem(answer, 503, "unavailable")
            assert answer.headers["retry-after"]
        until("it says why", lambda: database.name in service.stderr())
        with postgres.connect("postgres") as connection:
            connection.execute(f'create database "{database.name}"')
        service.wait_ready()
        signed_in(service)
        assert service.stop() == 0
    database.drop()


def test_serve_without_a_database_can_be_stopped():
    service = Service("postgresql://postgres@127.0.0.1:1/none").spawn()
    until("it says where it listens", lambda: service.announced)
    assert service.stop() == 0


def test_two_migrations_at_once_are_one(fresh_database):
    results = together(4, lambda _: jejak("migrate", url=fresh_database.url))
    assert [result.returncode for result in results] == [0] * 4, results


def test_history_of_a_person(ada, database):
    assert ada.patch({"firstName": "Grace"}).status_code == 200
    for who in (ada.id, ada.email):
        result = jejak("history", who, url=database.url)
        assert result.returncode == 0, result.stderr
        assert "ProfileUpdated" in result.stdout and "Grace" in result.stdout
    result = jejak("history", ada.id, "--json", "--limit", 1, url=database.url)
    parsed = parse_json(result.stdout)
    assert len(parsed) == 1
    assert parsed[0]["type"] == "ProfileUpdated"
    assert parsed[0]["changes"] == [{"field": "firstName", "old": "Ada", "new": "Grace"}]


def parse_json(text):
    """A JSON array, an object with items, or one object a line."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]
    if isinstance(value, dict):
        return value["items"] if "items" in value else [value]
    return value


def test_history_of_nobody_fails(database, service):
    for who in (new_email(), "0198f0c2-0000-7000-8000-000000000000"):
        result = jejak("history", who, url=database.url)
        assert result.returncode == 1 and result.stdout == ""


def test_projections_are_listed_and_verified(service, ada, database):
    assert "current_users" in jejak("projection", "list", url=database.url).stdout
    json.loads(jejak("projection", "list", "--json", url=database.url).stdout)
    result = jejak("projection", "verify", "current_users", "--json", url=database.url)
    assert result.returncode == 0
    json.loads(result.stdout)
    result = jejak("projection", "verify", "nonsense", url=database.url)
    assert result.returncode in (1, 2)


def test_rebuild_without_a_service(fresh_database):
    with Service(fresh_database.url) as service:
        person = signed_in(service, firstName="Ada")
        before = fresh_database.rows("select * from current_users")
    result = jejak("projection", "rebuild", "current_users", "--json", url=fresh_database.url)
    assert result.returncode == 0, result.stderr
    json.loads(result.stdout)
    assert fresh_database.rows("select * from current_users") == before
    assert str(before[0][0]) == person.id


@pytest.fixture(scope="module")
def embedded():
    """A service with a PostgreSQL of its own in a data directory."""
    directory = short_directory()
    with Service(env={"JEJAK_DATA_DIR": directory / "data"}) as service:
        yield service


def test_the_embedded_database_can_be_reached(embedded):
    person = signed_in(embedded, firstName="Ada")
    url = jejak("database-url", env=embedded.env).stdout.strip()
    assert url.startswith("postgresql://") or url.startswith("postgres://")
    result = subprocess.run([binaries() / "psql", "-XAtc",
                             "select firstname from (select convert_from(document, 'UTF8') "
                             "as firstname from current_users) u", url],
                            capture_output=True, text=True, timeout=30)
    assert result.returncode == 0, result.stderr
    assert "Ada" in result.stdout
    assert jejak("history", person.id, env=embedded.env).returncode == 0
    assert jejak("projection", "verify", "current_users", env=embedded.env).returncode == 0


def test_commands_start_and_stop_the_embedded_database():
    """Without a service each command brings the server up, several at once share it, and the
    last one leaves none behind."""
    data = short_directory() / "data"
    env = {"JEJAK_DATA_DIR": data}
    assert jejak("migrate", "--check", env=env).returncode == 1
    assert jejak("migrate", env=env).returncode == 0
    commands = [["migrate", "--check"], ["projection", "list"], ["database-url"],
                ["projection", "verify", "current_users"],
                ["projection", "rebuild", "current_users"]]
    results = together(len(commands), lambda n: jejak(*commands[n], env=env))
    assert [result.returncode for result in results] == [0] * len(commands), results
    assert jejak("history", new_email(), env=env).returncode == 1
    assert not list(data.rglob("postmaster.pid"))


def test_commands_join_the_server_of_the_service(embedded):
    person = signed_in(embedded, firstName="Ada")
    result = jejak("projection", "rebuild", "current_users", "--json", env=embedded.env)
    assert result.returncode == 0, result.stderr
    json.loads(result.stdout)
    assert jejak("migrate", "--check", env=embedded.env).returncode == 0
    listed = jejak("history", person.id, "--json", env=embedded.env)
    assert [entry["type"] for entry in parse_json(listed.stdout)] == ["UserRegistered"]
    assert person.get().json()["firstName"] == "Ada"


def test_the_embedded_database_outlives_the_service(embedded):
    person = signed_in(embedded, firstName="Ada")
    assert embedded.stop() == 0
    assert jejak("history", person.email, env=embedded.env).returncode == 0
    embedded.start()
    assert person.get().json()["firstName"] == "Ada"
    embedded.kill()
    embedded.start()
    assert person.patch({"firstName": "Grace"}).status_code == 200


@pytest.mark.parametrize("forbidden", [
    "update events set type = 'Other'", "delete from events", "truncate events",
    "create table intruder (id int)", "drop table events", "alter table events add column x int",
    "create schema intruder", "delete from log_head"])
def test_the_role_of_the_service_cannot_rewrite_history(service, ada, database, forbidden):
    with database.connect() as connection:
        connection.execute("set role jejak_service")
        assert connection.execute("select count(*) from events").fetchone()[0] > 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(forbidden)


def test_the_service_works_as_its_role(service, ada, database):
    """Its connections have the role: what it may not do holds for what it runs."""
    with database.connect() as connection:
        connection.execute("set role jejak_service")
        assert connection.execute(
            "select has_table_privilege('events', 'insert')").fetchone()[0]
        assert not connection.execute(
            "select has_table_privilege('events', 'update, delete, truncate')").fetchone()[0]
