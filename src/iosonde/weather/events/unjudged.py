"""Intervals of every series in which nothing was judged, each with its reason and what a judgement would need.

::

    samples     ......|================|      |=====|       ? ? ? ?     |====
    reason      no    learning          no          no      few         damaged
                probe (first hour)      probe       probe   operations  (a file was left out)

A series is known from its ten-minute intervals, so it is told of although no window of it holds enough operations.
Hangs and losses are found in all of this time but where no probe ran.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.engine.layout.dates import begin_of
from iosonde.engine.left_out import left_out
from iosonde.model.frames import Frame, SeriesKey, TargetRef
from iosonde.model.names import host_of_rank, slug
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.model.verdicts import Reason, Unjudged
from iosonde.weather.events.pieces.series import JudgedSeries
from iosonde.weather.slowdown.window_length import FEWEST_COARSE, LEAST, step_of
from iosonde.weather.slowdown.young import FIRST_WINDOWS, RELIABLE, judged_from

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.model.arrays import Flags
    from iosonde.model.frames import SlowdownQuery
    from iosonde.weather.events.pieces.search import SearchedSeries
    from iosonde.weather.slowdown.baseline import LearntBaselines, Past

_GAP_NS = INTERVAL_NS
"""Between operations that are further apart, and more than three steps, no probe ran."""
_STEPS = 3
_LEAST_WINDOWS = 3
"""Fewer windows in a row with too few operations are no interval by themselves."""
_SAME_NS = INTERVAL_NS
"""Intervals of ops that begin and end within so much of each other are one of all ops."""


class _Seen(NamedTuple):
    """What is known of a series. ``first_ns``, ``last_ns``: of all of its operations, to ten minutes at worst."""

    key: SeriesKey
    past: Past
    step_ns: float
    window_ns: int
    first_ns: int
    last_ns: int
    series: JudgedSeries | None


def unjudged(
    root: Path, query: SlowdownQuery, now_ns: int, known: LearntBaselines, found: SearchedSeries
) -> list[Unjudged]:
    """Every interval of [since, until) of a query that was not judged, by host, target, op and begin."""
    seen = [_seen(key, past, found) for key, past in known.past.items() if len(past.number)]
    since = min((one.first_ns for one in seen), default=0)
    since = since if query.since_ns is None else query.since_ns
    until = now_ns if query.until_ns is None else min(now_ns, query.until_ns)
    several = [part for one in seen for part in _of_series(one, known, until)]
    several += _without_probe(seen, since, until)
    several += _damaged(root, {one.key.host for one in seen})
    inside = [one for one in several if one.overlap_ns(since, max(until, since + 1)) > 0]
    return _of_all_ops(inside, seen)


def _seen(key: SeriesKey, past: Past, found: SearchedSeries) -> _Seen:
    first, last = int(past.number[0]) * INTERVAL_NS, int(past.number[-1]) * INTERVAL_NS
    step = step_of(key, past)
    series = found.series.get(key)
    begin = first if series is None or series.first_ns is None else series.first_ns
    end = last if series is None or series.last_ns is None else series.last_ns
    first = begin if first < begin < first + INTERVAL_NS else first
    # The next operation would be due a step after the last one.
    last = (end if end > last else last + INTERVAL_NS - min(round(step), INTERVAL_NS)) + round(step)
    return _Seen(key, past, step, found.windows[key], first, last, series)


def _of_series(seen: _Seen, known: LearntBaselines, until_ns: int) -> Iterable[Unjudged]:
    """What a series' samples do not allow to judge. ``until_ns``: the end of the range."""
    key = seen.key
    if seen.step_ns * LEAST > seen.window_ns:
        needs = round(seen.step_ns * FEWEST_COARSE)
        whole = (seen.first_ns, seen.last_ns, Reason.LONG_STEP)
        yield Unjudged(key.host, key.target, key.op, *whole, needs_ns=needs)
        return
    learnt = judged_from(known, key, seen.window_ns)
    if learnt is None or learnt > seen.first_ns:
        goes_on = seen.last_ns >= until_ns - max(_GAP_NS, _STEPS * seen.step_ns)
        over_ns = None if goes_on else seen.last_ns
        yield _learning(seen, over_ns if learnt is None else learnt)
    if seen.series is not None and learnt is not None:
        yield from _few(seen, seen.series, learnt)


def _learning(seen: _Seen, end_ns: int | None) -> Unjudged:
    key = seen.key
    learned = 0 if seen.series is None else _learned_ns(seen.series)
    return Unjudged(
        *(key.host, key.target, key.op, seen.first_ns, end_ns, Reason.LEARNING),
        learned_ns=learned or None,
        needs_ns=HOUR_NS if seen.window_ns <= INTERVAL_NS else round(RELIABLE * seen.step_ns),
    )


def _learned_ns(series: JudgedSeries) -> int:
    """Length of the windows that a series' first baseline was learnt from; 0: there was none."""
    windows = series.windows
    usable = windows.known("learning") & ~np.isnan(windows.typ) & ~windows.known("certain")
    n = int(np.count_nonzero(usable))
    return (n + FIRST_WINDOWS) * windows.window_ns if n else 0


