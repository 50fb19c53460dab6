"""What a running probe says of an event of its samples that goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from iosonde.model.events import OpShare, SlowEvent
from iosonde.weather.events.hung import without_hangs
from iosonde.weather.events.pieces.piece import SlowPiece
from iosonde.weather.events.running import with_verdict
from iosonde.weather.events.slow_intervals import RULE
from tests.kit.samples.makers import SECOND, START, op_state, state

WRITE, READ = "data_write", "data_read"
LOST: dict[str, Any] = {"lost": 0.6, "lost_lower": 0.4, "slowdown": 1.1}


def share(op: str, lost: float, begin_s: int | None) -> OpShare:
    """An op of an event, slow itself from a second on; None: it was not."""
    own = {} if begin_s is None else {"start_ns": START - begin_s * SECOND, "end_ns": START}
    return OpShare(op, 1.2, 1.4, 40.0, lost, 0.1, False, 60, **own)


def event(kind: str, *shares: OpShare) -> SlowEvent:
    """One that began ten minutes ago and goes on."""
    first = shares[0]
    return SlowEvent(
        host="login2",
        target="/work",
        start_ns=START - 600 * SECOND,
        end_ns=None,
        seen_until_ns=START,
        peak=first.peak,
        peak_ns=None,
        median=first.median,
        area_s=1.0,
        recovery_ns=None,
        n=60,
        ops=shares,
        lost=first.lost,
        unobserved_ns=0,
        kind=kind,
        op=first.op,
    )


def judged(found: SlowEvent, **ops: dict[str, Any]) -> SlowEvent:
    """The event as its probe judges it."""
    states = [op_state(op, **ops.get(op, {})) for op in (WRITE, READ)]
    (one,) = with_verdict([found], state(ops=states), START, START)
    return one


@pytest.mark.parametrize("kind", ["slow", "partly_slow"])
def test_what_its_probe_calls_lost_alone_is_an_event_of_losses(kind: str) -> None:
    found = judged(event(kind, share(READ, 0.0, 60), share(WRITE, 0.2, 600)), data_write=LOST)
    assert (found.kind, found.op, found.lost, found.end_ns) == ("lost", WRITE, 0.2, None)
    assert [one.op for one in found.ops] == [WRITE, READ]


def test_what_its_probe_calls_usual_is_over() -> None:
    assert judged(event("partly_slow", share(WRITE, 0.2, 600))).end_ns == START


def test_what_is_left_beside_a_hang_has_a_kind_of_its_own() -> None:
    gone = replace(share(READ, 1.0, 60), median=4e5, affected=True)
    hung = SlowPiece(READ, START - 60 * SECOND, START, False)
    left = without_hangs(event("slow", gone, share(WRITE, 0.2, 600)), [hung], RULE)
    assert left is not None
    assert (left.kind, left.op, left.median) == ("partly_slow", WRITE, 1.2)
