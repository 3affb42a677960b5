"""People with strings that nobody else has, and what must be left of them, or not."""

import base64
import json
import secrets

from .client import PASSWORD, Person

# Where a row of a user can be, besides the log.
TABLES = ("user_keys", "credentials", "sessions", "email_claims", "command_receipts",
          "current_users", "directory")


class Marked(Person):
    """Somebody each of whose strings holds a mark of its own."""

    def __init__(self, service, has_motto=True):
        self.marks = {}
        motto = {"motto": f'"{self.mark("motto")}" \\ ß 🚀'} if has_motto else {}
        super().__init__(
            service, email=f"{self.mark('email')}@example.org",
            password=f"{PASSWORD} {self.mark('password')}",
            firstName=f"Zoë “{self.mark('first name')}”", lastName=f"O'{self.mark('last name')}",
            attributes=motto)
        self.agent = f"agent/{self.mark('agent')}"
        self.http.headers["user-agent"] = self.agent

    def mark(self, what):
        """A string that has never been anywhere before, in letters that every form of it keeps."""
        self.marks[what] = "qx" + secrets.token_hex(8)
        return self.marks[what]

    def live(self):
        """A life that leaves every kind of trace; all answers must be successes."""
        assert self.register(headers={"Idempotency-Key": self.mark("key")}).status_code == 201
        assert self.sign_in(headers={"Idempotency-Key": self.mark("key 2")}).status_code == 201
        self.marks["token"] = self.token.removeprefix("jjs_")
        for number in range(2):
            former = self.mark(f"former name {number}")
            assert self.patch({"firstName": former}, key=self.mark(f"key {3 + number}")
                              ).status_code == 200
        body = {"firstName": self.fields["firstName"], "attributes": self.fields["attributes"]}
        assert self.patch(body).status_code == 200
        new = f"{PASSWORD} {self.mark('new password')}"
        assert self.change_password(oldPassword=self.password, newPassword=new,
                                    confirmPassword=new).status_code == 200
        other = Person(self.service, self.email, self.password)
        other.http.headers["user-agent"] = f"agent/{self.mark('other agent')}"
        assert other.sign_in().status_code == 201
        return self

    @classmethod
    def plain(cls, service):
        """Somebody of a service with the usual attributes, who has lived."""
        return cls(service, has_motto=False).live()

    @property
    def present(self):
        """The marks that are part of the present profile and its sessions."""
        names = ("email", "first name", "last name", "motto", "agent", "other agent")
        return {name: self.marks[name] for name in names}


def encodings(text):
    """The bytes of a text in every form that a file or a dump could have it in."""
    plain = text.encode()
    forms = {plain, json.dumps(text)[1:-1].encode(), plain.hex().encode(),
             plain.hex().upper().encode(), text.upper().encode(), text.encode("utf-16-le")}
    # Base64 depends on the place; the middle of each of the three forms doesn't.
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + plain).rstrip(b"=")
        forms.add(encoded[(shift * 8 + 5) // 6:-1])
    return forms


def traces(marks, haystacks):
    """Which of the marks, a dictionary, are in which of the haystacks, by its name."""
    found = []
    for name, mark in marks.items():
        forms = encodings(mark)
        for place, data in haystacks.items():
            if any(form in data for form in forms):
                found.append((name, place))
    return found


def names_of(found):
    """The names of the marks that were found."""
    return {name for name, _ in found}


def held(database, user_id):
    """How many rows each table has of a user, where it has any."""
    counts = {table: database.value(f"select count(*) from {table} where user_id = %s", user_id)
              for table in TABLES}
    return {table: count for table, count in counts.items() if count}


def is_erased(database, user_id):
    """Whether a user is gone; fails where they are half gone."""
    events = database.rows(
        "select type, payload is null, position from events where user_id = %s order by position",
        user_id)
    listed = database.rows("select position from erasures where user_id = %s", user_id)
    if not listed:
        assert "UserErased" not in [row[0] for row in events]
        assert not any(row[1] for row in events), events
        assert {"credentials", "email_claims", "current_users"} <= held(database, user_id).keys()
        return False
    assert [row[0] for row in events].count("UserErased") == 1
    # It is the last of all that ever happened to them.
    assert events[-1][0] == "UserErased" and events[-1][2] == listed[0][0]
    assert all(row[1] for row in events), events
    assert held(database, user_id) == {}
    return True


def delete(person, password=None, **headers):
    """What a person does who wants to be erased."""
    return person.request("DELETE", "/v1/users/me", headers=headers,
                          json={"password": password or person.password})
