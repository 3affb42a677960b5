"""HTTP as a stranger speaks it: every answer is well-formed, and the service lives on."""

import json
import time

import pytest
from support.client import MERGE_PATCH, field_errors, new_email, problem
from support.raw import Closed, Connection, once, request

JSON = "application/json"
# Seconds after which the service closes a connection without traffic.
IDLE_LIMIT = 60
GETS = ["/v1/users/me", "/v1/sessions", "/v1/users/me/history", "/livez", "/readyz"]
ALLOWED = {
    "/v1/users": {"GET", "HEAD", "POST"},
    "/v1/sessions": {"GET", "HEAD", "POST", "DELETE"},
    "/v1/sessions/current": {"DELETE"}, "/v1/users/me": {"GET", "HEAD", "PATCH", "DELETE"},
    "/v1/users/me/export": {"GET", "HEAD"},
    "/v1/users/me/password": {"POST"}, "/v1/users/me/history": {"GET", "HEAD"},
    "/livez": {"GET", "HEAD"}, "/readyz": {"GET", "HEAD"}}


def is_problem(answer, status, code):
    assert answer.status_code == status, (answer.status_code, answer.text[:300])
    assert answer.headers["content-type"].split(";")[0] == "application/problem+json"
    body = answer.json()
    assert (body["status"], body["code"]) == (status, code), body
    assert answer.headers["x-request-id"]


@pytest.mark.parametrize("path", ["/", "/v1", "/v2/users/me", "/v1/users/me/", "/v1/Users/me",
                                  "/v1/users/me/nothing", "//v1/users/me", "/v1/users/%6de/x",
                                  "/v1/../v1/users/none/here", "/%00", "/%zz", "/v1/users/me%2f"])
def test_what_is_not_there(service, person, path):
    answer = once(service, request("GET", path, token=person.token))
    assert answer.status_code in (400, 404), answer.text
    is_problem(answer, answer.status_code,
               "not-found" if answer.status_code == 404 else "malformed-request")


@pytest.mark.parametrize("path", sorted(ALLOWED))
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"])
def test_a_method_that_a_resource_does_not_have(service, path, method):
    if method in ALLOWED[path]:
        answer = once(service, request("OPTIONS", path))
        assert answer.status_code == 204
    else:
        answer = once(service, request(method, path))
        is_problem(answer, 405, "method-not-allowed")
    allow = {name.strip() for name in answer.headers["allow"].split(",")}
    assert ALLOWED[path] <= allow <= ALLOWED[path] | {"OPTIONS"}


@pytest.mark.parametrize("path", GETS)
def test_head_has_no_body(service, person, path):
    with Connection(service.address) as connection:
        answer = connection.ask(request("HEAD", path, token=person.token), head_only=True)
        assert answer.status_code == 200
        assert connection.ask(request("GET", path, token=person.token)).status_code == 200


@pytest.mark.parametrize("path, method", [
    ("/v1/users/me", "GET"), ("/v1/users/me", "PATCH"), ("/v1/users/me", "DELETE"),
    ("/v1/users/me/export", "GET"), ("/v1/sessions", "GET"),
    ("/v1/sessions/current", "DELETE"), ("/v1/users/me/history", "GET"),
    ("/v1/users/me/password", "POST"), ("/v1/sessions?except=current", "DELETE")])
def test_who_is_not_signed_in(anyone, path, method):
    answer = anyone.request(method, path, json={} if method in ("PATCH", "POST") else None)
    problem(answer, 401, "authentication-required")
    assert answer.headers["www-authenticate"].startswith('Bearer realm="jejak"')


@pytest.mark.parametrize("size, status", [(65_536, 422), (65_537, 413), (300_000, 413)])
def test_a_body_has_a_limit(person, size, status):
    frame = '{"firstName":""}'
    answer = person.patch(frame.replace('""', '"' + "x" * (size - len(frame)) + '"'))
    problem(answer, status, "body-too-large" if status == 413 else "validation-failed")


def test_a_body_in_chunks_has_the_same_limit(service, person):
    head = request("PATCH", "/v1/users/me", token=person.token, Content_Type=MERGE_PATCH,
                   Transfer_Encoding="chunked").replace(b"Content-Length: 0\r\n", b"")
    with Connection(service.address) as connection:
        try:
            connection.send(head)
            for _ in range(40):
                connection.send(b"1000\r\n" + b"x" * 4096 + b"\r\n")
            connection.send(b"0\r\n\r\n")
        except ConnectionError:
            pass
        is_problem(connection.receive(), 413, "body-too-large")


