"""Sheet of bursts: a run's operations, and below them how far each statistic rose in short windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iosonde.analysis.bursts import RunBursts, Searched
from iosonde.analysis.scatter import MANY_IN_ALL
from iosonde.model.ops import op_order, op_word
from iosonde.model.units import format_factor, format_option
from iosonde.plots.marks import Cells, Level, Mark, Points, Shade, Steps
from iosonde.plots.samples import counted
from iosonde.plots.sheet import RATIO, SECONDS, Pane, Sheet, drawn_caption, thousands
from iosonde.stats.bursts import FACTOR_AT, Scale
from iosonde.store.state import clean_text

MOST_RUNS = 12
"""Runs that are drawn; of more those with the clearest bursts."""
ROLES = {"mean": "mean", "q95": "q95", "q99": "q99", "q50": "median"}
"""Statistics in the order they are drawn: the median lies on top."""
_LIMIT = f"{FACTOR_AT:g}x, the limit"


def bursts_sheet(runs: Sequence[RunBursts], say: Sequence[str] = ()) -> Sheet | None:
    """For every run and op two panes, one below the other: operations, and factors over time.

    ``runs``: what ``analysis.bursts.bursts(everything=True)`` gives; ``say``: sentences about them,
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
    text = "lines: a statistic of each window over its median in the run; gaps: nothing began"
    missing = of - len(shown)
    return text + (f"; {missing} more runs are not drawn" if missing else "")


def _end_ns(run: RunBursts) -> int:
    """When the last operation ended, which may be long after it began."""
    ends = [int((op.began_ns + op.waited_ns).max()) for op in run.searched if len(op.began_ns)]
    return max([run.last_ns + 1, *ends])


def _pair(run: RunBursts, op: Searched, grid: bool) -> tuple[Pane, Pane]:
    word, name = op_word(op.op), clean_text(run.run_id)
    span = (run.first_ns / 1e9, _end_ns(run) / 1e9)
    shades = tuple(Shade("burst", b.start_ns / 1e9, b.end_ns / 1e9) for b in run.bursts)
    n = len(op.began_ns) + op.n_silent
    operations: tuple[Mark, ...] = (*shades, _operations(op, grid))
    above = Pane(word, name, SECONDS, operations, n, f"n = {thousands(n)}", span)
    if op.found is None:
        few = "too few operations to look for bursts"
        return above, Pane(word, "factors", RATIO, shades, 0, few, span)
    scale = op.found.scales[0]
    lines = tuple(_line(scale, name) for name in ROLES)
    below = Pane(
        word,
        f"factors of {format_option(scale.window_ns)}",
        RATIO,
        (*shades, Level(_LIMIT, FACTOR_AT), *lines),
        len(scale.counts),
        _peaks(run, scale),
        span,
    )
    return above, below


def _operations(op: Searched, grid: bool) -> Points | Cells:
    time, value = op.began_ns / 1e9, np.maximum(op.waited_ns, 1.0) / 1e9
    if grid:
        return counted(time, value)
    return Points(time, value, np.full(len(time), "ok", dtype=object))


def _line(scale: Scale, statistic: str) -> Steps:
    """One statistic's factor, window by window; NaN where windows without operations lie between."""
    start, value = scale.starts, scale.factors[statistic]
    end = start + scale.window_ns
    gaps = np.flatnonzero(start[1:] > end[:-1]) + 1
    return Steps(
        ROLES[statistic],
        np.insert(start, gaps, end[gaps - 1]) / 1e9,
        np.insert(end, gaps, start[gaps]) / 1e9,
        np.insert(value, gaps, np.nan),
    )


def _peaks(run: RunBursts, scale: Scale) -> str:
    """The largest factors inside of bursts, of q99 and of the median."""
    peaks = [scale.peaks(burst.start_ns, burst.end_ns) for burst in run.bursts]
    known = [peak for peak in peaks if peak]
    if not known:
        return "no burst" if not run.bursts else ""
    q99, median = (format_factor(max(peak[name] for peak in known)) for name in ("q99", "q50"))
    return f"in bursts q99 to {q99}x, median {median}x"