def _few(seen: _Seen, series: JudgedSeries, learnt_ns: int) -> Iterable[Unjudged]:
    """Windows in a row that hold too few operations for a typical one, and of which nothing else is known."""
    windows, key = series.windows, seen.key
    known: Flags = ~np.isnan(windows.typ) | series.busy | windows.known("learning")
    known |= np.nan_to_num(windows.lost) >= series.rule.hot_lost
    known |= windows.start_ns < learnt_ns
    for first, last in _runs(~known):
        if last - first >= min(_LEAST_WINDOWS, len(windows.n)):
            end = int(windows.start_ns[last - 1]) + windows.window_ns
            typical = max(1.0, float(np.median(windows.n[first:last])))
            needs = round(windows.window_ns * FEWEST_COARSE / typical)
            what = (int(windows.start_ns[first]), end, Reason.FEW_OPERATIONS)
            yield Unjudged(key.host, key.target, key.op, *what, needs_ns=max(needs, 1))


def _runs(flags: Flags) -> list[tuple[int, int]]:
    """[first, last) of flags in a row."""
    edges = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def _without_probe(seen: Iterable[_Seen], since_ns: int, until_ns: int) -> Iterable[Unjudged]:
    """Gaps of every target between, before and after the operations of all of its rates; of imported runs none."""
    targets: dict[TargetRef, list[_Seen]] = {}
    for one in seen:
        if one.key.period_ns > 0 and host_of_rank(one.key.host) is None:
            targets.setdefault(TargetRef(one.key.host, one.key.target), []).append(one)
    for (host, target), ones in targets.items():
        least = max(_GAP_NS, round(_STEPS * min(one.step_ns for one in ones)))
        number = np.unique(np.concatenate([one.past.number for one in ones])) * INTERVAL_NS
        ends = number + INTERVAL_NS
        ends[-1] = max(one.last_ns for one in ones)
        begins = np.append(number, until_ns)
        gaps = [(since_ns, int(number[0]))]
        gaps += zip(ends.tolist(), begins[1:].tolist(), strict=True)
        for begin, end in gaps:
            first, last = max(begin, since_ns), min(end, until_ns)
            if end - begin >= least and last > first:
                yield Unjudged(host, target, None, first, last, Reason.NO_PROBE)


def _damaged(root: Path, hosts: Iterable[str]) -> Iterable[Unjudged]:
    """Days of hosts of which a file of samples was left out."""
    named = {slug(host): host for host in hosts}
    for note in left_out(root):
        parts = note["path"].removeprefix(f"{root}/").split("/")
        if parts[0] not in ("samples", "rollups") or len(parts) < 4:
            continue
        day = begin_of(parts[1].removeprefix("date="))
        host = parts[2].removeprefix("host=")
        yield Unjudged(named.get(host, host), None, None, day, day + DAY_NS, Reason.DAMAGED)


def _of_all_ops(found: Iterable[Unjudged], seen: Iterable[_Seen]) -> list[Unjudged]:
    """Intervals that all ops of a target share, to ten minutes, as one."""
    ops: dict[TargetRef, set[str]] = {}
    for one in seen:
        ops.setdefault(TargetRef(one.key.host, one.key.target), set()).add(one.key.op)
    groups: dict[tuple[str, str | None, Reason, bool], list[list[Unjudged]]] = {}
    for part in sorted(found, key=lambda one: (one.begin_ns, one.end_ns or 0, one.op or "")):
        key = (part.host, part.target, part.reason, part.blind)
        rows = groups.setdefault(key, [])
        near = next((row for row in rows if _alike(row[0], part)), None)
        if near is None:
            rows.append([part])
        else:
            near.append(part)
    joined = []
    for (host, target, _, _), rows in groups.items():
        for row in rows:
            names = {one.op for one in row}
            if target is not None and None not in names and names >= ops[TargetRef(host, target)]:
                joined.append(_joined(row))
            else:
                joined += dict.fromkeys(row)
    return sorted(joined, key=lambda one: (one.host, one.target or "", one.begin_ns, one.op or ""))


def _alike(one: Unjudged, other: Unjudged) -> bool:
    ends = (one.end_ns, other.end_ns)
    near = None not in ends and abs((ends[0] or 0) - (ends[1] or 0)) <= _SAME_NS
    return abs(one.begin_ns - other.begin_ns) <= _SAME_NS and (near or ends == (None, None))


def _joined(row: list[Unjudged]) -> Unjudged:
    ends = [one.end_ns for one in row if one.end_ns is not None]
    learned = [one.learned_ns for one in row if one.learned_ns is not None]
    needs = [one.needs_ns for one in row if one.needs_ns is not None]
    return replace(
        row[0],
        op=None,
        begin_ns=min(one.begin_ns for one in row),
        end_ns=max(ends) if len(ends) == len(row) else None,
        learned_ns=min(learned, default=None),
        needs_ns=max(needs, default=None),
    )


def without_baseline(windows: Frame) -> list[Unjudged]:
    """Series of judged windows of which the baseline that was asked for expects nothing at some time."""
    found = []
    for key, rows in windows.series():
        start = windows["start_ns"][rows]
        unknown = np.isnan(windows["baseline_ns"][rows]) & (windows["n_seen"][rows] > 0)
        for first, last in _runs(unknown):
            end = int(start[last - 1]) + int(windows["window_ns"][rows][last - 1])
            what = (int(start[first]), end, Reason.OTHER_BASELINE)
            found.append(Unjudged(key.host, key.target, key.op, *what))
    return found
