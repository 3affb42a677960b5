"""What the role of the service may do in the database, to the last right; and that it is enough."""

import contextlib
import re

import psycopg
import pytest
from support import processes
from support.client import NEW_PASSWORD, PASSWORD, http, signed_in
from support.projections import wait_caught_up
from support.roles import SERVICE_ROLE, OwnedLog
from support.service import Service, jejak
from support.wait import until

DENIED = "42501"
ALL = {"select", "insert", "update", "delete"}
# The whole of it: a table or a right that isn't here is one that nobody has thought about.
RIGHTS = {
    "api_keys": {"select"},
    "audit_entries": ALL,
    "checkpoints": {"select", "insert"},
    "command_receipts": {"select", "insert", "delete"},
    "credentials": {"select", "insert"},
    "current_users": {"select", "insert", "update"},
    "directory": ALL,
    "email_claims": {"select", "insert", "delete"},
    "erasures": {"select"},
    "events": {"select", "insert"},
    # To lock the row needs the right to update it; a trigger refuses the update.
    "log_head": {"select", "update"},
    "log_origins": {"select", "insert"},
    "migrations": {"select"},
    "notary": {"select", "update"},
    "projection_runner": {"select", "update"},
    "projections": {"select", "update"},
    "rebuild_ranges": ALL,
    "rebuilds": {"select", "insert", "update"},
    "sealing": {"select"},
    "sessions": {"select", "insert", "delete"},
    "statistics": ALL,
    "tree_edge": {"select", "insert", "update"},
    "tree_tiles": {"select", "insert"},
    "user_keys": {"select"},
}
# Columns that may be updated where the table as a whole may not.
UPDATABLE = {
    "api_keys": {"last_used_at"},
    "credentials": {"password_hash", "commitment", "changed_at"},
    "sessions": {"token_sha256", "last_used_at"},
}
# Functions that run as the owner, the only way to what the role itself may not do.
AS_OWNER = {"add_user_key", "drop_projection_table", "erase_user", "exchange_projection",
            "forget_erased", "index_rebuild", "prepare_rebuild", "use_master_key"}
FOLLOWERS = ("audit_entries", "directory", "statistics")


@pytest.fixture(scope="module")
def log(postgres):
    """A log with some people in it, written by a service that logs in without other rights."""
    log = OwnedLog(postgres)
    with Service(log.login_url, arguments=["--no-migrate"]) as service:
        for name in ("Ada", "Grace"):
            assert signed_in(service).patch({"firstName": name}).status_code == 200
        wait_caught_up(log)
    yield log
    log.drop()


@pytest.fixture
def session(log):
    """What whoever has taken over the service's connection has in hand."""
    with contextlib.closing(log.service_session()) as connection:
        yield connection


def refused(session, statement, reason, sqlstate=DENIED):
    """The statement fails, with this SQLSTATE and for this reason, a regular expression."""
    with pytest.raises(psycopg.Error) as failure:
        session.execute(statement)
    assert failure.value.sqlstate == sqlstate, (statement, failure.value)
    assert re.search(reason, str(failure.value)), (statement, failure.value)


def tables(log):
    """The columns of each table of the log."""
    found = {}
    for table, column in log.rows(
            "select table_name, column_name from information_schema.columns "
            "where table_schema = 'public' order by table_name, ordinal_position"):
        found.setdefault(table, []).append(column)
    return found


def test_the_rights_are_exactly_these(log):
    rights = {}
    for table in tables(log):
        rights[table] = {
            right for right in ("select", "insert", "update", "delete", "truncate", "references",
                                "trigger")
            if log.value("select has_table_privilege(%s, %s, %s)", SERVICE_ROLE, table, right)}
    assert rights == RIGHTS
    columns = {}
    for table, names in tables(log).items():
        for column in names:
            for right in ("update", "insert", "references"):
                if right not in rights[table] and log.value(
                        "select has_column_privilege(%s, %s, %s, %s)", SERVICE_ROLE, table,
                        column, right):
                    assert right == "update"
                    columns.setdefault(table, set()).add(column)
    assert columns == UPDATABLE


