"""What holds after every end-to-end test."""

import pytest


@pytest.fixture(autouse=True)
def still_alive(request):
    """After every test that used the module's service, it runs and answers."""
    yield
    if "service" in request.fixturenames:
        service = request.getfixturevalue("service")
        assert service.running, service.stderr()
        service.wait_ready()
