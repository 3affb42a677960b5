"""'Unchanged' as the cases mean it: answer, ETag and number of events as before."""

import contextlib

from .log import count_events


@contextlib.contextmanager
def unchanged(person, database, stream=None):
    """Everything about a person's profile after the block is as it was before it."""
    before = _state(person, database, stream)
    yield
    assert _state(person, database, stream) == before


def _state(person, database, stream):
    response = person.get()
    assert response.status_code == 200, response.text
    return response.content, response.headers["etag"], count_events(database, person.id, stream)
