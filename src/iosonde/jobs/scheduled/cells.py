"""Windows of a target on one grid of cells, all hosts together, and the slow spans of each op in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.model.ops import SLOW_AT
from iosonde.weather.events.slow_intervals import RULE, OpWindows, Rule, spells

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Instants, Places
    from iosonde.model.frames import WindowTable

SILENT = 0.5
"""Share of late, missing or failed operations from which on an op did not answer."""
_AROUND_CELL = 2


class OpCells(NamedTuple):
    """Cells of one op of one target, all hosts together, shapes (T,): ratios, NaN = not judged.

    ``slow``: typ >= 2 and its lower end >= 1.5, or no answer. ``probed``: somebody measured; ``busy``: the probing
    host explains it.
    """

    typ: Floats
    lower: Floats
    upper: Floats
    slow: Flags
    probed: Flags
    busy: Flags

    def taken(self, of: Places) -> OpCells:
        """The cells of these indices."""
        typ, lower, upper = (column[of] for column in self[:3])
        return OpCells(typ, lower, upper, self.slow[of], self.probed[of], self.busy[of])


def cells_of(windows: WindowTable, series: list[slice], starts: Instants) -> OpCells:
    """Lower median over hosts: with two of them both must be slow."""
    layers = [_layer(windows, rows, starts) for rows in series]
    if len(layers) == 1:
        return layers[0]
    order = np.argsort(np.array([layer.typ for layer in layers]), axis=0, kind="stable")
    judged = np.array([~np.isnan(layer.typ) for layer in layers]).sum(axis=0)
    at = order[np.maximum(0, (judged - 1) // 2), np.arange(len(starts))]
    columns = (
        np.array([getattr(layer, name) for layer in layers])[at, np.arange(len(starts))]
        for name in OpCells._fields
    )
    found = OpCells(*columns)
    probed: Flags = np.logical_or.reduce([layer.probed for layer in layers])
    return found._replace(probed=probed, busy=found.busy & (judged == 0))


def _layer(windows: WindowTable, rows: slice, starts: Instants) -> OpCells:
    """Cells of one series."""
    place = np.searchsorted(starts, windows["start_ns"][rows])
    inside = (place < len(starts)) & (windows["start_ns"][rows] >= starts[0])
    place = place[inside]

    def column(name: str, nothing: float) -> Floats:
        found = np.full(len(starts), nothing, dtype=np.float64)
        found[place] = windows[name][rows][inside]
        return found

    typ, lower, upper = (column(name, np.nan) for name in ("typ", "typ_lower", "typ_upper"))
    silent = column("lost", np.nan) >= SILENT
    # What share of an op is usually cached takes days to learn: until then another mix is no slowdown.
    young = np.zeros(len(starts), dtype=np.bool_)
    young[place] = windows["stage"][rows][inside] != "reliable"
    young &= np.isfinite(column("hit_share", np.nan)) & ~silent
    busy = (column("host_busy", 0.0) > 0) & ~silent
    slow = (column("slow", 0.0) > 0) & (typ >= SLOW_AT) & ~busy & ~young
    typ, lower, upper = (
        np.where(silent, np.inf, np.where(busy | young, np.nan, part))
        for part in (typ, lower, upper)
    )
    return OpCells(typ, lower, upper, slow | silent, column("n_due", 0.0) > 0, busy)


def unknown_cells(n: int) -> OpCells:
    """Cells of an op that nobody measured."""
    never = np.zeros(n, dtype=np.bool_)
    typ, lower, upper = (np.full(n, np.nan) for _ in range(3))
    return OpCells(typ, lower, upper, never, never, never)


class TargetCells(NamedTuple):
    """Cells of one target as ``hosts`` saw it. ``starts`` (T,): of cells, ascending, of one length.

    ``rule``: when slow cells are a slow span.
    """

    target: str
    hosts: tuple[str, ...]
    starts: Instants
    ops: dict[str, OpCells]
    rule: Rule = RULE


def slow_spans(starts: Instants, cells: OpCells, rule: Rule) -> list[tuple[int, int]]:
    """[first, last) cells of the slow spans of one op."""
    # What is not slow beyond doubt is not hot, whatever its typ.
    typ = np.where(cells.slow, cells.typ, np.minimum(cells.typ, np.nextafter(SLOW_AT, 0)))
    nothing = np.full(len(typ), np.nan)
    count = np.ones(len(typ), dtype=np.int64)
    windows = OpWindows(starts, typ, nothing, nothing, count, int(starts[1] - starts[0]))
    found = spells(windows, rule)
    ends = (np.searchsorted(starts, [one.begin_ns, one.end_ns]).tolist() for one in found)
    return [(first, last) for first, last in ends]


class Smoothed(NamedTuple):
    """typ and its interval (T,), NaN outside of spans and where not judged."""

    typ: Floats
    lower: Floats
    upper: Floats

    def taken(self, of: Places) -> Smoothed:
        """The cells of these indices."""
        return Smoothed(*(column[of] for column in self))


def smoothed(cells: OpCells, stretches: list[tuple[int, int]]) -> tuple[Smoothed, Flags]:
    """Medians of five cells within each span; and a mask of the spans widened by a cell."""
    found = Smoothed(*(np.full(len(cells.typ), np.nan) for _ in range(3)))
    edge = np.zeros(len(cells.typ), dtype=np.bool_)
    for first, last in stretches:
        edge[max(0, first - 1) : last + 1] = True
        known = first + np.flatnonzero(~np.isnan(cells.typ[first:last]))
        for column, smooth in zip((cells.typ, cells.lower, cells.upper), found, strict=True):
            smooth[known] = _medians(np.where(np.isnan(column), cells.typ, column)[known])
    # No answer is no matter of noise.
    silent = edge & np.isinf(cells.typ)
    return Smoothed(*(np.where(silent, np.inf, column) for column in found)), edge


def _medians(values: Floats) -> Floats:
    """Median of each value and up to two neighbours on either side."""
    if not len(values):
        return values
    half = min(_AROUND_CELL, (len(values) - 1) // 2)
    padded = np.concatenate([np.full(half, np.nan), values, np.full(half, np.nan)])
    rows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    return np.asarray(np.nanmedian(rows, axis=-1))