def test_defaults_that_the_role_gives_itself_are_of_no_consequence(log):
    """A role may always do that; it outlives its session, and the service."""
    defaults = {"default_transaction_read_only": "on", "row_security": "off",
                "default_transaction_isolation": "serializable"}
    with psycopg.connect(log.login_url, autocommit=True) as connection:
        for name, value in defaults.items():
            connection.execute(f"alter role {log.login} set {name} = '{value}'")
    try:
        with Service(log.login_url, arguments=["--no-migrate"]) as service:
            assert signed_in(service).patch({"firstName": "Barbara"}).status_code == 200
            wait_caught_up(log)
            until("all is signed", lambda: log.value(
                "select max(size) = (select max(position) from events) from checkpoints"))
    finally:
        with log.server.connect("postgres") as connection:
            connection.execute(f"alter role {log.login} reset all")


def test_the_role_owns_nothing_and_is_nothing_special(log):
    assert log.rows(
        "select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls "
        "from pg_roles where rolname = %s", SERVICE_ROLE) == [(False,) * 5]
    assert log.value("select count(*) from pg_class where relowner = %s::regrole",
                     SERVICE_ROLE) == 0
    assert log.value("select count(*) from pg_proc where proowner = %s::regrole",
                     SERVICE_ROLE) == 0
    # It is a member of nothing, so no right comes to it by way of another role.
    assert log.rows("select roleid::regrole::text from pg_auth_members "
                    "where member = %s::regrole", SERVICE_ROLE) == []


def test_functions_that_run_as_the_owner_are_exactly_these(log):
    rows = log.rows(
        "select proname, proconfig, has_function_privilege('public', oid, 'execute') "
        "from pg_proc where prosecdef and pronamespace = 'public'::regnamespace")
    assert {row[0] for row in rows} == AS_OWNER
    for name, settings, is_public in rows:
        # A caller's temporary objects come last, and nobody else calls them.
        assert [s for s in settings if s.startswith("search_path=")] == [
            "search_path=public, pg_temp"], name
        assert not is_public, name


def test_what_is_not_granted_is_refused(log, session):
    tried = 0
    for table, columns in tables(log).items():
        denied = f"permission denied for table {table}"
        statements = {
            "insert": [f"insert into {table} default values"],
            "delete": [f"delete from {table} where false", f"delete from {table}"],
            "truncate": [f"truncate {table}", f"truncate {table} cascade"],
            "trigger": [f"create trigger mine before insert on {table} for each row execute "
                        "function suppress_redundant_updates_trigger()"],
            "update": [f"update {table} set {column} = {column}" for column in columns
                       if column not in UPDATABLE.get(table, ())],
        }
        for right, attempts in statements.items():
            if right not in RIGHTS[table]:
                for statement in attempts:
                    refused(session, statement, denied)
                    tried += 1
        if "update" not in RIGHTS[table] and table not in UPDATABLE:
            refused(session, f"select from {table} for update", denied)
            if "delete" not in RIGHTS[table]:
                with session.transaction(force_rollback=True):
                    refused(session, f"lock table {table} in access exclusive mode", denied)
    assert tried > 100


def test_tables_are_altered_by_their_owner_alone(log, session):
    for table, columns in tables(log).items():
        owner = f"must be owner of table {table}"
        for statement in (
                f"alter table {table} add column mine integer",
                f"alter table {table} drop column {columns[0]}",
                f"alter table {table} disable trigger all",
                f"alter table {table} enable row level security",
                f"alter table {table} owner to {SERVICE_ROLE}",
                f"alter table {table} rename to mine",
                f"alter table {table} set unlogged",
                f"alter table {table} set (autovacuum_enabled = off)",
                f"alter table {table} alter column {columns[0]} drop not null",
                f"comment on table {table} is 'mine'",
                f"drop table {table} cascade"):
            refused(session, statement, owner)
        refused(session, f"create rule mine as on insert to {table} do instead nothing",
                f"must be owner of (table|relation) {table}")
        refused(session, f"create policy mine on {table} using (false)",
                f"must be owner of (table|relation) {table}")
        refused(session, f"create index mine on {table} ({columns[0]})",
                f"must be owner of table {table}")


def test_the_past_stays_as_it_is(log, session):
    """Each way to change, hide or overwrite an event, by name."""
    denied = "permission denied for table events"
    before = log.rows("select * from events order by position")
    one = "position = 1"
    for statement in (
            "update events set payload = null where " + one,
            "update events set position = position + 1000000",
            "delete from events where position = (select max(position) from events)",
            "with gone as (delete from events returning *) select count(*) from gone",
            "insert into events select * from events where " + one
            + " on conflict (position) do update set type = 'Mine'",
            "select from events for no key update", "select from events for key share",
            "merge into events e using (select 1) s on e.position = 1 "
            "when matched then delete",
            "truncate events, log_head"):
        refused(session, statement, denied)
    refused(session, "insert into events select * from events where " + one,
            "events_pkey", "23505")
    refused(session, "alter table events drop constraint events_pkey", "must be owner")
    refused(session, "update log_head set singleton = true", "locked, never updated")
    refused(session, "update log_head set singleton = true where false",
            "locked, never updated")
    assert log.rows("select * from events order by position") == before


