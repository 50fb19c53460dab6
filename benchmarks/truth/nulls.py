"""False words on streams without any change, and what is still found in them: kinds that are not lognormal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth import kinds
from benchmarks.truth.alarms import alarms
from benchmarks.truth.judge import SECOND_NS, judged, minutes
from benchmarks.truth.latency import Floats
from benchmarks.truth.stream import DAY_S, START_NS
from benchmarks.truth.target import Row, share
from benchmarks.truth.verdicts import spans
from iosonde.model.slowdown import Baseline

LEARNING_DAYS = 14
MONTH_DAYS = 30
OP = "md_create"
INFINITE = float("inf")
CASES = (
    # name, seconds, factor, share of operations
    ("x10 all, 60 s", 60, 10.0, 1.0),
    ("x3 all, 10 min", 600, 3.0, 1.0),
    ("x10 on 30 %, 10 min", 600, 10.0, 0.3),
    ("x10 on 10 %, 2 h", 7_200, 10.0, 0.1),
)
_APART_S = 10_800


def nulls(seed: int, scale: float = 1.0) -> list[Row]:
    """Per kind of stream: false alarms and events a month from the first hour on, time in alarm, detection."""
    days = LEARNING_DAYS + max(4, round(MONTH_DAYS * scale))
    rows = []
    for place, (name, draw) in enumerate(_streams()):
        random = np.random.default_rng((seed, place))
        seconds = draw(random, days * DAY_S)
        _, baseline = judged(OP, seconds)
        begun, in_alarm = _alarms(seconds, baseline)
        a_month = len(begun) * MONTH_DAYS / days
        error = float(np.sqrt(len(begun) + 1) * MONTH_DAYS / days)
        typ, tail = minutes(seconds, baseline)
        events = len(spans(OP, typ, tail)) * MONTH_DAYS / days
        rows += [
            Row("nulls", f"{name}: false alarms a month", a_month, 0, 6, "-", "-", error),
            Row("nulls", f"{name}: share of time in alarm", in_alarm, 0, 0.01, "-", "-"),
            Row("nulls", f"{name}: false events a month", events, 0, 6, "-", "-", error),
        ]
        rows += _power(random, name, draw, baseline, max(20, round(60 * scale)))
    return rows


def _streams() -> Iterator[tuple[str, Callable[[np.random.Generator, int], Floats]]]:
    yield from kinds.MADE.items()
    for name, latencies in kinds.recorded():
        for word, block in (("independent", 1), ("in blocks", kinds.BLOCK)):
            yield f"{name}, {word}", _resampler(latencies, block)


def _resampler(latencies: Floats, block: int) -> Callable[[np.random.Generator, int], Floats]:
    return lambda random, n: kinds.resampled(random, latencies, n, block)


def _power(
    random: np.random.Generator,
    name: str,
    draw: Callable[[np.random.Generator, int], Floats],
    baseline: Baseline,
    cases: int,
) -> list[Row]:
    """How many injected slowdowns raise an alarm of their own, after what was learnt last."""
    rows = []
    for what, long, factor, part in CASES:
        begins = (np.arange(cases) + 1) * _APART_S
        seconds = draw(random, (cases + 2) * _APART_S)
        for begin in begins.tolist():
            struck = random.random(long) < part
            seconds[begin : begin + long] *= np.where(struck, factor, 1.0)
        numbers = baseline.numbers[-1:]
        raised, _ = _raised(seconds, np.zeros(len(seconds), np.int64), numbers)
        at = np.searchsorted(raised, begins, side="right")
        after = np.append(raised, np.iinfo(np.int64).max)[at] - begins
        found = after <= long + 60
        p, error = share(int(found.sum()), cases)
        delay = float(np.median(after[found])) if found.any() else INFINITE
        rows.append(Row("nulls", f"{name}: {what} (after {delay:.0f} s)", p, 0, 1, "-", "-", error))
    return rows


def _alarms(seconds: Floats, baseline: Baseline) -> tuple[NDArray[np.int64], float]:
    which = baseline.at(START_NS + np.arange(len(seconds)) * SECOND_NS)
    return _raised(seconds, which, baseline.numbers)


def _raised(
    seconds: Floats, which: NDArray[np.int64], numbers: Floats
) -> tuple[NDArray[np.int64], float]:
    """Seconds at which alarms are raised, and the share of the time that they last."""
    n = len(seconds)
    due = START_NS + np.arange(n) * SECOND_NS
    service = seconds * 1e9
    found = alarms(due, service, service, np.zeros(n, bool), which=which, versions=numbers)
    until = [int(due[-1]) if a.cleared_ns is None else a.cleared_ns for a in found]
    lasted = sum(end - a.raised_ns for a, end in zip(found, until, strict=True))
    begun = np.array([(a.raised_ns - START_NS) // SECOND_NS for a in found], dtype=np.int64)
    return begun, lasted / SECOND_NS / n
