"""A TCP proxy before PostgreSQL that can cut a connection at the worst moment."""

import contextlib
import socket
import threading

# ReadyForQuery, the last message of an answer: outside and inside of a transaction.
COMMITTED, IN_TRANSACTION = b"Z\x00\x00\x00\x05I", b"Z\x00\x00\x00\x05T"


class CuttingProxy:
    """Passes bytes both ways, until `arm` names a marker to wait for.

    The connection that then carries the marker towards the server is cut, once: `lose="answer"`
    waits for the server's answer (so the work is committed) and swallows it; `lose="request"`
    swallows the request itself, so that the work never happened.
    """

    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.cut = threading.Event()
        self.links = []
        self._lock, self._markers, self._lose = threading.Lock(), None, None
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, marker, lose="answer"):
        """Cuts the first connection that sends `marker`, as raw bytes or in hexadecimal."""
        data = marker.encode()
        with self._lock:
            self.cut.clear()
            self._markers, self._lose = (data, data.hex().encode()), lose

    def silence(self, marker):
        """Lets no more bytes through on the connections that began with `marker`; how many.

        They stay open, as when a machine between the two has forgotten them.
        """
        silent = [link for link in self.links if marker.encode() in link.beginning]
        for link in silent:
            link.silent.set()
        return len(silent)

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self.target)
            except OSError:
                client.close()
                continue
            link = Link(self, client, server)
            self.links.append(link)
            link.run()

    def claim(self, window):
        """What to lose, where this window of bytes has the marker and nobody was cut yet."""
        with self._lock:
            if self._markers is None or not any(mark in window for mark in self._markers):
                return None
            self._markers = None
            return self._lose

    def close(self):
        self.listener.close()


class Link:
    """One proxied connection: two threads that copy."""

    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        self.doomed, self.silent, self.beginning = threading.Event(), threading.Event(), b""
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def run(self):
        for copy in (self._towards_server, self._towards_client):
            threading.Thread(target=copy, daemon=True).start()

    def _towards_server(self):
        window = b""
        with contextlib.suppress(OSError):
            while data := self.client.recv(65536):
                if self.silent.is_set():
                    continue
                self.beginning = (self.beginning + data)[:4096]
                window = (window + data)[-131072:]
                lose = self.proxy.claim(window)
                if lose == "request":
                    self._cut()
                    return
                if lose == "answer":
                    self.doomed.set()
                self.server.sendall(data)
        self._end()

    def _towards_client(self):
        held = b""
        with contextlib.suppress(OSError):
            while data := self.server.recv(65536):
                if self.silent.is_set():
                    continue
                held += data
                if self.doomed.is_set():
                    if held.endswith(COMMITTED):
                        self._cut()
                        return
                    if not held.endswith(IN_TRANSACTION):
                        continue
                self.client.sendall(held)
                held = b""
        self._end()

    def _cut(self):
        self._end()
        self.proxy.cut.set()

    def _end(self):
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
