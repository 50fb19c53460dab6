"""Sheet of a kernel benchmark: slowdown of creates over time, the longest of each period, phases shaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.bench.kernel.phases import CREATE, KernelPhase
from iosonde.bench.selftest.effects import ProbeSamples
from iosonde.drawing.marks import Mark, Points, Shade, StepMarks
from iosonde.drawing.sheet import RATIO, Pane, Sheet
from iosonde.model.units import format_count, format_duration

_AIR = 0.01


def kernel_sheet(
    samples: Mapping[str, ProbeSamples], phases: Sequence[KernelPhase], period_ns: int, say: str
) -> Sheet | None:
    """Single pane; None if no create of the quiet time succeeded."""
    usual = phases[0].quantile_ns(0.5) if phases else None
    if usual is None:
        return None
    one = samples[CREATE]
    known = ~np.isnan(one.latency_ns)
    ratio = one.latency_ns[known] / usual
    shades = [
        Shade("phase", p.phase.start_ns / 1e9, p.phase.end_ns / 1e9, p.phase.name)
        for p in phases[1:]
    ]
    kinds = np.full(len(ratio), "ok", dtype=object)
    marks: list[Mark] = [*shades, Points(one.due_ns[known] / 1e9, ratio, kinds)]
    marks += [_longest(p, period_ns, usual) for p in phases]
    note = f"1x = {format_duration(usual)}   n = {format_count(len(ratio))}"
    begin, end = phases[0].phase.start_ns, phases[-1].phase.end_ns
    air = (end - begin) * _AIR
    return Sheet(
        kind="phases",
        title="Creates beside writers",
        columns=("",),
        panes=(Pane("creates", "", RATIO, tuple(marks), len(ratio), note),),
        since_s=(begin - air) / 1e9,
        until_s=(end + air) / 1e9,
        caption=(
            say,
            f"points: single creates, line: longest of {format_duration(period_ns)}; "
            "1x: median before the first write",
        ),
    )


def _longest(one: KernelPhase, period_ns: int, usual: float) -> StepMarks:
    start = one.phase.start_ns + period_ns * np.arange(len(one.max_ns), dtype=np.float64)
    stop = np.minimum(start + period_ns, float(one.phase.end_ns))
    return StepMarks("slowdown", start / 1e9, stop / 1e9, one.max_ns / usual)
