"""HTTP as bytes on a socket, for requests that no polite client would send, and for speed."""

import contextlib
import socket


class Closed(Exception):
    """The connection ended before a complete response; `received` is what had come."""

    def __init__(self, received=b""):
        super().__init__(f"connection closed after {len(received)} bytes: {received[:80]!r}")
        self.received = received


class Response:
    """A response as it came: status, header lines, body."""

    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.version, status, *_ = lines[0].split(" ", 2)
        self.status_code = int(status)
        self.lines = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
        self.headers = {name.lower(): value for name, value in self.lines}
        self.content = body

    @property
    def text(self):
        return self.content.decode("utf-8", "replace")

    def json(self):
        import json
        return json.loads(self.content)

    @property
    def closes(self):
        return "close" in self.headers.get("connection", "").lower()


class Connection:
    """One TCP connection to the service; requests go out as given, responses come back whole."""

    def __init__(self, address, timeout=30):
        self.socket = socket.create_connection(address, timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    @classmethod
    def over(cls, connected):
        """A client on a socket that is connected already."""
        connection = cls.__new__(cls)
        connection.socket, connection.buffer = connected, b""
        return connection

    def send(self, data):
        self.socket.sendall(data)

    def _more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            raise Closed(self.buffer)
        self.buffer += data

    def _until(self, mark):
        while mark not in self.buffer:
            self._more()
        part, _, self.buffer = self.buffer.partition(mark)
        return part

    def _exactly(self, count):
        while len(self.buffer) < count:
            self._more()
        part, self.buffer = self.buffer[:count], self.buffer[count:]
        return part

    def receive(self, head_only=False):
        """The next response; `head_only` where the request was a HEAD."""
        response = Response(self._until(b"\r\n\r\n"), b"")
        if head_only or response.status_code in (204, 304) or response.status_code < 200:
            return response
        if "content-length" in response.headers:
            response.content = self._exactly(int(response.headers["content-length"]))
        elif response.headers.get("transfer-encoding", "").lower() == "chunked":
            response.content = self._chunks()
        else:
            with contextlib.suppress(Closed):
                while True:
                    self._more()
            response.content, self.buffer = self.buffer, b""
        return response

    def _chunks(self):
        chunks = []
        while size := int(self._until(b"\r\n").split(b";")[0], 16):
            chunks.append(self._exactly(size))
            self._until(b"\r\n")
        self._until(b"\r\n")
        return b"".join(chunks)

    def ask(self, data, head_only=False):
        self.send(data)
        return self.receive(head_only)

    def ended(self):
        """Waits until the other side has closed, and gives what came before that."""
        with contextlib.suppress(Closed):
            while True:
                self._more()
        return self.buffer

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def request(method, path, body=b"", token=None, host="localhost", **headers):
    """The bytes of a well-formed request; header names with _ for -."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body or method in ("POST", "PATCH", "PUT"):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def once(service, data, head_only=False, timeout=30):
    """One request on a connection of its own."""
    with Connection(service.address, timeout) as connection:
        return connection.ask(data, head_only)
