"""Keys of operators: made and revoked on the command line, checked by every request."""

import json
import re

import pytest
from support.client import http, problem, signed_in
from support.service import jejak
from support.wait import until

KEY = re.compile(r"jjk_[A-Za-z0-9_-]{43}")
NO_ONE = "jjk_" + "A" * 43


@pytest.fixture
def operate(service, person):
    """Asks for `person` with a key, and gives the answer."""
    def ask(key, scheme="Bearer", path=None):
        with http(service) as client:
            return client.get(path or f"/v1/users/{person.id}",
                              headers={"Authorization": f"{scheme} {key}"})
    return ask


def listed(service):
    """What `apikey list` tells, by id."""
    result = jejak("apikey", "list", "--json", url=service.database_url)
    assert result.returncode == 0, result.stderr
    return {key["id"]: key for key in json.loads(result.stdout)}


def create(service, *arguments):
    """What `apikey create --json` tells."""
    result = jejak("apikey", "create", *arguments, "--json", url=service.database_url)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_a_key_is_printed_once_and_kept_as_a_hash(service, database, operate, person):
    result = jejak("apikey", "create", "--name", "console of Ada", "--scope", "users:read",
                   "--scope", "audit:read,events:read", url=service.database_url)
    assert result.returncode == 0
    key = result.stdout.removesuffix("\n")
    assert KEY.fullmatch(key)
    identity = re.search(r"[0-9a-f-]{36}", result.stderr).group()
    assert key not in result.stderr
    answer = operate(key)
    assert answer.status_code == 200, answer.text
    assert answer.json() == person.get().json()
    assert answer.headers["etag"] == person.get().headers["etag"]
    dump = str(database.rows("select k::text, encode(secret_sha256, 'escape') from api_keys k"))
    assert identity in dump
    assert key not in dump and key.removeprefix("jjk_") not in dump
    told = listed(service)[identity]
    assert (told["name"], told["state"], told["expiresAt"]) == ("console of Ada", "active", None)
    assert told["scopes"] == ["users:read", "audit:read", "events:read"]
    table = jejak("apikey", "list", url=service.database_url)
    assert identity in table.stdout and "console of Ada" in table.stdout
    assert not KEY.search(table.stdout + json.dumps(listed(service)))
    assert key not in service.stderr(tail=1_000_000)


def test_use_is_noted_at_most_once_a_minute(service, database, operate):
    made = create(service, "--name", "used", "--scope", "users:read")
    assert made["lastUsedAt"] is None
    assert operate(made["key"]).status_code == 200
    until("its use is noted", lambda: listed(service)[made["id"]]["lastUsedAt"])
    noted = "select last_used_at, xmin::text from api_keys where key_id = %s"
    before = database.rows(noted, made["id"])
    for _ in range(20):
        assert operate(made["key"]).status_code == 200
    assert database.rows(noted, made["id"]) == before
    database.rows("update api_keys set last_used_at = now() - interval '61 seconds' "
                     "where key_id = %s returning 1", made["id"])
    aged = database.rows(noted, made["id"])
    assert operate(made["key"]).status_code == 200
    until("the next use is noted", lambda: database.rows(noted, made["id"]) != aged)


def test_a_revoked_key_is_refused_at_once(service, operate):
    made = create(service, "--name", "leaked", "--scope", "users:read")
    assert operate(made["key"]).status_code == 200
    first = jejak("apikey", "revoke", made["id"], url=service.database_url)
    assert (first.returncode, first.stdout) == (0, "") and "is revoked" in first.stderr
    refused(operate(made["key"]), presented=True)
    revoked = listed(service)[made["id"]]
    assert revoked["state"] == "revoked"
    again = jejak("apikey", "revoke", made["id"], url=service.database_url)
    assert again.returncode == 0 and "before" in again.stderr
    assert listed(service)[made["id"]]["revokedAt"] == revoked["revokedAt"]
    told = jejak("apikey", "revoke", made["id"], "--json", url=service.database_url)
    assert (told.returncode, told.stderr) == (0, "")
    assert json.loads(told.stdout) == revoked


def test_an_expired_key_is_refused(service, database, operate):
    made = create(service, "--name", "short", "--scope", "users:read", "--expires", "90d")
    assert made["expiresAt"] > made["createdAt"]
    assert operate(made["key"]).status_code == 200
    database.rows(
        "update api_keys set expires_at = now() where key_id = %s returning 1", made["id"])
    refused(operate(made["key"]), presented=True)
    assert listed(service)[made["id"]]["state"] == "expired"


@pytest.mark.parametrize(("text", "instant"), [
    ("2199-12-31", "2199-12-31T00:00:00.000000Z"),
    ("2199-12-31T10:00:00+02:00", "2199-12-31T08:00:00.000000Z")])
def test_a_key_ends_on_a_day(service, operate, text, instant):
    made = create(service, "--name", "day", "--scope", "users:read", "--expires", text)
    assert made["expiresAt"] == instant
    assert operate(made["key"]).status_code == 200


@pytest.mark.parametrize("scope", ["users:read", "users:write"])
def test_writing_implies_reading(service, operate, scope):
    assert operate(service.api_key(scope)).status_code == 200
    assert operate(service.api_key("events:read", scope)).status_code == 200


@pytest.mark.parametrize("scope", [
    "audit:read", "events:read", "projections:read", "projections:write"])
