"""Several clients at once, whose failures are the test's failures."""

import threading
from concurrent.futures import ThreadPoolExecutor


def together(count, work):
    """Runs `work(0)` … `work(count - 1)` in threads that set off at the same moment."""
    barrier = threading.Barrier(count)

    def run(number):
        barrier.wait(30)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(run, n) for n in range(count)]]


class Background:
    """Work that goes on in a thread while a block runs; its error is raised at the end."""

    def __init__(self, work):
        self.work, self.error, self.stopping = work, None, threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        try:
            while not self.stopping.is_set():
                self.work()
        except BaseException as error:
            self.error = error

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, *_):
        self.stopping.set()
        self.thread.join(60)
        if self.error is not None and kind is None:
            raise self.error