def test_a_promise_of_too_much_is_refused_before_it_comes(service, person):
    head = request("PATCH", "/v1/users/me", token=person.token, Content_Type=MERGE_PATCH,
                   Expect="100-continue").replace(b"Content-Length: 0", b"Content-Length: 99999999")
    with Connection(service.address) as connection:
        is_problem(connection.ask(head), 413, "body-too-large")


@pytest.mark.parametrize("length", [9_000, 20_000, 60_000])
def test_an_address_has_a_limit(service, length):
    with Connection(service.address) as connection:
        connection.send(request("GET", "/v1/users/me?x=" + "y" * length))
        answer = connection.receive()
    assert answer.status_code == 414, answer.text
    if length < 10_000:
        is_problem(answer, 414, "uri-too-long")


@pytest.mark.parametrize("count", [200, 250, 600, 2_000])
def test_many_query_parameters_are_answered(service, count):
    query = "&".join(["x=1"] * count)
    assert len(query) < 8_192
    with Connection(service.address) as connection:
        for _ in range(2):
            connection.send(request("GET", "/v1/users?" + query))
            is_problem(connection.receive(), 400, "malformed-request")


@pytest.mark.parametrize("count, length", [(1, 40_000), (4, 12_000), (2_000, 20)])
def test_headers_have_a_limit(service, count, length):
    headers = {f"X_H{number}": "y" * length for number in range(count)}
    with Connection(service.address) as connection:
        try:
            connection.send(request("GET", "/livez", **headers))
            answer = connection.receive()
        except (Closed, ConnectionError):
            pytest.fail("closed without an answer")
    assert answer.status_code in (413, 431), answer.text


@pytest.mark.parametrize("path", ["/v1/users", "/v1/sessions"])
@pytest.mark.parametrize("kind", [None, "text/plain", "multipart/form-data; boundary=x",
                                  "application/x-www-form-urlencoded"])
def test_a_post_is_json(service, path, kind):
    body = json.dumps({"email": new_email(), "password": "long enough to pass"}).encode()
    headers = {} if kind is None else {"Content_Type": kind}
    is_problem(once(service, request("POST", path, body, **headers)), 415,
               "unsupported-media-type")


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "limit=", "limit=-1",
                                   "limit=1.5", "cursor=nonsense", "order=up", "stream=none",
                                   "limit=99999999999999999999", "limit=1&limit=2"])
def test_a_query_that_cannot_be_read(person, query):
    problem(person.get(f"/v1/users/me/history?{query}"), 400, "malformed-request")


@pytest.mark.parametrize("given", ["abc", "A-1.b_2", "x" * 128])
def test_a_request_id_is_echoed_and_kept(person, given):
    answer = person.patch({"firstName": given[:20]}, **{"X-Request-Id": given})
    assert answer.headers["x-request-id"] == given
    assert person.history(limit=1)[0]["source"]["requestId"] == given


@pytest.mark.parametrize("given", ["x" * 129, "a b", "é".encode(), "", "a;b", "<x>"])
def test_a_bad_request_id_is_replaced(person, given):
    answer = person.get(headers={"X-Request-Id": given})
    assert answer.status_code == 200
    assert answer.headers["x-request-id"] and answer.headers["x-request-id"] != given


def test_request_ids_differ(anyone):
    ids = {anyone.get("/livez").headers["x-request-id"] for _ in range(50)}
    assert len(ids) == 50


def test_the_trace_is_kept_in_the_event(person):
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    person.patch({"firstName": "Grace"}, traceparent=f"00-{trace}-00f067aa0ba902b7-01")
    assert person.history(limit=1)[0]["source"]["traceId"] == trace


@pytest.mark.parametrize("trace", [
    "00-" + "0" * 32 + "-00f067aa0ba902b7-01", "nonsense",
    "ff-" + "a" * 32 + "-" + "b" * 16 + "-01",
    "00-" + "A" * 32 + "-" + "b" * 16 + "-01"])
def test_a_bad_trace_is_ignored(person, trace):
    assert person.patch({"firstName": "Grace"}, traceparent=trace).status_code == 200
    assert person.history(limit=1)[0]["source"].get("traceId") is None


def test_what_caches_may_keep(person, anyone):
    assert person.get().headers["cache-control"] == "private, no-cache"
    assert person.get(headers={"If-None-Match": '"1"'}).headers["cache-control"] == (
        "private, no-cache")
    answer = person.sign_in()
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"].split(";")[0] == JSON


def test_pipelined_requests_are_answered_in_order(service, person):
    paths = ["/livez", "/v1/users/me", "/v1/nothing", "/v1/users/me/history", "/readyz"] * 4
    with Connection(service.address) as connection:
        connection.send(b"".join(request("GET", path, token=person.token, X_Request_Id=f"r{n}")
                                 for n, path in enumerate(paths)))
        for number, path in enumerate(paths):
            answer = connection.receive()
            assert answer.headers["x-request-id"] == f"r{number}"
            assert answer.status_code == (404 if path == "/v1/nothing" else 200)


