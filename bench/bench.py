"""Measures the service beside a baseline on the same PostgreSQL, tables, rows and cores.

Called by scripts/bench, which see. Only ratios taken in one run mean anything: the machine's
speed drifts, and so each side is run in turn, three times, and the medians are compared.
"""

import argparse
import contextlib
import ctypes
import ctypes.util
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = ROOT / ".build/release/jejak"
USERS = 200_000
PASSWORD = "a long pass phrase for the bench"
CONNECTIONS = 64
CLIENTS = 32
ROUNDS = 3
CORES = os.cpu_count() or 1
# Events of the log that rebuilds are measured on; more with --events.
LARGE_LOG = 1_000_000
# Updates a second beside a rebuild, and how that is asked for.
UPDATE_RATE = 2_000
# Of updates without a rebuild, at the least.
QUIET_SECONDS = 60
# Kills of that rebuild on its way; with --kills.
KILLS = 0
REBUILD_UNDER_LOAD = ["--workers", "1", "--throttle", "20000"]
# A position that no log comes to.
FAR = 1_000_000_000_000
TICKS = os.sysconf("SC_CLK_TCK")


class Service:
    """`jejak serve` with an embedded PostgreSQL in a directory of its own."""

    def __init__(self, directory):
        self.data = f"{directory}/data"
        self.process = None
        self.start()

    def start(self):
        began = time.monotonic()
        self.process = subprocess.Popen(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--data-dir", self.data, "--log", "text"],
            stdout=subprocess.PIPE, stderr=open(f"{self.data}.log", "a"), text=True)
        line = self.process.stdout.readline()
        self.url = line.strip().rpartition(" ")[2]
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/readyz", timeout=5)
                break
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"bench: the service has ended; see {self.data}.log")
                time.sleep(0.002)
        self.start_seconds = time.monotonic() - began
        self.database = subprocess.run(
            [BINARY, "database-url", "--data-dir", self.data],
            capture_output=True, text=True, check=True).stdout.strip()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def sql(self, text, **variables):
        options = [word for name, value in variables.items() for word in ("-v", f"{name}={value}")]
        return subprocess.run(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", *options, self.database],
            input=text, capture_output=True, text=True, check=True).stdout.strip()

    def checkpoint(self):
        # The owner is no superuser; the server's own superuser is on the same socket.
        subprocess.run(["psql", "-XqAt", "-U", "postgres", "-c", "checkpoint",
                        self.database.replace("jejak@", "postgres@")], check=True)

    def post(self, path, body):
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=30))

    def seed(self, users=USERS, rounds=None):
        """Fills the log with so many users, who change their profiles in so many rounds."""
        self.post("/v1/users", {"email": "first@example.com", "password": PASSWORD})
        seed = (ROOT / "bench/seed.sql").read_text()
        grow = (ROOT / "bench/grow.sql").read_text()
        # The person who registered over HTTP has given the others a password hash.
        self.fill("create table bench_hash as select * from credentials;"
                  "truncate events, current_users, email_claims, sessions, credentials, user_keys,"
                  " audit_entries, directory, statistics;"
                  f"update projections set position = {FAR}, stopped_at = null, "
                  "stopped_because = null, stopped_time = null where position is not null;"
                  "insert into credentials select * from bench_hash; drop table bench_hash;"
                  + seed + (grow if rounds else ""), users=users, rounds=rounds)

    def fill(self, text, **variables):
        """Runs SQL that appends payloads as they are, and has them sealed."""
        # The runner takes nothing in that is not sealed.
        self.sql(f"update projections set position = position + {FAR} where position is not null")
        self.sql(text, **variables)
        self.seal()
        self.sql(f"update projections set position = position - {FAR} where position is not null")

    def seal(self):
        """Seals the log as `jejak migrate` seals one that was begun before there was sealing.

        Such a log has no secret yet that says it is sealed, and nobody has signed it.
        """
        self.sql("update sealing set master_key = null, wrapped_secret = null, is_complete = false;"
                 "truncate checkpoints, log_origins, tree_tiles, tree_edge;"
                 "update notary set size = 0")
        self.stop()
        Path(self.data, "checkpoint").unlink(missing_ok=True)
        subprocess.run(
            [BINARY, "migrate", "--data-dir", self.data], capture_output=True, check=True)
        self.start()
        self.sql("vacuum analyze events, user_keys")

    def begin_tree(self):
        """Lets the log be signed anew, since what was signed was taken away, and waits for that."""
        self.stop()
        subprocess.run([BINARY, "checkpoint", "new-origin", "--yes", "--data-dir", self.data],
                       capture_output=True, check=True)
        self.start()
        while self.sql("select coalesce(max(size), 0) = (select max(position) from events)"
                       " from checkpoints natural join (select max(origin) as origin"
                       " from log_origins) last") != "t":
            time.sleep(0.5)
        self.sql("vacuum analyze tree_tiles")

    def follow(self):
        """Brings the followers up to date, so that they don't do it beside a measurement."""
        for name in ("audit_entries", "directory", "statistics"):
            subprocess.run([BINARY, "projection", "rebuild", name, "--accept-differences",
                            "--data-dir", self.data], capture_output=True, check=True)
            self.sql(f"select drop_projection_table('{name}', 'previous')")

    def cpu(self):
        """CPU seconds used so far, by process, of the service and of PostgreSQL."""
        postmaster = int(Path(self.data, "pgdata/postmaster.pid").read_text().split()[0])
        used = {"service": {}, "postgres": {}}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            process = int(entry.name)
            seconds = (int(fields[11]) + int(fields[12])) / TICKS
            if process == self.process.pid:
                used["service"][process] = seconds
            elif postmaster in (process, int(fields[1])):
                used["postgres"][process] = seconds
        return used

    def resident(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def wrk(service, script, seconds, connections=CONNECTIONS):
    environment = {**os.environ, "BENCH_USERS": str(USERS), "BENCH_PASSWORD": PASSWORD,
                   "BENCH_WRK": str(ROOT / "bench/wrk")}
    before = service.cpu()
    output = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "30s",
         "-s", ROOT / f"bench/wrk/{script}.lua", service.url],
        env=environment, capture_output=True, text=True, check=True).stdout
    after = service.cpu()
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    errors = re.search(r"Socket errors: .*", output)
    if failed or errors:
        sys.exit(f"bench: {script}: {failed[0] if failed else errors[0]}")
    requests = int(re.search(r"(\d+) requests in", output)[1])
    latency = re.search(r"99%\s+([\d.]+)(us|ms|s)", output)
    scale = {"us": 0.001, "ms": 1, "s": 1000}[latency[2]]
    return {
        "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1]),
        "p99": float(latency[1]) * scale,
        **{f"cpu_us_{name}": spent(before[name], after[name]) / requests * 1e6
           for name in before},
    }