def test_nothing_is_made(log, session):
    schema, database = "permission denied for schema public", "permission denied for database"
    temporary = "permission denied to create temporary tables"
    for statement, reason in {
            "create table mine (n integer)": schema,
            "create table public.mine as select 1": schema,
            "select 1 into mine": schema,
            "create view mine as select 1": schema,
            "create materialized view mine as select 1": schema,
            "create sequence mine": schema,
            "create type mine as enum ('a')": schema,
            "create domain mine as integer": schema,
            "create function mine() returns integer language sql as 'select 1'": schema,
            "create or replace function append_events() returns integer language sql "
            "as 'select 1'": schema,
            "create function mine() returns trigger language plpgsql as 'begin return null; end'":
                schema,
            "create operator === (leftarg = integer, rightarg = integer, function = int4eq)":
                schema,
            "create aggregate mine (integer) (sfunc = int4pl, stype = integer)": schema,
            "create schema mine": database,
            "create schema authorization jejak_service": database,
            "create extension pg_trgm": "permission denied to create extension",
            "create temporary table events (position bigint)": temporary,
            "create temporary view current_users as select 1": temporary,
            "create temporary sequence mine": temporary,
            "create function pg_temp.append_events() returns integer language sql as 'select 1'":
                temporary,
            "create role mine": "permission denied to create role",
            "create database mine": "permission denied to create database",
            "create tablespace mine location '/tmp'": "permission denied to create tablespace",
            "create publication mine for all tables": database,
            "create event trigger mine on ddl_command_start execute function "
            "suppress_redundant_updates_trigger()": "permission denied to create event trigger",
            "create cast (integer as point) without function": "must be",
            "create foreign data wrapper mine": "permission denied to create foreign-data wrapper",
    }.items():
        refused(session, statement, reason)


def test_nothing_of_others_is_changed(log, session):
    owner, function = "must be owner of function", "append_events"
    signature = log.value("select oid::regprocedure::text from pg_proc where proname = %s",
                          function)
    for statement, reason in {
            f"drop function {function}": owner,
            f"alter function {function} security definer": owner,
            f"alter function {function} owner to {SERVICE_ROLE}": owner,
            "alter function prepare_rebuild(text) set search_path = pg_temp": owner,
            f"alter function {signature} rename to mine": owner,
            "drop trigger log_head_is_never_updated on log_head": "must be owner of relation",
            "drop index events_pkey": "must be owner of index",
            "alter schema public owner to jejak_service": "must be owner of schema",
            "drop schema public cascade": "must be owner of schema",
            f"alter database {log.name} set search_path = mine": "must be owner of database",
            f"drop database {log.name}": "must be owner of database",
            "alter system set fsync = off": "permission denied to set parameter",
            f"alter role {log.owner} password 'mine'": "permission denied",
            f"alter role {SERVICE_ROLE} superuser": "superuser",
            f"alter role {SERVICE_ROLE} bypassrls": "superuser|permission denied to alter role",
            "alter default privileges for role postgres grant all on tables to public":
                "permission denied|must be member of role",
            "reassign owned by postgres to jejak_service": "permission denied|must be",
    }.items():
        refused(session, statement, reason)


def test_a_right_is_not_passed_on(log, session):
    """Who has a right without the option to grant it is warned, and nothing is granted."""
    before = log.rows("select relname, relacl::text from pg_class order by 1, 2")
    for statement in ("grant select, insert on events to public",
                      f"grant update on log_head to {log.owner}",
                      f"revoke insert on events from {SERVICE_ROLE}"):
        with contextlib.suppress(psycopg.errors.InsufficientPrivilege):
            session.execute(statement)
    assert log.rows("select relname, relacl::text from pg_class order by 1, 2") == before


def test_it_becomes_nobody_else(log, session):
    for role in (log.owner, "postgres", "pg_read_all_data", "pg_write_server_files"):
        refused(session, f"set role {role}", "permission denied to set role")
        refused(session, f"set session authorization {role}",
                "permission denied to set session authorization")
        refused(session, f"grant {role} to {SERVICE_ROLE}", "")
    refused(session, "set session_replication_role = replica", "permission denied to set")
    # What it came as is all that it can go back to, and that has no other rights.
    session.execute("reset role")
    assert session.execute("select current_user").fetchone()[0] == log.login
    refused(session, f"set role {log.owner}", "permission denied to set role")
    refused(session, "update events set type = 'Mine'", "permission denied for table events")
    refused(session, "create table mine (n integer)", "permission denied for schema public")


