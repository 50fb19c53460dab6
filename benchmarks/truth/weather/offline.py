"""Events of a made stream, by the code that ``iosonde events`` runs, from its windows and operations in memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.weather.judge import SECOND_NS, key, minutes, operations
from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import START_NS
from iosonde.model.events import SlowEvent
from iosonde.model.frames import EpochChange, TargetRef
from iosonde.model.slowdown import Baseline
from iosonde.model.units import DAY_NS
from iosonde.weather.events.changes import change_events, in_hindsight, lasting, without_parts
from iosonde.weather.events.hung import without_hangs
from iosonde.weather.events.joining import joined
from iosonde.weather.events.pieces.judged import MINUTE_NS
from iosonde.weather.events.pieces.piece import united
from iosonde.weather.events.pieces.series import JudgedSeries
from iosonde.weather.events.pieces.span_pieces import with_pieces
from iosonde.weather.events.pieces.spans import Span
from iosonde.weather.events.slow_intervals import RULE, OpWindows
from iosonde.weather.slowdown.baseline import LearntBaselines


def slow_events(
    op: str, seconds: Floats, baseline: Baseline, changes: list[EpochChange]
) -> list[SlowEvent]:
    """Slow stretches and lasting changes of a stream at 1 Hz that begins at midnight.

    Hangs are left out, as everything that they explain: an operation of five seconds did hang.
    """
    name = key(op)
    lasted = lasting(changes, {name: baseline})
    known = in_hindsight(LearntBaselines({name: baseline}), lasted).baselines[name]
    series, rows = _windows(seconds, known), operations(seconds)
    days = range(START_NS, START_NS + len(seconds) * SECOND_NS, DAY_NS)
    found = [with_pieces(name, Span(day, day + DAY_NS), series, rows, known) for day in days]
    slow = united(piece for part in found for piece in part.slow)
    hung = united(piece for part in found for piece in part.hung)
    ref = TargetRef(name.host, name.target)
    events = joined(ref, {op: series.windows}, slow, RULE)
    kept = [
        event for event in (without_hangs(one, hung, RULE) for one in events) if event is not None
    ]
    end_ns = int(rows.due_ns[-1])
    return [*without_parts(kept, lasted), *change_events(lasted, end_ns)]


def _windows(seconds: Floats, baseline: Baseline) -> JudgedSeries:
    """Windows of a minute of a host that is never busy and an op that loses nothing."""
    typ, tail = minutes(seconds, baseline)
    n = len(typ)
    start = START_NS + np.arange(n) * MINUTE_NS
    learning = baseline.at(start) < 0
    lost, due = np.zeros(n), np.full(n, 60)
    windows = OpWindows(start, typ, tail, lost, due, MINUTE_NS, learning)
    return JudgedSeries(windows, np.zeros(n, bool))


class Placed(NamedTuple):
    """Cases that have an event, and by how many seconds the begins and ends of those are off."""

    found: int
    begin_off_s: Floats
    end_off_s: Floats


def placed(events: list[SlowEvent], begins: NDArray[np.int64], long_s: int) -> Placed:
    """What became of cases of ``long_s`` seconds; from the first event that touches one to the last."""
    spans = np.array([(one.start_ns, one.seen_until_ns) for one in events], dtype=np.float64)
    spans = (spans.reshape(-1, 2) - START_NS) / SECOND_NS
    off = []
    for begin in begins.tolist():
        met = spans[(spans[:, 0] < begin + long_s) & (spans[:, 1] > begin)]
        if len(met):
            off.append((abs(met[0, 0] - begin), abs(met[:, 1].max() - begin - long_s)))
    both = np.array(off).reshape(-1, 2)
    return Placed(len(off), both[:, 0], both[:, 1])
