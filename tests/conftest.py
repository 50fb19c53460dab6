import pytest
from hypothesis import settings

from iosonde.store import seal

settings.register_profile(
    "untimed", deadline=None
)  # how long an example takes says nothing of its result
settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="session")
def this_is_login2():
    """Stores that tests make up are of a host called login2: let it be this one.

    Commands run as processes of their own keep the real name; so do the stores of the agent's tests.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seal, "this_host", lambda: "login2")
        yield
