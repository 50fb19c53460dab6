"""Sheet of bursts: a run's operations, and below them the rise of each statistic in short windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from iosonde.drawing.marks import Level, Mark, Points, Shade, StepMarks
from iosonde.drawing.sheet import RATIO, SECONDS, Pane, Sheet, drawn_caption
from iosonde.model.ops import op_order, op_word
from iosonde.model.text import clean_text
from iosonde.model.units import format_count, format_factor, format_option
from iosonde.weather.bursts.bursts import RunBursts, Searched
from iosonde.weather.bursts.search import FACTOR_AT, LOWER_AT, SEEN_BY, BurstsFound, WindowScale
from iosonde.weather.sample_marks import counted
from iosonde.weather.samples_to_draw import MANY_IN_ALL

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


MOST_RUNS = 12
"""Most runs drawn: those with the clearest bursts."""
_LIMIT = f"{FACTOR_AT:g}x, the limit"


def bursts_sheet(runs: Sequence[RunBursts], say: Sequence[str] = ()) -> Sheet | None:
    """For every run and op two panes, one below the other: operations, and factors over time.

    ``runs``: what ``weather.bursts.bursts.bursts(everything=True)`` gives; ``say``: sentences about them,
    for the caption. None for no operation.
    """
    known = [run for run in runs if any(len(op.began_ns) for op in run.searched)]
    if not known:
        return None
    shown = _clearest(known)
    grid = sum(len(op.began_ns) for run in shown for op in run.searched) > MANY_IN_ALL
    panes = [pane for run in shown for op in _in_order(run) for pane in _pair(run, op, grid)]
    silent = sum(op.n_silent for run in shown for op in run.searched)
    caption = [*say, _drawn(panes, silent), _explained(shown, len(known))]
    return Sheet(
        kind="bursts",
        title=f"Bursts: {clean_text(', '.join(dict.fromkeys(run.target for run in shown)))}",
        columns=tuple(dict.fromkeys(pane.column for pane in panes)),
        panes=tuple(panes),
        since_s=min(run.first_ns for run in shown) / 1e9,
        until_s=max(_end_ns(run) for run in shown) / 1e9,
        caption=tuple(caption),
        stack=2,
    )


def _clearest(runs: Sequence[RunBursts]) -> list[RunBursts]:
    """At most ``MOST_RUNS``, by time; those with the least likely bursts if there are more."""
    ranked = sorted(runs, key=lambda run: min((b.chance for b in run.bursts), default=2.0))
    return sorted(ranked[:MOST_RUNS], key=lambda run: (run.first_ns, run.target, run.run_id))


def _in_order(run: RunBursts) -> list[Searched]:
    some = [op for op in run.searched if len(op.began_ns)]
    return sorted(some, key=lambda op: op_order(op.op))


def _drawn(panes: Sequence[Pane], silent: int) -> str:
    return drawn_caption([pane for pane in panes if pane.unit == SECONDS], silent)


def _explained(shown: Sequence[RunBursts], of: int) -> str:
    text = (
        "lines: a statistic of each window over its median in the run; gaps: too few operations; "
        f"median in brackets: not significant (below {FACTOR_AT:g}x, or its band below {LOWER_AT}x)"
    )
    missing = of - len(shown)
    few = f"; {missing} more run{' is' if missing == 1 else 's are'} not drawn"
    return text + (few if missing else "")


def _end_ns(run: RunBursts) -> int:
    """End of the last operation, possibly long after its start."""
    ends = [int((op.began_ns + op.waited_ns).max()) for op in run.searched if len(op.began_ns)]
    return max([run.last_ns + 1, *ends])


def _pair(run: RunBursts, op: Searched, grid: bool) -> tuple[Pane, Pane]:
    word, name = op_word(op.op), clean_text(run.run_id)
    span = (run.first_ns / 1e9, _end_ns(run) / 1e9)
    shades = tuple(Shade("burst", b.start_ns / 1e9, b.end_ns / 1e9) for b in run.bursts)
    n = len(op.began_ns) + op.n_silent
    operations = (*shades, *_operations(run, op, grid))
    above = Pane(word, name, SECONDS, operations, n, f"n = {format_count(n)}", span)
    if op.found is None:
        few = "too few operations to look for bursts"
        return above, Pane(word, "factors", RATIO, shades, 0, few, span)
    scale = op.found.scales[0]
    lines = (*(_line(scale, name) for name in SEEN_BY), _median(scale))
    below = Pane(
        word,
        f"factors of {format_option(scale.window_ns)}",
        RATIO,
        (*shades, Level(_LIMIT, FACTOR_AT), *lines),
        len(scale.counts),
        _peaks(run, op.found),
        span,
    )
    return above, below


def _operations(run: RunBursts, op: Searched, grid: bool) -> tuple[Mark, ...]:
    """All operations; long ones of a burst separately, to be visible among many."""
    time, value = op.began_ns / 1e9, np.maximum(op.waited_ns, 1.0) / 1e9
    long = np.zeros(len(time), dtype=bool)
    if op.found is not None:
        for burst in run.bursts:
            long |= (op.began_ns >= burst.start_ns) & (op.began_ns < burst.end_ns)
        long &= op.waited_ns > FACTOR_AT * op.found.usual_ns["q95"]
    if grid:
        return (counted(time, value),)
    parts = [(time[some], value[some]) for some in (~long, long) if some.any()]
    return tuple(Points(*part, np.full(len(part[0]), "ok", dtype=object)) for part in parts)


def _line(scale: WindowScale, statistic: str) -> StepMarks:
    """Factors of one statistic, window by window."""
    start, end, (value,) = _parted(scale, scale.factors[statistic])
    return StepMarks(statistic, start, end, value)


def _median(scale: WindowScale) -> StepMarks:
    """Factors of the median and lower ends of their intervals; NaN for too few operations."""
    known = np.where(np.isnan(scale.median_lower), np.nan, scale.factors["q50"])
    start, end, (value, lower) = _parted(scale, known, scale.median_lower)
    return StepMarks("median", start, end, value, lower, value)


def _parted(scale: WindowScale, *columns: Floats) -> tuple[Floats, Floats, list[Floats]]:
    """Start, end (s) and columns of all windows; NaN between windows separated by empty ones."""
    start = scale.starts
    end = start + scale.window_ns
    gaps = np.flatnonzero(start[1:] > end[:-1]) + 1
    return (
        np.insert(start, gaps, end[gaps - 1]) / 1e9,
        np.insert(end, gaps, start[gaps]) / 1e9,
        [np.insert(column, gaps, np.nan) for column in columns],
    )


def _peaks(run: RunBursts, found: BurstsFound) -> str:
    """Largest factors in bursts; a median in brackets is not significant."""
    spans = [(burst.start_ns, burst.end_ns) for burst in run.bursts]
    known = [peak for peak in (found.peaks(*span) for span in spans) if peak]
    if not known:
        return "" if run.bursts else "no burst"
    mean, q99, median = (
        format_factor(max(peak[name] for peak in known)) + "x" for name in ("mean", "q99", "q50")
    )
    seen = any(found.median_sees(*span) for span in spans)
    return f"in bursts mean to {mean}, q99 {q99}, median {median if seen else f'({median})'}"
