"""Events count as slow time of a job where its cells see nothing, and are told where they cannot count."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.jobs.scheduled.cells import TargetCells
from iosonde.jobs.scheduled.event_time import judged_by
from iosonde.jobs.scheduled.time_of import time_of
from iosonde.model.events import OpShare, SlowEvent
from iosonde.model.verdicts import Reason, Unjudged
from iosonde.weather.events.told import Happened
from tests.jobs.scheduled.test_storage_time import MINUTE, START, cells

SECOND = 10**9
SPAN = (START, START + 60 * MINUTE)
AT = (START + 20 * MINUTE + 7 * SECOND, START + 20 * MINUTE + 52 * SECOND)


def event(host: str, kind: str = "slow", factor: float = 6.0) -> SlowEvent:
    share = OpShare(
        "md_create", factor, factor, None, 0.0, 1.0, affected=True, n=45, start_ns=AT[0],
        end_ns=AT[1], lower=factor * 0.9, upper=factor * 1.1,
    )  # fmt: skip
    return SlowEvent(
        host, "/work", *AT, AT[1], factor, AT[0], factor, 1.0, None, 45, (share,), 0.4, 0, kind,
        "md_create",
    )  # fmt: skip


def found(hosts: tuple[str, ...], *events: SlowEvent, typ: np.ndarray | None = None, **more):
    starts = START + np.arange(60) * MINUTE
    seen = TargetCells(
        "/work", hosts, starts, {"md_create": cells(np.ones(60) if typ is None else typ)}
    )
    happened = Happened(list(events), [], [], more.get("not_judged", []), {})
    return time_of(seen, SPAN, judged_by(happened, "/work", len(hosts), SPAN[1]))


def test_a_stretch_of_seconds_counts_to_the_second() -> None:
    one = found(("n1",), event("n1"))
    assert (one.slow_ns, one.clear_ns) == (45 * SECOND, 60 * MINUTE - 45 * SECOND)
    assert (one.told.level, one.worst_op.op, one.worst_op.typ) == (5.0, "md_create", 6.0)
    assert (one.stretches, one.untold) == ((AT,), ())


@pytest.mark.parametrize(
    ("hosts", "saw", "counts"), [(2, 1, False), (2, 2, True), (3, 1, False), (3, 2, True)]
)
def test_so_many_hosts_must_see_it_and_else_it_is_told(hosts: int, saw: int, counts: bool) -> None:
    names = tuple(f"n{n}" for n in range(hosts))
    one = found(names, *(event(name, factor=6.0 + n) for n, name in enumerate(names[:saw])))
    assert bool(one.slow_ns) == counts
    assert one.slow_ns + one.clear_ns + one.unknown_ns == 60 * MINUTE
    told = [(event.host, event.length_ns, event.factor) for event in one.untold]
    assert told == ([] if counts else [("n0", 45 * SECOND, 6.0)])
    assert not counts or one.worst_op.typ == 6.0


@pytest.mark.parametrize("kind", ["lost", "partly_slow"])
def test_what_is_no_slowdown_of_the_typical_operation_is_told(kind: str) -> None:
    one = found(("n1",), event("n1", kind))
    assert one.slow_ns == 0
    assert [(told.kind, told.host, told.lost) for told in one.untold] == [(kind, "", 0.4)]


def test_a_provisional_baseline_judges_and_a_blind_one_does_not() -> None:
    typ = np.full(60, np.nan)
    for learned, clear in ((10 * MINUTE, 30), (None, 0)):
        young = Unjudged(
            "n1", "/work", None, START, START + 30 * MINUTE, Reason.LEARNING, learned_ns=learned
        )
        one = found(("n1",), typ=typ, not_judged=[young])
        assert (one.clear_ns, one.unknown_ns) == (clear * MINUTE, (60 - clear) * MINUTE)