def test_pipelined_updates_happen_in_order(service, person):
    with Connection(service.address) as connection:
        connection.send(b"".join(request(
            "PATCH", "/v1/users/me", json.dumps({"firstName": f"n{n}"}).encode(), person.token,
            Content_Type=MERGE_PATCH) for n in range(10)))
        answers = [connection.receive().json() for _ in range(10)]
    assert [answer["firstName"] for answer in answers] == [f"n{n}" for n in range(10)]
    assert [answer["version"] for answer in answers] == list(range(2, 12))


def test_a_body_in_chunks(service, person):
    head = request("PATCH", "/v1/users/me", token=person.token, Content_Type=MERGE_PATCH,
                   Transfer_Encoding="chunked").replace(b"Content-Length: 0\r\n", b"")
    with Connection(service.address) as connection:
        connection.send(head + b'5\r\n{"fir\r\n')
        connection.send(b'b;ext=1\r\nstName":"Gr\r\n')
        answer = connection.ask(b'5\r\nace"}\r\n0\r\nX-Trailer: 1\r\n\r\n')
        assert answer.status_code == 200 and answer.json()["firstName"] == "Grace"
        assert connection.ask(request("GET", "/livez")).status_code == 200


def test_a_request_byte_by_byte(service, person):
    data = request("PATCH", "/v1/users/me", b'{"firstName":"Slow"}', person.token,
                   Content_Type=MERGE_PATCH)
    with Connection(service.address) as connection:
        for byte in data:
            connection.send(bytes([byte]))
        assert connection.receive().json()["firstName"] == "Slow"


@pytest.mark.parametrize("cut", [5, 60, -5])
def test_a_request_that_breaks_off(service, person, database, cut):
    before = person.get()
    data = request("PATCH", "/v1/users/me", b'{"firstName":"Broken"}', person.token,
                   Content_Type=MERGE_PATCH)
    with Connection(service.address) as connection:
        connection.send(data[:cut])
    assert once(service, request("GET", "/livez")).status_code == 200
    assert person.get().content == before.content


def test_a_slow_client_holds_up_nobody(service, person):
    slow = [Connection(service.address) for _ in range(50)]
    try:
        for connection in slow:
            connection.send(b"PATCH /v1/users/me HTTP/1.1\r\nHost: x\r\nContent-Len")
        for _ in range(20):
            assert once(service, request("GET", "/v1/users/me", token=person.token)
                        ).status_code == 200
    finally:
        for connection in slow:
            connection.close()


@pytest.mark.parametrize("data", [
    b"GET /livez HTTP/1.1\r\n\r\n", b"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET /livez HTTP/1.1\r\nHost : a\r\n\r\n", b"GET /livez\r\nHost: a\r\n\r\n",
    b"GET /livez HTTP/9.9\r\nHost: a\r\n\r\n", b"GET /livez HTTQ/1.1\r\nHost: a\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"\x00\x00\r\n\r\n",
    b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: rot13\r\n\r\n",
    b"GET /livez HTTP/1.1\r\nHost: a\r\nno colon here\r\n\r\n"])
def test_what_is_no_http_is_refused_or_cut_off(service, data):
    """Refused with a 4xx or 5xx about the version, or closed: never served as if it were right.

    Where it could be the blank lines before a request, that may take until the idle limit: the
    HTTP library doesn't see an end that came with the last bytes.
    """
    with Connection(service.address, IDLE_LIMIT + 15) as connection:
        connection.send(data)
        connection.socket.shutdown(1)
        try:
            answer = connection.receive()
        except Closed as closed:
            assert b"HTTP/1.1 200" not in closed.received
        else:
            lenient = data.startswith((b"GET /livez\r\n", b"GET /livez HTTP/1.1\r\nHost"))
            status = answer.status_code
            assert 400 <= status < 500 or status in (501, 505) or lenient, answer.text
    assert once(service, request("GET", "/livez")).status_code == 200


def test_a_request_without_host_is_refused(service):
    answer = once(service, b"GET /livez HTTP/1.1\r\n\r\n")
    is_problem(answer, 400, "malformed-request")
    assert answer.closes


