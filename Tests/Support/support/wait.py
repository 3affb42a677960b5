"""Waiting for the thing itself, with a deadline; never for a while."""

import select
import time


def until(what, probe, seconds=30.0, every=0.01):
    """Calls `probe` until it answers something true, and returns that; fails at the deadline.

    The pause between two looks is a polling interval: no test's outcome depends on it.
    """
    end = time.monotonic() + seconds
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        select.select([], [], [], every)
