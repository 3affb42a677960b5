"""Readers of the change feed: server-sent events as they come, and lines as a whole."""

import json

from . import raw
from .raw import Connection, request

SSE, NDJSON = "text/event-stream", "application/x-ndjson"


class Event:
    """One server-sent event."""

    def __init__(self, fields):
        self.id, self.type = int(fields["id"]), fields["event"]
        self.cloud = json.loads(fields["data"])


class Feed:
    """An open feed; `head` is the response without its body."""

    def __init__(self, service, key, path="/v1/events", timeout=60, accept=SSE, **headers):
        self.connection = Connection(service.address, timeout)
        self.connection.send(request("GET", path, token=key, Accept=accept, **headers))
        self.head = raw.Response(self.connection._until(b"\r\n\r\n"), b"")
        self.text, self.comments, self.retry = b"", 0, None

    def chunk(self):
        """The next chunk, or None at the proper end of the body."""
        size = int(self.connection._until(b"\r\n"), 16)
        data = self.connection._exactly(size)
        self.connection._until(b"\r\n")
        return data if size else None

    def line(self):
        """The next line without its end, or None at the proper end of the body."""
        while b"\n" not in self.text:
            data = self.chunk()
            if data is None:
                assert not self.text, self.text
                return None
            self.text += data
        line, _, self.text = self.text.partition(b"\n")
        return line.decode()

    def event(self):
        """The next event, or None at the proper end."""
        fields = {}
        while (line := self.line()) is not None:
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                return Event(fields)
            else:
                self.retry, fields = fields.get("retry", self.retry), {}
        return None

    def up_to(self, position):
        """The events up to that of `position`."""
        events = []
        while not events or events[-1].id < position:
            event = self.event()
            assert event is not None, f"the feed ended before {position}"
            events.append(event)
        return events

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def export(service, key, path="/v1/events", **headers):
    """What the feed has as lines: the events as values."""
    response = raw.once(service, request("GET", path, token=key, **headers))
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == NDJSON
    return [json.loads(line) for line in response.text.splitlines()]
