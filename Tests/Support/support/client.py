"""People who use the service: a thin client over httpx, one person per account."""

import itertools
import json
import secrets
from decimal import Decimal

import httpx

PASSWORD = "correct horse battery staple"
NEW_PASSWORD = "seven silent rivers run north"
OTHER_PASSWORD = "a lantern over the quiet bay"
COMMON_PASSWORD = "passwordpassword"
MERGE_PATCH = "application/merge-patch+json"
_numbers = itertools.count(1)


def new_email(label="person"):
    """An address that no other test uses."""
    return f"{label}-{next(_numbers)}-{secrets.token_hex(4)}@example.org"


def exact(response):
    """The JSON of a response with its numbers kept exact."""
    return json.loads(response.content, parse_float=Decimal)


def http(service, **options):
    """An httpx client for the service that never follows and never retries."""
    options.setdefault("timeout", 60)
    options.setdefault("verify", False)  # plain HTTP; loading authorities costs time
    return httpx.Client(base_url=service.base_url, **options)


def problem(response, status, code):
    """Checks that a response is this RFC 9457 problem, complete, and gives its JSON."""
    assert response.status_code == status, (response.status_code, response.text[:500])
    assert response.headers["content-type"].split(";")[0] == "application/problem+json"
    body = response.json()
    assert body["status"] == status
    assert body["title"] and isinstance(body["title"], str)
    codes = {code} if isinstance(code, str) else set(code)
    assert body["code"] in codes, body
    assert body["type"] == f"urn:jejak:problem:{body['code']}"
    assert response.headers["x-request-id"]
    return body


def field_errors(body):
    """The field errors of a problem as a dictionary from pointer to code."""
    return {error["pointer"]: error["code"] for error in body.get("errors", [])}


class Person:
    """Somebody with an account and, once signed in, a session."""

    def __init__(self, service, email=None, password=PASSWORD, **fields):
        self.service, self.email = service, email or new_email()
        self.password, self.fields = password, fields
        self.http = http(service)
        self.id = self.token = self.etag = None

    def register(self, **options):
        body = {"email": self.email, "password": self.password, **self.fields}
        response = self.http.post("/v1/users", json=body, **options)
        if response.status_code == 201:
            self.id, self.etag = response.json()["id"], response.headers["etag"]
        return response

    def sign_in(self, password=None, **options):
        body = {"email": self.email, "password": password or self.password}
        response = self.http.post("/v1/sessions", json=body, **options)
        if response.status_code == 201:
            self.token, self.id = response.json()["token"], response.json()["user"]["id"]
        return response

    def session(self):
        """The same person on another device: a fresh session of the same account."""
        other = Person(self.service, self.email, self.password)
        response = other.sign_in()
        assert response.status_code == 201, response.text
        return other

    def request(self, method, path, headers=None, **options):
        base = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return self.http.request(method, path, headers={**base, **(headers or {})}, **options)

    def get(self, path="/v1/users/me", **options):
        return self.request("GET", path, **options)

    def patch(self, body, if_match=None, key=None, **headers):
        """A merge patch; `body` is a value, or text or bytes sent as they are."""
        extra = {"Content-Type": MERGE_PATCH, **headers}
        if if_match is not None:
            extra["If-Match"] = if_match
        if key is not None:
            extra["Idempotency-Key"] = key
        raw = isinstance(body, str | bytes)
        content = body if raw else json.dumps(body, ensure_ascii=False)
        if isinstance(content, str):
            content = content.encode()
        return self.request("PATCH", "/v1/users/me", headers=extra, content=content)

    def change_password(self, **body):
        """The password change with exactly these members; keeps the new token on success."""
        response = self.request("POST", "/v1/users/me/password", json=body)
        if response.status_code == 200:
            self.token, self.password = response.json()["token"], body["newPassword"]
        return response

    def history(self, **query):
        """All entries over all pages, in the order asked for."""
        entries, cursor = [], None
        query.setdefault("limit", 200)
        while True:
            page = {**query, "cursor": cursor} if cursor else query
            response = self.get("/v1/users/me/history", params=page)
            assert response.status_code == 200, response.text
            entries += exact(response)["items"]
            cursor = response.json()["next"]
            if cursor is None:
                return entries

    def sessions(self):
        """The ids of the sessions that are alive."""
        response = self.get("/v1/sessions", params={"limit": 200})
        assert response.status_code == 200, response.text
        return {item["id"] for item in response.json()["items"]}


def signed_in(service, **fields):
    """A new person, registered and signed in."""
    person = Person(service, **fields)
    response = person.register()
    assert response.status_code == 201, response.text
    response = person.sign_in()
    assert response.status_code == 201, response.text
    return person