@pytest.mark.parametrize("extra", [
    b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{\"a\":1"])
def test_two_lengths_smuggle_nothing(service, extra):
    hidden = b"GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n"
    with Connection(service.address) as connection:
        connection.send(b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json"
                        b"\r\n" + extra + hidden)
        connection.socket.shutdown(1)
        received = connection.ended()
    # One answer, and then the connection ends: what follows is nobody's request.
    assert received.startswith(b"HTTP/1.1 400 ") and received.count(b"HTTP/1.1 ") == 1
    assert b"malformed-request" in received and b"connection: close" in received.lower()


@pytest.mark.parametrize("data", [
    b"GET /livez\0/../x HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /v1/audit?limit=1\0&order=x HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /livez\0 HTTP/1.1\nHost: a\n\n",
    b"GET /livez HTTP/1.1\r\nHost: a\0b\r\n\r\n",
    b"GET /livez HTTP/1.1\nHost: a\0b\n\n",
    b"GET /livez HTTP/1.1\r\nAuthorization: Bearer a\0b\r\nHost: a\r\n\r\n",
    b"GET /livez HTTP/1.1\r\nHost: a\r\nX: \0\0y\r\nY: z\r\n\r\n",
    b"GET /livez HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\nY: z\r\n\r\n"])
def test_a_nul_cuts_nothing_off(service, data):
    """Nor is a folded line read as another one (RFC 9112 section 5.2)."""
    with Connection(service.address) as connection:
        connection.send(data)
        answer = connection.receive()
        is_problem(answer, 400, "malformed-request")
        assert answer.closes


@pytest.mark.parametrize("data", [
    b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /livez HTTP/1.1\nHost: a\n\n",
    b"GET /livez HTTP/1.1\r\nHost:a \t \r\nX:\r\nY: \r\nCookie: a=b; c=d\r\nZ: 1\r\n\r\n",
    b"GET /livez? HTTP/1.1\r\nX: y\r\nHost: a\r\nX: y\r\n\r\n",
    b"GET /livez?a=b&c HTTP/1.1\r\nCookie: x\r\nHost: a\r\n\r\n"])
def test_what_stands_between_headers_is_no_matter(service, data):
    with Connection(service.address) as connection:
        # Twice, since the second one lies elsewhere in the buffer.
        for _ in range(2):
            connection.send(data[:20])
            time.sleep(0.01)
            connection.send(data[20:])
            assert connection.receive().status_code == 200


def test_http_1_0_is_answered_and_closed(service):
    with Connection(service.address) as connection:
        connection.send(b"GET /livez HTTP/1.0\r\n\r\n")
        received = connection.ended()
    assert received.split(b" ")[1] == b"200"


def test_connection_close_is_kept(service):
    with Connection(service.address) as connection:
        answer = connection.ask(request("GET", "/livez", Connection="close"))
        assert answer.status_code == 200 and answer.closes
        assert connection.ended() == b""


def test_many_connections_come_and_go(service):
    for _ in range(200):
        assert once(service, request("GET", "/livez")).status_code == 200


def test_health_says_ok(anyone):
    for path in ("/livez", "/readyz"):
        answer = anyone.get(path)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_every_wrong_member_of_a_registration_is_named(anyone):
    answer = anyone.post("/v1/users", json={
        "email": "nobody", "password": "short", "firstName": 1, "attributes": {"weight": "x"}})
    errors = field_errors(problem(answer, 422, "validation-failed"))
    assert errors == {"/email": "invalid-email", "/password": "password-too-short",
                      "/firstName": "wrong-type", "/attributes/weight": "wrong-type"}


def test_two_hosts_are_refused(service):
    with Connection(service.address) as connection:
        answer = connection.ask(b"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
        is_problem(answer, 400, "malformed-request")
        assert answer.closes


def test_a_target_may_name_the_whole_address(service, person):
    host, port = service.address
    answer = once(service, request(
        "GET", f"http://{host}:{port}/v1/users/me", token=person.token))
    assert answer.status_code == 200, answer.text
    assert once(service, request("GET", f"http://{host}:{port}", token=person.token)
                ).status_code == 404


def test_the_location_of_a_new_user_is_theirs_alone(service, person):
    location = f"/v1/users/{person.id}"
    own = once(service, request("GET", location, token=person.token))
    assert own.status_code == 200 and own.json() == person.get().json()
    other = once(service, request(
        "GET", "/v1/users/0198f0c2-0000-7000-8000-000000000000", token=person.token))
    is_problem(other, 404, "not-found")
    is_problem(once(service, request("GET", location)), 401, "authentication-required")


def test_a_coded_body_is_refused(service, person):
    answer = once(service, request(
        "PATCH", "/v1/users/me", token=person.token, body=b"\x1f\x8b\x08\x00",
        Content_Type=MERGE_PATCH, Content_Encoding="gzip"))
    is_problem(answer, 415, "unsupported-media-type")
    assert answer.headers["accept-encoding"] == "identity"


def test_options_tells_what_patches_are_taken(service):
    answer = once(service, request("OPTIONS", "/v1/users/me"))
    assert answer.status_code == 204
    assert MERGE_PATCH in answer.headers["accept-patch"]
