"""Two machines of one name: who counts as two, and what a restart, an old state and a missing boot say."""

from __future__ import annotations

import itertools
import random

import pytest

from iosonde.engine.states import namesakes
from tests.kit.samples.makers import SECOND, START, state


def written(boot: str | None, age_s: float, **changes):
    """A running probe's state of a target of its own."""
    number = next(_NUMBERS)
    at = START - int(age_s * SECOND)
    return {"boot_id": boot, "namesake_ns": None} | state(
        target=f"/t{number}", written_ns=at, boot_id=boot, **changes
    )


_NUMBERS = itertools.count()


@pytest.mark.parametrize(
    ("states", "found"),
    [
        ([], []),
        ([("one", 0), ("one", 3)], []),
        ([("one", 0), ("two", 3)], ["login2"]),
        ([("one", 0), ("two", 60)], []),
        ([("one", 0), ("", 0), (None, 0)], []),
    ],
    ids=["nothing", "one boot", "two at once", "a restart", "unknown boots"],
)
def test_two_boots_at_once_are_two_machines(states, found):
    assert namesakes([written(*one) for one in states]) == found


def test_what_has_ended_is_no_namesake_and_what_a_probe_saw_is():
    ended = [written("one", 0), written("two", 1, running=False)]
    assert namesakes(ended) == []
    assert namesakes([written("one", 0) | {"namesake_ns": START}]) == ["login2"]


def test_hosts_with_names_of_their_own_are_never_mixed_up():
    """Five hundred hosts of one boot each, in any order and of any age."""
    rng = random.Random(3)
    states = [
        written(f"boot{host}", rng.paretovariate(0.7), host=f"n{host:03}")
        for host in range(500)
        for _ in range(rng.randint(1, 4))
    ]
    rng.shuffle(states)
    assert namesakes(states) == []
    states.append(written("boot of a clone", 0, host="n077"))
    states.append(written("boot77", 0, host="n077"))
    assert namesakes(states) == ["n077"]