def test_another_scope_is_not_enough(service, operate, scope):
    answer = operate(service.api_key(scope))
    body = problem(answer, 403, "insufficient-scope")
    assert body["scope"] == "users:read" and "users:read" in body["detail"]
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    assert 'scope="users:read"' in answer.headers["www-authenticate"]


def refused(answer, presented):
    body = problem(answer, 401, "authentication-required")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert ("invalid_token" in answer.headers["www-authenticate"]) == presented
    return body


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR", "Bearer  "])
def test_the_scheme_is_taken_in_any_case(service, operate, scheme):
    assert operate(service.api_key("users:read"), scheme).status_code == 200


@pytest.mark.parametrize("key", [NO_ONE, "jjk_", NO_ONE[:-1], NO_ONE + "A", "jjk_" + "=" * 43])
def test_a_key_that_nobody_holds_is_refused(operate, key):
    body = refused(operate(key), presented=True)
    assert key not in json.dumps(body)


def test_a_key_is_cut_off_nowhere(service, operate):
    key = service.api_key("users:read")
    last = "A" if key[-2] != "A" else "E"
    for other in (key[:-2] + last + key[-1], key.upper(), key.replace("jjk_", "jjs_")):
        refused(operate(other), presented=True)


@pytest.mark.parametrize(("method", "path"), [
    ("GET", "/v1/users/me"), ("PATCH", "/v1/users/me"), ("DELETE", "/v1/users/me"),
    ("GET", "/v1/users/me/export"), ("GET", "/v1/users/me/history"),
    ("POST", "/v1/users/me/password"), ("GET", "/v1/sessions"), ("DELETE", "/v1/sessions/current"),
    ("DELETE", "/v1/sessions?except=current")])
def test_a_users_route_takes_no_key(service, method, path):
    for key in (service.api_key("users:write"), NO_ONE):
        with http(service) as client:
            options = {"json": {}} if method in ("PATCH", "POST") else {}
            answer = client.request(method, path, headers={"Authorization": f"Bearer {key}"},
                                    **options)
        body = problem(answer, 403, "forbidden")
        assert "session" in body["detail"]


def test_a_user_finds_nobody_else(service, person):
    other = signed_in(service)
    problem(person.get(f"/v1/users/{other.id}"), 404, "not-found")
    assert person.get(f"/v1/users/{person.id}").status_code == 200


def test_an_operator_finds_nobody_where_nobody_is(service, operate):
    answer = operate(service.api_key("users:read"),
                     path="/v1/users/00000000-0000-7000-8000-000000000000")
    problem(answer, 404, "not-found")


def test_an_operators_view_can_be_asked_again(service, person):
    headers = {"Authorization": f"Bearer {service.api_key('users:read')}"}
    with http(service, headers=headers) as client:
        etag = client.get(f"/v1/users/{person.id}").headers["etag"]
        assert client.get(f"/v1/users/{person.id}",
                          headers={"If-None-Match": etag}).status_code == 304
        assert client.head(f"/v1/users/{person.id}").status_code == 200


NAMED = ["create", "--name", "x"]


@pytest.mark.parametrize(("arguments", "said"), [
    ([], "apikey"), (["nonsense"], "nonsense"), (["create"], "--name"),
    (["create", "--scope", "users:read"], "--name"),
    (["create", "--name", "", "--scope", "users:read"], "--name"),
    (["create", "--name", "n" * 101, "--scope", "users:read"], "--name"),
    (["create", "--name", "a\x1b[31m", "--scope", "users:read"], "--name"),
    (NAMED, "users:read"), ([*NAMED, "--scope", ""], "users:read"),
    ([*NAMED, "--scope", "users:all"], "projections:write"),
    ([*NAMED, "--scope", "users:read,"], "projections:write"),
    ([*NAMED, "--scope", "users:read", "--expires", "soon"], "--expires"),
    ([*NAMED, "--scope", "users:read", "--expires", "0d"], "--expires"),
    ([*NAMED, "--scope", "users:read", "--expires", "99999999d"], "--expires"),
    ([*NAMED, "--scope", "users:read", "--expires", "2020-01-01"], "over"),
    ([*NAMED, "--scope", "users:read", "--expires", "2027-02-30"], "--expires"),
    ([*NAMED, "more", "--scope", "users:read"], "operand"),
    (["list", "--scope", "users:read"], "--scope"), (["list", "x"], "operand"),
    (["revoke"], "ID"), (["revoke", "x"], "'x'")])
def test_wrong_usage_is_told(database, arguments, said):
    result = jejak("apikey", *arguments, url=database.url)
    assert (result.returncode, result.stdout) == (2, ""), result
    assert said in result.stderr


def test_a_key_that_is_not_there_cannot_be_revoked(service):
    result = jejak("apikey", "revoke", "00000000-0000-7000-8000-000000000000",
                   url=service.database_url)
    assert (result.returncode, result.stdout) == (1, "")
    assert "there is no API key" in result.stderr


def test_the_service_can_neither_make_nor_change_keys(service, database):
    service.api_key("users:read")
    for forbidden in ("insert into api_keys (key_id, name, secret_sha256, scopes) "
                      "values (gen_random_uuid(), 'x', '', '{}')",
                      "update api_keys set scopes = '{users:write}'",
                      "update api_keys set revoked_at = null", "delete from api_keys"):
        with database.connect() as connection:
            connection.execute("set role jejak_service")
            with pytest.raises(Exception, match="permission denied"):
                connection.execute(forbidden)
