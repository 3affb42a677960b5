"""Updates at a fixed rate, whether or not they are answered in time.

A client that waits for an answer before it sends the next request measures the service only when
that is quick. Here each request is due at a moment of its own, and its latency counts from there.
"""

import argparse
import asyncio
import json
import random
import sys
import time

TOKEN = "jjs_" + "A" * 25
FIRST = 10**17


class Clients:
    def __init__(self, host, port, users, rate):
        self.host, self.port, self.users, self.rate = host, port, users, rate
        self.began = time.monotonic()
        self.number = 0
        self.latencies = []
        self.failed = 0
        self.ending = False

    def request(self, number):
        user = random.randrange(1, self.users + 1)
        body = json.dumps({"attributes": {"weight": 100 + number}})
        return (f"PATCH /v1/users/me HTTP/1.1\r\nHost: bench\r\n"
                f"Authorization: Bearer {TOKEN}{FIRST + user}\r\n"
                f"Content-Type: application/merge-patch+json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}").encode()

    async def client(self):
        reader, writer = await asyncio.open_connection(self.host, self.port)
        while not self.ending:
            number = self.number
            self.number += 1
            due = self.began + number / self.rate
            await asyncio.sleep(due - time.monotonic())
            writer.write(self.request(number))
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            now = time.monotonic()
            self.latencies.append((now - self.began, (now - due) * 1000))
            self.failed += not head.startswith(b"HTTP/1.1 200")
        writer.close()

    async def run(self, connections):
        clients = [asyncio.create_task(self.client()) for _ in range(connections)]
        # Ends with the standard input.
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, sys.stdin.read)
        self.ending = True
        await asyncio.gather(*clients)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--users", type=int, required=True)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--connections", type=int, default=64)
    arguments = parser.parse_args()
    host, _, port = arguments.address.rpartition(":")
    clients = Clients(host, int(port), arguments.users, arguments.rate)
    asyncio.run(clients.run(arguments.connections))
    # The first second warms up.
    times = sorted(latency for at, latency in clients.latencies if at > 1) or [0.0]
    seconds = max(at for at, _ in clients.latencies)
    print(json.dumps({
        "rate": len(clients.latencies) / seconds, "failed": clients.failed,
        "p50": times[len(times) // 2], "p99": times[len(times) * 99 // 100], "max": times[-1]}))


main()