def test_secrets_of_others_are_not_read(log, session):
    for statement, reason in {
            "select rolpassword from pg_authid": "permission denied for table pg_authid",
            "select passwd from pg_shadow": "permission denied for view pg_shadow",
            "select stavalues1 from pg_statistic": "permission denied for table pg_statistic",
            "select umoptions from pg_user_mapping": "permission denied for table",
            "select * from pg_hba_file_rules": "permission denied",
            "select * from pg_file_settings": "permission denied",
            "select pg_read_file('postgresql.conf')": "permission denied",
            "select pg_read_binary_file('global/pg_control')": "permission denied",
            "select pg_ls_dir('.')": "permission denied",
            "select * from pg_ls_waldir()": "permission denied",
            "select lo_import('/etc/passwd')": "permission denied",
            "copy projections from '/etc/passwd'": "COPY from a file",
            "copy events to '/tmp/mine'": "COPY to a file",
            "copy events to program 'true'": "COPY to or from an external program",
            "copy rebuilds from program 'true'": "COPY to or from an external program",
            "select pg_create_physical_replication_slot('mine')": "replication",
            "select pg_create_logical_replication_slot('mine', 'pgoutput')": "replication",
            "select pg_reload_conf()": "permission denied",
            "select pg_switch_wal()": "permission denied",
            "load '$libdir/../mine'": "access to library",
    }.items():
        refused(session, statement, reason)
    with log.connect() as other:
        backend = other.execute("select pg_backend_pid(), 'a secret'").fetchone()[0]
        refused(session, f"select pg_terminate_backend({backend})", "")
        refused(session, f"select pg_cancel_backend({backend})", "")
        seen = session.execute("select query from pg_stat_activity where pid = %s",
                               [backend]).fetchone()[0]
        assert seen == "<insufficient privilege>"


def test_functions_of_the_owner_reach_the_tables_of_projections_alone(log, session):
    for table in sorted(set(RIGHTS) - {"current_users", *FOLLOWERS}) + [
            "events\"; drop table events; --", "directory_rebuild", "pg_class", ""]:
        name = table.replace("'", "''")
        for call in (f"prepare_rebuild('{name}')", f"index_rebuild('{name}')",
                     f"exchange_projection('{name}', 'previous', 0, 0, 1)",
                     f"drop_projection_table('{name}', 'previous')"):
            refused(session, f"select {call}", "there is no projection", "JJ003")
    refused(session, "select drop_projection_table('directory', '')", "no table of kind", "JJ003")
    refused(session, "select exchange_projection('directory', '', 0, 0, 1)", "no table of kind",
            "JJ003")
    refused(session, "select rename_projection_table('directory', '', 'previous')",
            "permission denied for function rename_projection_table")


def test_functions_of_the_owner_change_no_key_that_is_there(log, session):
    before = log.rows("select * from user_keys, sealing order by user_id")
    user = before[0][0]
    refused(session, f"select add_user_key('{user}', 1, 'mine')", "user_keys_pkey", "23505")
    refused(session, "select add_user_key(gen_random_uuid(), 77, 'mine')", "not in use", "JJ004")
    session.execute("select use_master_key(77, 'mine')")
    assert log.rows("select * from user_keys, sealing order by user_id") == before


def test_functions_of_the_owner_are_not_misled_by_temporary_objects(log, session):
    """Where the database allows temporary tables to everyone, as it does unless told otherwise."""
    log.rows(f"grant temporary on database {log.name} to {log.login}, {SERVICE_ROLE}")
    session.close()
    with contextlib.closing(log.service_session()) as session:
        for table in RIGHTS:
            session.execute(f"create temporary table {table} as select * from public.{table} "
                            "where false")
        session.execute("create temporary table directory_rebuild (mine integer)")
        session.execute("create function pg_temp.projection_table(text, text) returns text "
                        "language sql as $$ select 'events' $$")
        session.execute("select prepare_rebuild('directory')")
        session.execute("select index_rebuild('directory')")
        assert log.value("select count(*) from pg_attribute where attrelid = "
                         "'public.directory_rebuild'::regclass and attnum > 0") > 5
        assert log.value("select count(*) from pg_indexes where schemaname = 'public' "
                         "and tablename = 'directory_rebuild'") == 4
        session.execute("select drop_projection_table('directory', 'rebuild')")
        assert log.value("select to_regclass('public.directory_rebuild')") is None
        # The temporary one is there still, and the log is whole.
        assert session.execute("select count(*) from pg_temp.directory_rebuild").fetchone() == (0,)
        assert log.value("select count(*) from public.events") > 0
    log.rows(f"revoke temporary on database {log.name} from {log.login}, {SERVICE_ROLE}")


