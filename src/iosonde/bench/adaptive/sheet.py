"""Sheet of adaptive runs: corrected rate of each process at each waiting factor, the fit, and its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.adaptive.adaptive import AdaptiveResult, phase_rows
from iosonde.drawing.marks import Dots, LevelLine, Mark
from iosonde.drawing.sheet import PER_S, Pane, Sheet
from iosonde.model.runs import RunRow
from iosonde.model.text import clean_text
from iosonde.model.units import format_count, format_waiting_factor
from iosonde.queue.capacity import CurveCoverage
from iosonde.stats.t_interval import half_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_DOTS = 6_000
"""Most dots of a run; more processes are thinned out evenly."""
MEAN, FIT = "mean, with 90% interval", "clients and servers, fitted"
SERVERS, CLIENTS = "what the servers can do", "what clients alone would reach"
_BETWEEN = 24
_ROOF = 1.1
"""Upper end of the servers' bound, in multiples of the highest measured rate."""
_SPREAD, _JITTER = 0.4, 0.04
_EXPLAINED = (
    "rate: operations over the time spent in them, waits taken out, of all processes together; a dot: that of one "
    "process times their number; T: after every operation a process waits T times what it took; dots of one level: "
    "measurements from left to right"
)


def waiting_sheet(
    results: Sequence[tuple[Sequence[RunRow], AdaptiveResult]], say: Sequence[str] = ()
) -> Sheet:
    """A pane per run: its rows, and the result of ``adaptive.adaptive``.

    ``say``: sentences for the caption, which ``adaptive.words`` writes. Raises ValueError for no run.
    """
    if not results:
        raise ValueError("no run to draw")
    levels = np.unique(np.concatenate([found.rates.level for _, found in results]))
    names = [clean_text(f"{found.target} ({found.run_id})") for _, found in results]
    if len(results) == 1:
        names = [clean_text(results[0][1].target)]
    return Sheet(
        kind="waiting",
        title="Operations per second of all processes, with waits between operations",
        columns=("",),
        panes=tuple(
            _pane(name, rows, found, levels)
            for name, (rows, found) in zip(names, results, strict=True)
        ),
        since_s=None,
        until_s=None,
        caption=(*say, _EXPLAINED),
        levels=tuple(format_waiting_factor(level) for level in levels.tolist()),
        levels_of="waiting factor T",
    )


def _pane(name: str, rows: Sequence[RunRow], found: AdaptiveResult, levels: Floats) -> Pane:
    dots, left_out = _dots(rows, levels, found.clients)
    n = found.rates.measurements
    note = f"{found.clients} processes, {n} measurement{'' if n == 1 else 's'}"
    if left_out:
        note += (
            f", {format_count(len(dots.value))} of {format_count(len(dots.value) + left_out)} drawn"
        )
    marks: tuple[Mark, ...] = (dots, _mean(found, levels), *_model(found, levels))
    return Pane(name, "", PER_S, marks, int(np.isfinite(found.rates.corrected_per_s).sum()), note)


def _dots(rows: Sequence[RunRow], levels: Floats, clients: int) -> tuple[Dots, int]:
    """Rate of each process in each measurement, and the number left out."""
    single = [
        (row.waiting_factor, row.measurement, row.rank, row.corrected_per_s)
        for row in phase_rows(rows)
        if row.rank is not None and row.corrected_per_s
    ]
    table = np.array(single, dtype=np.float64).reshape(-1, 4)
    step = -(-len(table) // MOST_DOTS) or 1
    drawn = table[table[:, 2] % step == 0]
    factor, measurement, rank, value = drawn.T
    last = max(1.0, float(table[:, 1].max(initial=0)))
    # The golden ratio spreads neighbours, the same way every time.
    jitter = ((rank / step * 0.618034) % 1 - 0.5) * 2 * _JITTER
    shift = _SPREAD * (measurement / last - 0.5) if last > 1 or (measurement > 0).any() else 0.0
    place = np.searchsorted(levels, factor) + shift + jitter
    return Dots(place, value * clients), len(table) - len(drawn)


def _mean(found: AdaptiveResult, levels: Floats) -> LevelLine:
    """Rate of all clients: mean over measurements of its logarithm, with its interval."""
    logs = np.log(found.rates.corrected_per_s)
    columns = [column[np.isfinite(column)] for column in logs.T]
    centre = np.array([column.mean() if len(column) else np.nan for column in columns])
    half = np.array([half_width(column) if len(column) > 1 else np.nan for column in columns])
    place = np.searchsorted(levels, found.rates.level).astype(np.float64)
    low, high = np.exp(centre - half), np.exp(centre + half)
    return LevelLine(MEAN, "median", place, np.exp(centre), low, high)


def _model(found: AdaptiveResult, levels: Floats) -> list[Mark]:
    """Fitted curve and known bounds."""
    capacity, end = found.capacity, float(found.rates.level[-1])
    if capacity is None:
        return []
    inside = levels[levels <= end]
    place = np.linspace(0, len(inside) - 1, _BETWEEN * (len(inside) - 1) + 1)
    factor = np.expm1(np.interp(place, np.arange(len(inside)), np.log1p(inside)))
    marks: list[Mark] = []
    if capacity.network is not None:
        marks.append(LevelLine(FIT, "model", place, capacity.network.corrected_per_s(factor)))
    if capacity.max_per_s.value is not None:
        servers = capacity.max_per_s.value * (1 + factor)
        # It rises without end: beyond what was measured it says nothing more.
        shown = servers <= _ROOF * float(np.nanmax(found.rates.corrected_per_s))
        marks.append(LevelLine(SERVERS, "bound", place[shown], servers[shown]))
    if capacity.unloaded_s.value is not None and capacity.coverage is not CurveCoverage.EDGE:
        alone = np.full_like(place, capacity.clients / capacity.unloaded_s.value)
        marks.append(LevelLine(CLIENTS, "bound", place, alone))
    return marks
