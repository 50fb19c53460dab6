"""Sheet of a self-test: slowdown of each operation of the probe over time, phases shaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.bench.selftest.effects import ProbeSamples
from iosonde.bench.selftest.run import SelftestOutcome
from iosonde.drawing.marks import Mark, Points, Shade, StepMarks
from iosonde.drawing.sheet import RATIO, Pane, Sheet
from iosonde.model.arrays import Floats
from iosonde.model.ops import SECOND_NS, op_word
from iosonde.model.units import format_count, format_duration

_STEP_NS = SECOND_NS
_AIR = 0.01


def selftest_sheet(
    samples: Mapping[str, ProbeSamples], outcome: SelftestOutcome, title: str, say: Sequence[str]
) -> Sheet | None:
    """A pane per operation; None without samples. ``say``: sentences for the caption."""
    if not samples or outcome.quiet_ns is None:
        return None
    phases, quiet_ns, end_ns = outcome.phases, outcome.quiet_ns, outcome.end_ns
    shades = tuple(Shade("phase", p.start_ns / 1e9, p.end_ns / 1e9, p.name) for p in phases)
    begin, air = quiet_ns[0], (end_ns - quiet_ns[0]) * _AIR
    panes = [_pane(op, one, quiet_ns, end_ns, shades) for op, one in samples.items()]
    return Sheet(
        kind="phases",
        title=title,
        columns=("",),
        panes=tuple(panes),
        since_s=(begin - air) / 1e9,
        until_s=(end_ns + air) / 1e9,
        caption=(
            *say,
            "points: single operations, line: median of a second; 1x: median before the first phase",
        ),
    )


def _pane(
    op: str,
    samples: ProbeSamples,
    quiet_ns: tuple[int, int],
    end_ns: int,
    shades: tuple[Shade, ...],
) -> Pane:
    usual = samples.within(*quiet_ns).latency_ns
    usual = usual[~np.isnan(usual)]
    if not len(usual):
        return Pane(op_word(op), "", RATIO, shades, 0, "no reference")
    expected = float(np.median(usual))
    known = ~np.isnan(samples.latency_ns)
    ratio = samples.latency_ns[known] / expected
    kinds = np.full(int(known.sum()), "ok", dtype=object)
    start: Floats = np.arange(quiet_ns[0], end_ns, _STEP_NS).astype(np.float64)
    place = ((samples.due_ns[known] - quiet_ns[0]) // _STEP_NS).astype(np.int64)
    middle = np.array(
        [
            np.median(ratio[place == at]) if (place == at).any() else np.nan
            for at in range(len(start))
        ]
    )
    marks: tuple[Mark, ...] = (
        *shades,
        Points(samples.due_ns[known] / 1e9, ratio, kinds),
        StepMarks("slowdown", start / 1e9, (start + _STEP_NS) / 1e9, middle),
    )
    note = f"1x = {format_duration(expected)}   n = {format_count(len(ratio))}"
    lost = len(samples.due_ns) - len(ratio)
    note += f"   {format_count(lost)} lost" if lost else ""
    return Pane(op_word(op), "", RATIO, marks, len(ratio), note)