def test_what_the_service_needs_it_may(log):
    """Each command and each job of the service, by a login that has no rights but the role's."""
    with Service(log.login_url, arguments=["--no-migrate"]) as service:
        key = jejak("apikey", "create", "--name", "roles", "--scope",
                    "users:read,users:write,audit:read,events:read,projections:write",
                    url=log.owner_url)
        assert key.returncode == 0, key.stderr
        headers = {"Authorization": f"Bearer {key.stdout.strip()}"}
        person = signed_in(service, firstName="Ada")
        other = person.session()
        assert person.patch({"firstName": "Grace"}, key="a-key").status_code == 200
        assert person.patch({"firstName": "Grace"}, key="a-key").status_code == 200
        assert person.change_password(
            oldPassword=PASSWORD, newPassword=NEW_PASSWORD,
            confirmPassword=NEW_PASSWORD).status_code == 200
        assert other.get().status_code == 401
        assert person.session().request("DELETE", "/v1/sessions/current").status_code == 204
        assert len(person.history()) == 3
        assert person.sign_in("a wrong one").status_code == 401
        with http(service, headers=headers) as operator:
            assert operator.get(f"/v1/users/{person.id}").status_code == 200
            reverted = operator.post(f"/v1/users/{person.id}/history/2/revert")
            assert reverted.status_code == 200, reverted.text
            gone = signed_in(service)
            answer = gone.request("DELETE", "/v1/users/me", json={"password": PASSWORD})
            assert answer.status_code in (200, 204), answer.text
            gone = signed_in(service)
            assert operator.delete(f"/v1/users/{gone.id}").status_code in (200, 204)
            until("the notary has signed all", lambda: log.value(
                "select max(size) = (select max(position) from events) from checkpoints"))
            for path in ("/v1/users", "/v1/audit", "/v1/statistics", "/v1/projections"):
                assert operator.get(path).status_code == 200, path
            wait_caught_up(log)
            for name in ("current_users", *FOLLOWERS):
                rebuild_and_back(operator, name)
        assert '"level":"error"' not in service.stderr(), service.stderr()
    verified = jejak("verify", url=log.owner_url)
    assert verified.returncode == 0, verified.stdout


def rebuild_and_back(operator, name):
    answer = operator.post(f"/v1/projections/{name}/rebuilds", json={})
    assert answer.status_code == 202, answer.text
    location = answer.headers["location"]

    def ended():
        rebuild = operator.get(location).json()
        at_rest = rebuild["state"] in ("done", "failed", "differs") and not rebuild["isRunning"]
        return rebuild if at_rest else None

    rebuild = until(f"the rebuild of {name} has ended", ended)
    assert rebuild["state"] == "done", rebuild
    # The thread that has ended lets go of the projection a moment later.
    until(f"{name} is rolled back",
          lambda: operator.post(f"/v1/projections/{name}/rollback").status_code == 200)


def test_the_embedded_database_lets_the_service_in_as_that_role():
    directory = processes.short_directory()
    with Service(env={"JEJAK_DATA_DIR": directory / "data"}) as service:
        signed_in(service)
        url = jejak("database-url", env=service.env).stdout.strip()
        with psycopg.connect(url.replace("jejak@", f"{SERVICE_ROLE}@"), autocommit=True) as session:
            assert session.execute("select session_user, current_user").fetchone() == (
                SERVICE_ROLE, SERVICE_ROLE)
            refused(session, "set role jejak", "permission denied to set role")
            refused(session, "set role postgres", "permission denied to set role")
            refused(session, "delete from events", "permission denied for table events")
            refused(session, "create table mine (n integer)", "permission denied for schema public")
            refused(session, "create temporary table events (n integer)",
                    "permission denied to create temporary tables")
        with psycopg.connect(url, autocommit=True) as owner:
            assert owner.execute("select count(*) from pg_stat_activity where usename = %s "
                                 "and application_name = 'jejak'", [SERVICE_ROLE]).fetchone()[0] > 0
