"""What operators ask: lists and searches of users, and the statistics of days."""

import re
import secrets
import unicodedata

import pytest
from support.client import Person, http, new_email, problem, signed_in
from support.service import jejak
from support.threads import Background
from support.wait import until

PEOPLE = {
    "José": ("José", "Müller-Lüdenscheidt"),
    "Ångström": ("Anders", "Ångström"),
    "İstanbul": ("İstanbul", None),
    "straße": ("Hauptstraße", "ẞ"),
    "Łukasz": ("Łukasz", "Đorđević"),
    "O’Neil": ("Anne-Marie", "O’Neil"),
    "NFD": ("Zoe\u0308", "Nguye\u0302\u0303n"),
    "山田": ("太郎", "山田"),
}


@pytest.fixture(scope="module")
def operator(service):
    with http(service) as client:
        client.headers["Authorization"] = f"Bearer {service.api_key('users:read')}"
        yield client


@pytest.fixture(scope="module")
def mark():
    """A word that only the people of this module have in their addresses."""
    return f"m{secrets.token_hex(4)}"


@pytest.fixture(scope="module")
def people(service, operator, mark):
    found = {}
    for label, (first, last) in PEOPLE.items():
        person = Person(service, f"{mark}.{len(found)}+News@Mail.Example.org",
                        firstName=first, lastName=last)
        assert person.register().status_code == 201
        found[label] = person
    until("the directory has everyone", lambda: len(ids(operator, q=mark)) == len(found))
    return found


def pages(operator, **query):
    """All pages of the list, each as its items."""
    cursor = None
    while True:
        response = operator.get("/v1/users", params={**query, "cursor": cursor} if cursor
                                else query)
        assert response.status_code == 200, response.text
        yield response.json()["items"]
        cursor = response.json()["next"]
        if cursor is None:
            return


def ids(operator, **query):
    return [user["id"] for page in pages(operator, **query) for user in page]


@pytest.mark.parametrize(("query", "label"), [
    ("jose", "José"), ("JOSÉ", "José"), ("Jose\u0301", "José"), ("muller", "José"),
    ("ludensch", "José"), ("müller-lü", "José"), ("mullerludenscheidt", "José"),
    ("angstrom", "Ångström"), ("\u212bngstro\u0308m", "Ångström"), ("ANGSTRÖM", "Ångström"),
    ("istanbul", "İstanbul"), ("ISTANBUL", "İstanbul"), ("ıstanbul", "İstanbul"),
    ("hauptstrasse", "straße"), ("HAUPTSTRASSE ss", "straße"), ("hauptstraß", "straße"),
    ("lukasz", "Łukasz"), ("ŁUKASZ dordevic", "Łukasz"), ("đor", "Łukasz"),
    ("o'neil", "O’Neil"), ("O’NEIL", "O’Neil"), ("oneil", "O’Neil"), ("neil anne", "O’Neil"),
    ("marie", "O’Neil"), ("annemarie", "O’Neil"),
    ("zoë", "NFD"), ("zoe nguyen", "NFD"), ("Nguyễn", "NFD"),
    ("太", "山田"), ("山田 太郎", "山田"),
])
def test_d1_a_search_knows_neither_case_nor_accents(operator, people, mark, query, label):
    assert ids(operator, q=f"{query} {mark}") == [people[label].id]
    decomposed = unicodedata.normalize("NFD", query)
    assert ids(operator, q=f"{mark} {decomposed}") == [people[label].id]


def test_a_search_knows_the_parts_of_an_address(operator, people, mark):
    everyone = [person.id for person in people.values()]
    for query in [mark, f"{mark}.", f"{mark} news", f"{mark} mail.example", f"{mark} org exam"]:
        assert sorted(ids(operator, q=query)) == sorted(everyone), query
    third = people["İstanbul"]
    assert ids(operator, q=f"{mark}.2") == [third.id]
    assert ids(operator, q=f"{mark}.2+news@mail") == [third.id]
    assert ids(operator, q=third.email.upper()) == [third.id]
    for query in ["ews", f"{mark} ail", "nobody-has-this", f"{mark} jose lukasz"]:
        assert ids(operator, q=f"{mark} {query}") == []


@pytest.mark.parametrize("query", [
    "'", "\\", ":*", "a:*", "& | !", "( <-> )", "''' OR 1=1", "%", "_", "\u0001", "-", "ada' & 'b",
])
def test_signs_of_a_search_have_no_meaning(operator, people, mark, query):
    response = operator.get("/v1/users", params={"q": f"{mark} {query}"})
    assert response.status_code == 200, response.text


