"""Updates from many connections, and a ledger of what was acknowledged."""

import json
import threading
import time

from .client import MERGE_PATCH, signed_in
from .raw import Closed, Connection, request
from .wait import until


class Load:
    """Clients over some accounts; each update sets a first name never used before.

    Odd clients repeat an update that got no success, with the same Idempotency-Key, until it is
    acknowledged, so theirs must be in the log exactly once; even ones go on with the next, so
    an unacknowledged one of theirs may be there once or not at all. An odd and an even client
    share an account, so that a repetition which is applied again does not look like no change.
    """

    def __init__(self, service, connections=32, people=16):
        self.service, self.count = service, connections
        self.people = [signed_in(service) for _ in range(people)]
        self.acknowledged, self.sent, self.problems = set(), set(), []
        self.threads, self.running = [], threading.Event()
        self.numbers = [0] * connections
        self.pending = [None] * connections

    def start(self):
        self.running.set()
        self.threads = [threading.Thread(target=self._client, args=(n,), daemon=True)
                        for n in range(self.count)]
        for thread in self.threads:
            thread.start()

    def stop(self):
        """Ends after the update that each client is at."""
        self.running.clear()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "a client hangs"
        assert not self.problems, self.problems[:3]

    def wait_acknowledged(self, more, seconds=60):
        """Returns when `more` updates than now are acknowledged."""
        goal = len(self.acknowledged) + more
        until(f"{goal} updates acknowledged", lambda: len(self.acknowledged) >= goal, seconds)

    def _client(self, number):
        connection = None
        while self.running.is_set():
            value = self.pending[number] or self._next(number)
            try:
                connection = connection or Connection(self.service.address)
                if self._update(connection, number, value):
                    self.acknowledged.add(value)
                    self.pending[number] = None
                    continue
            except TimeoutError:
                self.problems.append(f"no answer to {value} in time")
                return
            except (Closed, OSError):
                pass
            except Exception as error:
                self.problems.append(repr(error))
                return
            if connection is not None:
                connection.close()
            connection = None
            self.pending[number] = value if number % 2 else None
            time.sleep(0.02)  # a client's back-off; nothing waits for it
        if connection is not None:
            connection.close()

    def _next(self, number):
        self.numbers[number] += 1
        return f"client{number}update{self.numbers[number]}"

    def _update(self, connection, number, value):
        person = self.people[number // 2 % len(self.people)]
        self.sent.add(value)
        response = connection.ask(request(
            "PATCH", "/v1/users/me", json.dumps({"firstName": value}).encode(), person.token,
            Content_Type=MERGE_PATCH, Idempotency_Key=value))
        if response.status_code == 200:
            return True
        if response.status_code not in (503, 409):
            self.problems.append((response.status_code, response.text[:300]))
        return False

    def check(self, seen):
        """`seen` counts each value in the log: acknowledged once, any other at most once."""
        lost = [value for value in self.acknowledged if value not in seen]
        assert not lost, f"{len(lost)} acknowledged updates lost, such as {lost[:5]}"
        twice = [value for value, count in seen.items() if count != 1]
        assert not twice, f"in the log more than once: {twice[:5]}"
        assert seen.keys() <= self.sent
