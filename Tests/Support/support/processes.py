"""Processes that the tests start, and nothing left of them at the end."""

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from .wait import until

REPOSITORY = Path(__file__).resolve().parents[3]
_running = []
_directories = []


def short_directory(owner=None):
    """A new directory with a path short enough for a socket, readable for other accounts."""
    path = Path(tempfile.mkdtemp(prefix="jejak-test-", dir="/tmp"))
    path.chmod(0o755)
    if owner is not None:
        shutil.chown(path, owner, owner)
    _directories.append(path)
    return path


def start(command, **options):
    """Starts a process that dies with the tests at the latest."""
    process = subprocess.Popen(command, **options)
    _running.append(process)
    return process


def stop(process, sig=signal.SIGTERM, seconds=30):
    """Ends a process with `sig` and gives its exit status; kills it at the deadline and fails."""
    if process.poll() is None:
        process.send_signal(sig)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError(f"{process.args[0]} was not gone {seconds} s after signal {sig}")


def children(pid):
    """The process ids of all descendants of `pid`."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                after_name = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(after_name[1])
    found, frontier = [], [pid]
    while frontier:
        frontier = [child for child, parent in parents.items() if parent in frontier]
        found += frontier
    return found


def kill_tree(process):
    """SIGKILL to a process and all its descendants; returns when every one is gone."""
    doomed = children(process.pid)
    process.kill()
    for pid in doomed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    until("killed processes are gone", lambda: not any(alive(pid) for pid in doomed))


def alive(pid):
    """Whether a process with this id runs (a zombie does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def cpu_seconds(pid):
    """Processor time that a process has used so far, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid):
    """Memory of a process that is resident, shared pages included."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@atexit.register
def _leave_nothing():
    for process in _running:
        if process.poll() is None:
            kill_tree(process)
    for path in _directories:
        shutil.rmtree(path, ignore_errors=True)