def test_an_address_is_found_at_once_and_alone(operator, service, people):
    person = signed_in(service, firstName="Grace")
    for email in [person.email, person.email.upper()]:
        response = operator.get("/v1/users", params={"email": email})
        assert response.json()["items"] == [person.get().json()]
        assert response.json()["next"] is None
    assert ids(operator, email=person.email, q="gra", status="active") == [person.id]
    assert ids(operator, email=person.email, q="ada") == []
    assert ids(operator, email=person.email, status="suspended") == []
    assert ids(operator, email=new_email()) == []


def test_what_is_shown_is_current_and_the_directory_follows(operator, service):
    mark = secrets.token_hex(6)
    person = signed_in(service, firstName="Before", email=f"{mark}x@example.net")
    until("the directory has them", lambda: ids(operator, q=f"{mark}x before"))
    assert person.patch({"firstName": "After", "attributes": {"height": 170}}).status_code == 200
    shown = [page for page in pages(operator, q=f"{mark}x")][0]
    assert shown == [person.get().json()]
    until("the new name is found", lambda: ids(operator, q=f"{mark}x after") == [person.id])
    assert ids(operator, q=f"{mark}x before") == []
    assert person.patch({"firstName": None}).status_code == 200
    until("no name is found", lambda: ids(operator, q=f"{mark}x after") == [])
    assert ids(operator, q=f"{mark}x", status="active") == [person.id]
    assert ids(operator, q=f"{mark}x", status="suspended") == []


def test_pages_follow_one_another_in_both_orders(operator, people, mark):
    expected = [person.id for person in people.values()]
    assert ids(operator, q=mark, order="asc", limit=3) == expected
    assert ids(operator, q=mark, limit=1) == expected[::-1]
    first = operator.get("/v1/users", params={"q": mark, "limit": 3})
    link = re.fullmatch(r'<([^>]+)>; rel="next"', first.headers["link"]).group(1)
    assert [user["id"] for user in operator.get(link).json()["items"]] == expected[::-1][3:6]
    assert first.headers["cache-control"] == "private, no-cache"
    head = operator.head("/v1/users", params={"q": mark})
    assert (head.status_code, head.content) == (200, b"")


def test_lists_go_on_when_the_directory_is_rebuilt(service, operator, people, mark):
    before = ids(operator, q=mark, limit=3)
    for _ in range(2):
        result = jejak("projection", "rebuild", "directory", url=service.database_url)
        assert result.returncode == 0, result.stderr
        assert ids(operator, q=mark, limit=3) == before
    person = Person(service, f"later{mark}@example.org")
    assert person.register().status_code == 201
    until("the directory follows on", lambda: ids(operator, q=f"later{mark}") == [person.id])


def test_h13_a_list_repeats_and_skips_nobody_while_others_register(service, operator):
    before, after = [], []
    registered = before

    def register():
        person = Person(service)
        assert person.register().status_code == 201
        registered.append(person.id)

    for _ in range(6):
        register()
    until("the directory has them", lambda: set(before) <= set(ids(operator, limit=200)))
    registered = after
    with Background(register):
        for order in ["asc", "desc"]:
            seen = ids(operator, order=order, limit=2)
            assert len(seen) == len(set(seen))
            assert set(before) <= set(seen)
            until("somebody registered meanwhile", lambda: after)
        seen, cursor = [], None
        # On and on, from the first to those who register meanwhile.
        while len(set(seen) & set(after)) < 3 or cursor is not None:
            query = {"order": "asc", "limit": 2} | ({"cursor": cursor} if cursor else {})
            page = operator.get("/v1/users", params=query).json()
            if cursor is None:
                seen = []
            seen += [user["id"] for user in page["items"]]
            cursor = page["next"]
        assert len(seen) == len(set(seen))
    until("the directory has everyone",
          lambda: set(before + after) <= set(ids(operator, limit=200)))
    in_order = ids(operator, order="asc", limit=200)
    assert seen == in_order[:len(seen)]
    assert [user for user in in_order if user in set(before + after)] == before + after