def spent(before, after):
    """Seconds that the processes that are there now have used since."""
    return sum(seconds - before.get(process, 0) for process, seconds in after.items())


def pgbench(service, script, seconds):
    output = subprocess.run(
        ["pgbench", "-n", "-M", "prepared", "-c", str(CLIENTS), "-j", "1", "-T", str(seconds),
         "-D", f"users={USERS}", "-f", ROOT / f"bench/pgbench/{script}.sql", service.database],
        capture_output=True, text=True, check=True).stdout
    return float(re.search(r"tps = ([\d.]+)", output)[1])


def bare_argon2id(seconds):
    """Hashes a second with nothing around them: libsodium on as many threads as cores."""
    sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))
    sodium.sodium_init()
    counts = [0] * CORES
    deadline = time.monotonic() + seconds
    began = time.monotonic()

    def work(index):
        text = ctypes.create_string_buffer(128)
        password = PASSWORD.encode()
        while time.monotonic() < deadline:
            # ctypes lets go of Python's lock during the call.
            sodium.crypto_pwhash_str(text, password, ctypes.c_ulonglong(len(password)),
                                     ctypes.c_ulonglong(2), ctypes.c_size_t(19 << 20))
            counts[index] += 1

    threads = [threading.Thread(target=work, args=(index,)) for index in range(CORES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.monotonic() - began)


class Spinner:
    """A process that keeps one core busy."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Background:
    """Sign-ins at full rate while something else is measured."""

    def __init__(self, service, seconds):
        self.thread = threading.Thread(target=self.run, args=(service, seconds))
        self.rate = 0.0

    def run(self, service, seconds):
        self.rate = wrk(service, "sign-in", seconds, connections=CORES * 4)["rate"]

    def __enter__(self):
        self.thread.start()
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.thread.join()


def compare(ours, baseline, unit, rounds=ROUNDS):
    """Runs both sides in turn and compares the medians; `ours` gives a figure and more."""
    mine, theirs = [], []
    for _ in range(rounds):
        theirs.append(baseline())
        mine.append(ours())
    figure = statistics.median(run["rate"] for run in mine)
    base = statistics.median(theirs)
    result = {"ours": figure, "baseline": base, "ratio": figure / base, "unit": unit}
    for name in ("cpu_us_service", "cpu_us_postgres"):
        if name in mine[0]:
            result[name] = statistics.median(run[name] for run in mine)
    return result


def fetch(service, seconds):
    wrk(service, "fetch", 2)
    pgbench(service, "fetch", 2)
    return compare(lambda: wrk(service, "fetch", seconds),
                   lambda: pgbench(service, "fetch", seconds), "1/s")


def update(service, seconds):
    return compare_writes(service, "update", seconds, connections=CONNECTIONS, warm_up=15)


def hot_user(service, seconds):
    return compare_writes(service, "hot-user", seconds, connections=CLIENTS, warm_up=2)


def compare_writes(service, script, seconds, connections, warm_up):
    """Both sides begin after a checkpoint, and are measured when full-page writes have passed."""

    def ours():
        service.checkpoint()
        wrk(service, script, warm_up, connections)
        return wrk(service, script, seconds, connections)

    def baseline():
        # The positions of the baseline's events lie above those of the log, and go again.
        service.sql("drop sequence if exists bench_position;"
                    "create sequence bench_position start 1000000000 cache 1")
        service.checkpoint()
        pgbench(service, script, warm_up)
        rate = pgbench(service, script, seconds)
        service.sql("delete from events where position >= 1000000000;"
                    "update current_users u set version = (select max(version) from events e "
                    "where e.user_id = u.user_id and e.stream = 1) "
                    "where version <> (select max(version) from events e "
                    "where e.user_id = u.user_id and e.stream = 1);"
                    "vacuum analyze events, current_users")
        return rate

    result = compare(ours, baseline, "1/s")
    # The baseline has left values of its own in the read model.
    rebuilt(service, "--accept-differences")
    service.sql("select drop_projection_table('current_users', 'previous')")
    return result


def history(service, seconds):
    """Pages of a hundred entries of one person, who is given so many first."""
    wrk(service, "hot-user", 2)
    return compare(lambda: wrk(service, "history", seconds),
                   lambda: pgbench(service, "history", seconds), "1/s")


def rebuild(service, seconds):
    """Events a second into a new current_users; the baseline copies them to /dev/null, sorted."""
    return compare(lambda: {"rate": rebuilt(service)["rate"]}, lambda: copied(service),
                   "events/s")


def rebuild_workers(service, seconds):
    """The same with twice as many workers as cores, beside one."""
    return compare(lambda: {"rate": rebuilt(service, "--workers", str(2 * CORES))["rate"]},
                   lambda: rebuilt(service, "--workers", "1")["rate"], "events/s")


def copied(service):
    """Events a second out of the log, sorted as a fold wants them."""
    events = int(service.sql("select count(*) from events"))
    began = time.monotonic()
    subprocess.run(["psql", "-Xq", "-c", "copy (select * from events order by user_id, stream, "
                    "version) to stdout", service.database], stdout=subprocess.DEVNULL, check=True)
    return events / (time.monotonic() - began)


def rebuilt(service, *options):
    """What the command says of a rebuild, and its events a second."""
    output = subprocess.run(
        [BINARY, "projection", "rebuild", "current_users", "--json", "--data-dir", service.data,
         *options], capture_output=True, text=True, check=True).stdout
    report = json.loads(output.splitlines()[-1])
    report["rate"] = report["eventsDone"] / report["seconds"]
    return report


def rebuild_growth(service, seconds):
    """Events a second of a rebuild of a large log, beside those of one with 100,000 events."""
    rates = {}
    for events in (100_000, LARGE_LOG):
        with grown(events // 5, rounds=3) as other:
            rates[events] = statistics.median(rebuilt(other)["rate"] for _ in range(ROUNDS))
            print(f"bench: {events} events: {rates[events]:.0f}/s", file=sys.stderr)
    return {"ours": rates[LARGE_LOG], "baseline": rates[100_000],
            "ratio": rates[LARGE_LOG] / rates[100_000], "unit": "events/s"}


def rebuild_under_load(service, seconds):
    """p99 of updates at a fixed rate during a rebuild, beside that without one, in milliseconds.

    Of the pairs it is the one with the median ratio: the disk's stalls swing both figures threefold
    from pair to pair, so that only those of one pair compare. Each pair is told on standard error;
    with kills there is one.
    """
    with grown(LARGE_LOG // 5, rounds=3) as other:
        pairs = [quiet_and_busy(other, seconds) for _ in range(1 if KILLS else ROUNDS)]
    pairs.sort(key=lambda pair: pair["busy"]["p99"] / pair["quiet"]["p99"])
    quiet, busy = (pairs[len(pairs) // 2][side]["p99"] for side in ("quiet", "busy"))
    return {"ours": busy, "baseline": quiet, "ratio": busy / quiet, "unit": "ms p99",
            "pause_ms": max(pair["pauseMilliseconds"] for pair in pairs),
            "seconds": statistics.median(pair["seconds"] for pair in pairs)}


def quiet_and_busy(service, seconds):
    """Updates for a while, and then beside a rebuild from its begin to its end."""
    with Updates(service) as quiet:
        # The kernel and the server write what is dirty in periods of half a minute and longer.
        time.sleep(max(seconds, QUIET_SECONDS))
    with Updates(service) as busy:
        time.sleep(1)
        for _ in range(KILLS):
            kill_rebuild(service)
        report = rebuilt(service, *REBUILD_UNDER_LOAD)
    verified = subprocess.run(
        [BINARY, "projection", "verify", "current_users", "--data-dir", service.data],
        capture_output=True, text=True)
    if verified.returncode != 0 or quiet.result["failed"] or busy.result["failed"]:
        sys.exit(f"bench: {verified.stdout}{verified.stderr}{quiet.result}{busy.result}")
    print(f"bench: quiet {quiet.result}, busy {busy.result}, {report['eventsDone']} events in "
          f"{report['seconds']} s, writes waited {report['pauseMilliseconds']} ms, "
          f"{verified.stdout.strip()}", file=sys.stderr)
    return {**report, "quiet": quiet.result, "busy": busy.result}


def kill_rebuild(service):
    """Begins a rebuild, or goes on with it, and kills it at a random moment."""
    process = subprocess.Popen(
        [BINARY, "projection", "rebuild", "current_users", "--data-dir", service.data,
         *REBUILD_UNDER_LOAD], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    moment = random.uniform(0.2, 16)
    time.sleep(moment)
    process.kill()
    if process.wait() != -signal.SIGKILL:
        sys.exit("bench: the rebuild had ended before it was killed")
    done = service.sql("select state || ', events done: ' || events_done from rebuilds"
                       " order by created_at desc limit 1")
    print(f"bench: killed after {moment:.1f} s, {done}", file=sys.stderr)


def verify(service, seconds):
    """Events a second that `jejak verify` verifies, beside one core that only hashes them.

    The baseline is libsodium's SHA-256 of each message that has to be hashed for an event: its
    payload, its details, its leaf, and a node of the tree.
    """
    with grown(LARGE_LOG // 5, rounds=3) as other:
        other.begin_tree()
        messages = hashed_messages(other)
        return compare(lambda: verified(other), lambda: bare_sha256(messages), "events/s")


def verified(service):
    began = time.monotonic()
    result = subprocess.run([BINARY, "verify", "--json", "--data-dir", service.data],
                            capture_output=True, text=True)
    report = json.loads(result.stdout)
    if result.returncode != 0 or report["tree"] != report["position"]:
        sys.exit(f"bench: {result.stdout}{result.stderr}")
    return {"rate": report["position"] / (time.monotonic() - began)}


# Events that the baseline of verify hashes, again and again.
HASHED_EVENTS = 50_000


def hashed_messages(service):
    """Of events from all over the log, what has to be hashed: bytes of the true lengths."""
    lines = service.sql(
        "select octet_length(payload), 16 + octet_length(type)"
        " + coalesce(octet_length(request_id), 0) + coalesce(octet_length(trace_id), 0)"
        " + (select coalesce(sum(4 + octet_length(name)), 0) from unnest(changed) name)"
        " from events, (select greatest(1, max(position) / "
        f"{HASHED_EVENTS}) as every from events) sample where position % every = 0").split()
    # A leaf is an entry of 137 bytes behind one, a node two hashes behind one.
    return [os.urandom(size) for line in lines
            for size in (*map(int, line.split("|")), 138, 65)]


def bare_sha256(messages):
    """Events a second: each message hashed by a call of its own, on one core."""
    sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))
    sodium.sodium_init()
    sha256 = sodium.crypto_hash_sha256
    sha256.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulonglong]
    digest = ctypes.create_string_buffer(32)
    sized = [(message, len(message)) for message in messages]
    began = time.monotonic()
    for message, size in sized:
        sha256(digest, message, size)
    return len(messages) / 4 / (time.monotonic() - began)


class Updates:
    """Updates at a fixed rate in a process of their own, while a block runs."""

    def __init__(self, service):
        self.service = service

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "bench/openloop.py", self.service.url.removeprefix("http://"),
             "--users", str(self.service.users), "--rate", str(UPDATE_RATE)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        output, _ = self.process.communicate("")
        self.result = json.loads(output)


@contextlib.contextmanager
def grown(users, rounds):
    """A service of its own with so many users, each with 2 + `rounds` events."""
    with tempfile.TemporaryDirectory(prefix="jejak-bench-") as directory:
        os.chmod(directory, 0o755)
        other = Service(directory)
        try:
            other.seed(users, rounds)
            other.follow()
            other.users = users
            other.checkpoint()
            yield other
        finally:
            other.stop()


def sign_in(service, seconds):
    return compare(lambda: wrk(service, "sign-in", seconds, connections=CORES * 4),
                   lambda: bare_argon2id(seconds), "1/s")


def fetch_under_sign_in(service, seconds):
    """p99 in milliseconds: a ratio under 1 is better than the baseline."""

    def baseline():
        with Spinner():
            return wrk(service, "fetch", seconds)["p99"]

    def ours():
        with Background(service, seconds + 2):
            return {"rate": wrk(service, "fetch", seconds)["p99"]}

    return compare(ours, baseline, "ms p99")


def memory(service, seconds):
    """Resident memory after fetches over 64 connections; the baseline is the bar."""
    wrk(service, "fetch", seconds)
    resident = service.resident()
    return {"ours": resident, "baseline": 64, "ratio": resident / 64, "unit": "MiB"}


def start(service, seconds):
    """From the start of the process to the first 200 of /readyz, database running already."""
    times = []
    lease = subprocess.Popen(["psql", "-XqAt", service.database], stdin=subprocess.PIPE)
    holder = Service.__new__(Service)
    holder.data, holder.process = service.data, None
    for _ in range(5):
        holder.start()
        times.append(holder.start_seconds)
        holder.stop()
    lease.stdin.close()
    lease.wait()
    figure = statistics.median(times)
    return {"ours": figure, "baseline": 0.5, "ratio": figure / 0.5, "unit": "s"}


AUDIT_ENTRIES = 5_000_000
AUDIT_ROUNDS = 31
AUDIT_MONTH = ("2026-03-01Z", "2026-04-01Z")
# What is asked of a month of one operator's key, by how common it is there. The statement is the
# service's own, `AuditQuery.page`, with a page of 50.
AUDIT_QUESTIONS = {
    "common field": "and fields || type && '{attributes.weight}'::text[]",
    "uncommon field": "and fields || type && '{attributes.dateOfBirth}'::text[]",
    "rare field": "and fields || type && '{attributes.rarest}'::text[]",
    "field of another month": "and fields || type && '{attributes.legacy}'::text[]",
    "field never changed by it": "and fields || type && '{email}'::text[]",
}
AUDIT_STATEMENT = """
select e.position, e.recorded_at, e.user_id, e.version, e.stream, e.type, e.payload, name,
       (select k.wrapped_key from user_keys k where k.user_id = e.user_id)
  from (select position from audit_entries
         where position between :first and :last and actor_id = md5('operator')::uuid {question}
         order by position {order} limit 51) as found
  join events e using (position)
  left join api_keys on key_id = actor_id and actor_kind = 2
 order by position {order}"""


def audit(service, seconds):
    """One field, one actor, one month of 5,000,000 entries; the baseline is the bar, 50 ms.

    The figure is the slowest median of all questions; each, and with BENCH_PLANS its plan, is told
    on standard error, and so is an export of all entries: its rate, and the memory that the service
    has taken for it. It runs on a service of its own, whose log is made for it.
    """
    with tempfile.TemporaryDirectory(prefix="jejak-audit-") as directory:
        os.chmod(directory, 0o755)
        own = Service(directory)
        try:
            own.sql((ROOT / "bench/audit-seed.sql").read_text(), users=USERS,
                    entries=AUDIT_ENTRIES)
            own.seal()
            bounds = [int(own.sql(f"select position_at('{at}')")) for at in AUDIT_MONTH]
            slowest = max(ask_audit(own, name, question, order, bounds[0], bounds[1] - 1)
                          for name, question in AUDIT_QUESTIONS.items()
                          for order in ("desc", "asc"))
            for form in ("application/x-ndjson", "text/csv"):
                export_audit(own, form)
        finally:
            own.stop()
    return {"ours": slowest, "baseline": 50, "ratio": slowest / 50, "unit": "ms"}


def ask_audit(service, name, question, order, first, last):
    """The median time of a question in milliseconds, as psql sees it."""
    statement = AUDIT_STATEMENT.format(question=question, order=order)
    text = "\\o /dev/null\n\\timing on\n" + f"{statement};\n" * AUDIT_ROUNDS
    if os.environ.get("BENCH_PLANS"):
        text += f"\\timing off\n\\o\nexplain (analyze, buffers) {statement};\n"
    output = service.sql(text, first=first, last=last)
    times = [float(line.split()[1]) for line in output.splitlines() if line.startswith("Time:")]
    median = statistics.median(times)
    print(f"bench: audit, {name}, {order}: {median:.2f} ms", file=sys.stderr)
    for line in output.splitlines():
        if not line.startswith("Time:"):
            print(f"    {line}", file=sys.stderr)
    return median


def export_audit(service, form):
    """Reads all entries over HTTP, and tells how fast, and by how much the service has grown."""
    key = subprocess.run(
        [BINARY, "apikey", "create", "--name", "bench", "--scope", "audit:read", "--data-dir",
         service.data], capture_output=True, text=True, check=True).stdout.strip()
    request = urllib.request.Request(
        f"{service.url}/v1/audit", headers={"Authorization": f"Bearer {key}", "Accept": form})
    before, most, size, began = service.resident(), 0.0, 0, time.monotonic()
    with urllib.request.urlopen(request, timeout=60) as answer:
        number = 0
        while piece := answer.read(1 << 20):
            size += len(piece)
            number += 1
            if number % 10 == 1:
                most = max(most, service.resident())
    elapsed = time.monotonic() - began
    print(f"bench: audit, export as {form}: {AUDIT_ENTRIES / elapsed:.0f} entries/s, "
          f"{size / elapsed / 1e6:.0f} MB/s, {size / 1e6:.0f} MB, the service grew by "
          f"{most - before:.1f} MiB", file=sys.stderr)


# Not part of a run without names: it takes minutes to make its log.
LONG_CASES = {"audit": audit}
CASES = {"fetch": fetch, "update": update, "hot-user": hot_user, "sign-in": sign_in,
         "fetch-under-sign-in": fetch_under_sign_in, "history": history, "rebuild": rebuild,
         "rebuild-workers": rebuild_workers, "rebuild-growth": rebuild_growth,
         "rebuild-under-load": rebuild_under_load, "verify": verify,
         "memory": memory, "start": start}


def table(results):
    print(f"{'':21}{'ours':>12}{'baseline':>12}{'ratio':>8}  {'unit':8}"
          f"{'service µs':>12}{'postgres µs':>13}")
    for name, row in results.items():
        cpu = "".join(f"{row[key]:>{width}.1f}" if key in row else " " * width
                      for key, width in (("cpu_us_service", 12), ("cpu_us_postgres", 13)))
        print(f"{name:21}{row['ours']:>12.2f}{row['baseline']:>12.2f}{row['ratio']:>8.2f}"
              f"  {row['unit']:8}{cpu}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    cases = {**CASES, **LONG_CASES}
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(cases))
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--seconds", type=int, default=8, help="of each measured run")
    parser.add_argument("--events", type=int, default=LARGE_LOG,
                        help="events of the log in rebuild-growth and rebuild-under-load")
    parser.add_argument("--kills", type=int, default=KILLS,
                        help="kills of the rebuild on its way in rebuild-under-load")
    arguments = parser.parse_args()
    globals()["LARGE_LOG"] = arguments.events
    globals()["KILLS"] = arguments.kills
    unknown = [name for name in arguments.names if name not in cases]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(cases)}")
    results = {}
    with tempfile.TemporaryDirectory(prefix="jejak-bench-") as directory:
        os.chmod(directory, 0o755)
        service = Service(directory)
        try:
            if set(arguments.names) - set(LONG_CASES) or not arguments.names:
                service.seed()
                service.follow()
            for name in arguments.names or CASES:
                print(f"bench: {name}", file=sys.stderr)
                results[name] = cases[name](service, arguments.seconds)
        finally:
            service.stop()
    if arguments.json:
        print(json.dumps(results))
    else:
        table(results)


main()
