"""Sheet of a sweep: longest and median read against the rate of writes, with the fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.nfs.knee import Knee
from iosonde.bench.nfs.points import SweepPoint
from iosonde.bench.nfs.sweep import Sweep
from iosonde.bench.nfs.words import rate_word, say_sweep
from iosonde.drawing.marks import Dots, LevelLine, Mark
from iosonde.drawing.sheet import SECONDS, Pane, Sheet
from iosonde.model.text import clean_text

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

_MEASURED, _FIT = "measured", "one queue, fitted to the medians"
_BETWEEN = 24
_EXPLAINED = (
    "latency counts from when a read was due; dots: each read; a read of 1 byte "
    "every so often beside writes of 8 bytes"
)


def sweep_sheet(sweep: Sweep, target: str) -> Sheet | None:
    """Panes of longest, q99 and median read; None without an answered read under load."""
    points = sorted(
        (p for p in sweep.points if p.rate_per_s > 0 and len(p.read_ns)), key=lambda p: p.rate_per_s
    )
    if not points:
        return None
    rates = np.array([p.rate_per_s for p in points])
    knee = sweep.knee
    seconds = float(np.median([p.lasted_ns for p in points])) / 1e9
    longest = None if knee is None else knee.longest_ns
    median = None if knee is None else knee.median_ns
    panes = [
        _pane("longest read", points, lambda p: p.longest_ns, _fit(longest, rates, seconds, knee)),
        _pane("q99", points, lambda p: p.quantile_ns(0.99), []),
        _pane(
            "median read", points, lambda p: p.quantile_ns(0.5), _fit(median, rates, seconds, knee)
        ),
    ]
    drawn = [pane for pane in panes if pane.n]
    return Sheet(
        kind="sweep",
        title=f"How long reads of {clean_text(target)} wait while it is written to",
        columns=("",),
        panes=tuple(drawn),
        since_s=None,
        until_s=None,
        caption=(*say_sweep(sweep), _EXPLAINED),
        levels=tuple(rate_word(rate) for rate in rates.tolist()),
        levels_of=f"writes due a second{_knee_word(knee)}",
    )


def _knee_word(knee: Knee | None) -> str:
    return "" if knee is None else f" (reads wait from {rate_word(knee.rate)} on)"


def _pane(
    name: str, points: Sequence[SweepPoint], of: Callable[[SweepPoint], float], model: list[Mark]
) -> Pane:
    place = np.arange(len(points), dtype=np.float64)
    value = np.array([of(p) for p in points]) / 1e9
    marks: list[Mark] = [*model, LevelLine(_MEASURED, "median", place, value)]
    if name.startswith("median"):
        reads = np.concatenate([p.read_ns for p in points]) / 1e9
        where = np.repeat(place, [len(p.read_ns) for p in points])
        marks.insert(0, Dots(where, reads))
    return Pane(name, "", SECONDS, tuple(marks), int(np.isfinite(value).sum()))


def _fit(
    model: Callable[[Floats, float], Floats] | None,
    rates: Floats,
    seconds: float,
    knee: Knee | None,
) -> list[Mark]:
    """The model above the rate at which reads did not wait: below, it has medians only."""
    if model is None or knee is None:
        return []
    place = np.linspace(0, len(rates) - 1, _BETWEEN * (len(rates) - 1) + 1)
    between = np.exp(np.interp(place, np.arange(len(rates)), np.log(rates)))
    value = np.where(between >= knee.rate, model(between, seconds), np.nan)
    return [LevelLine(_FIT, "model", place, value / 1e9)]