@pytest.mark.parametrize(("query", "named"), [
    ("q=", "'q'"), ("q=%20%09", "'q'"), ("q=%00", "'q'"), ("q=%CC%81", "'q'"),
    ("q=" + "a" * 201, "200"), ("q=" + "%20".join("abcdefghi"), "8 words"),
    ("email=", "'email'"), ("email=ada", "'email'"), ("email=a@b@c.d", "'email'"),
    ("status=erased", "'status'"), ("status=", "'status'"), ("order=up", "'order'"),
    ("limit=0", "'limit'"), ("limit=201", "'limit'"), ("limit=x", "'limit'"),
    ("cursor=abc", "'cursor'"), ("name=ada", "'name'"), ("q=a&q=b", "'q'"), ("q=%FF", "query"),
])
def test_a_bad_parameter_is_named(operator, query, named):
    assert named in problem(operator.get(f"/v1/users?{query}"), 400, "malformed-request")["detail"]


def test_a_cursor_is_good_for_its_own_list_alone(operator, people, mark):
    cursor = operator.get("/v1/users", params={"q": mark, "limit": 2}).json()["next"]
    for other in [{}, {"q": mark + "x"}, {"q": mark, "status": "active"},
                  {"q": mark, "order": "asc"}]:
        response = operator.get("/v1/users", params={**other, "cursor": cursor})
        assert "'cursor'" in problem(response, 400, "malformed-request")["detail"]
    again = operator.get("/v1/users", params={"q": f" {mark.upper()} ", "cursor": cursor})
    assert again.status_code == 200
    sessions = signed_in_cursor(operator, people)
    problem(operator.get("/v1/users", params={"cursor": sessions}), 400, "malformed-request")


def signed_in_cursor(operator, people):
    """A cursor of another list."""
    person = next(iter(people.values()))
    for _ in range(2):
        assert person.sign_in().status_code == 201
    return person.get("/v1/sessions", params={"limit": 1}).json()["next"]


@pytest.mark.parametrize("path", ["/v1/users", "/v1/statistics"])
def test_only_keys_with_the_scope_may_ask(service, path):
    person = signed_in(service)
    problem(person.get(path), 403, "forbidden")
    with http(service) as client:
        problem(client.get(path), 401, "authentication-required")

        def ask(key):
            return client.get(path, headers={"Authorization": f"Bearer {key}"})
        assert ask(service.api_key("users:write")).status_code == 200
        body = problem(ask(service.api_key("audit:read")), 403, "insufficient-scope")
        assert "users:read" in body["detail"]


def test_statistics_count_what_happened_today(service, operator, database):
    person = signed_in(service)
    assert person.patch({"firstName": "Ada"}).status_code == 200
    assert person.sign_in(password="no, that is not it").status_code == 401

    def told():
        response = operator.get("/v1/statistics")
        assert response.status_code == 200, response.text
        return {item["day"]: item for item in response.json()["items"]}

    def counted():
        names = ("events", "registrations", "updates", "signIns", "failedSignIns")
        rest = {"emailChanges": 0, "passwordChanges": 0, "suspensions": 0, "erasures": 0}
        return {row[0]: {"day": row[0], **dict(zip(names, row[1:], strict=True)), **rest}
                for row in database.rows(
            """select (recorded_at at time zone 'UTC')::date::text, count(*),
                      count(*) filter (where type = 'UserRegistered'),
                      count(*) filter (where type = 'ProfileUpdated'),
                      count(*) filter (where type = 'SignedIn'),
                      count(*) filter (where type = 'SignInFailed') from events group by 1""")}
    # A failed sign-in is recorded after its answer.
    until("the log has it all", lambda: counted()[max(counted())]["failedSignIns"] == 1)
    until("the statistics are those of the log", lambda: told() == counted())
    items = list(told().values())
    today = items[-1]["day"]
    assert operator.get("/v1/statistics", params={"since": today, "until": today}).json()[
        "items"] == items[-1:]
    long_ago = {"since": "1999-01-01", "until": "1999-12-31"}
    assert operator.get("/v1/statistics", params=long_ago).json() == {"items": []}


@pytest.mark.parametrize(("query", "named"), [
    ("since=yesterday", "'since'"), ("until=2026-02-30", "'until'"), ("since=", "'since'"),
    ("since=2026-01-02&until=2026-01-01", "'since'"),
    ("since=2024-01-01&until=2026-01-01", "366"), ("until=0001-01-01", None),
    ("since=9999-12-31", "'since' is a day that is yet to come"), ("day=2026-01-01", "'day'"),
])
def test_a_bad_day_is_named(operator, query, named):
    response = operator.get(f"/v1/statistics?{query}")
    if named is None:
        assert (response.status_code, response.json()) == (200, {"items": []})
    else:
        assert named in problem(response, 400, "malformed-request")["detail"]
