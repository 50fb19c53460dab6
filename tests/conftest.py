import pytest

from iosonde.store import seal


@pytest.fixture(autouse=True)
def this_is_login2(monkeypatch, request):
    """Stores that tests make up are of a host called login2: let it be this one.

    The tests of the agent keep the real name: their stores are real too.
    """
    if "agent" not in request.path.parts:
        monkeypatch.setattr(seal, "this_host", lambda: "login2")
