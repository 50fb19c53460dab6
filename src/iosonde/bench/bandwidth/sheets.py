"""Sheet of a bandwidth run: bytes per second over time and the time of each file by rank, writes beside reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.bench.bandwidth.tables import read_columns
from iosonde.bench.bandwidth.words import SLOW, format_bandwidth, say_tail
from iosonde.drawing.marks import Mark, NumberDots, NumberLine
from iosonde.drawing.sheet import BYTES_PER_S, SECONDS, Pane, Sheet
from iosonde.model.frames import NULL_NS
from iosonde.model.transfers import BIN_NS, DIRECTIONS
from iosonde.model.units import format_count, format_percent

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats
    from iosonde.model.runs import RunRow

MOST_DOTS = 20_000
"""Most ranks of a pane; more are thinned out evenly."""
_MEAN = "mean until the last rank was done"
_SLOW = f"{SLOW:g}x the median rank, or slower"
Columns = Mapping[str, Any]


def bandwidth_sheet(root: Path, rows: Sequence[RunRow]) -> Sheet | None:
    """Sheet of the first repetition of a stored run; None without transfers. ``rows``: of all ranks together."""
    run_id = rows[0].run_id
    files, bins = (read_columns(root, table, run_id) for table in ("transfers", "rates"))
    if not files or not bins:
        return None
    repetition = int(files["repetition"].min())
    first = {
        row.phase: row
        for row in rows
        if row.repetition == repetition and row.op is None and row.rank is None
    }
    ways = [way for way in DIRECTIONS if way in first and (files["direction"] == way).any()]
    rates = [_over_time(way, first[way], _of(files, way), _of(bins, way)) for way in ways]
    times = [_by_rank(way, _of(files, way)) for way in ways]
    return Sheet(
        kind="bandwidth",
        title=f"Bandwidth of {rows[0].ranks} ranks on {rows[0].target}",
        columns=tuple(ways),
        panes=(*rates, *times),
        since_s=None,
        until_s=None,
        caption=(
            *say_tail(list(first.values())),
            f"repetition {repetition} of {run_id}; bytes count when their transfer ends, in bins of 0.25 s",
        ),
    )


def _of(table: Columns, direction: str) -> dict[str, Any]:
    """Rows of the first repetition of a direction."""
    which = (table["direction"] == direction) & (table["repetition"] == table["repetition"].min())
    return {name: column[which] for name, column in table.items()}


def _over_time(way: str, row: RunRow, files: Columns, bins: Columns) -> Pane:
    """Bytes per second of all ranks since the first open, and their mean."""
    begin, end = _begin(files), int(files["transfer_end_ns"].max())
    edges = np.arange(begin // BIN_NS, end // BIN_NS + 2) * BIN_NS
    place = np.clip((bins["begin_ns"] - edges[0]) // BIN_NS, 0, len(edges) - 2)
    moved = np.bincount(place, bins["bytes"].astype(np.float64), len(edges) - 1)
    inside: Floats = (np.clip(edges, begin, end) - begin) / 1e9
    width = np.diff(inside)
    # A bin of which the phase has a sliver says nothing of the rate: its bytes count with its neighbour's.
    whole = width > 0.02 * BIN_NS / 1e9
    rate = np.divide(moved, width, out=np.full(len(width), np.nan), where=whole)
    drawn = np.repeat(rate, 2)
    across = np.column_stack([inside[:-1], inside[1:]]).ravel()
    last = row.last_bytes_per_s
    marks: list[Mark] = [NumberLine(f"rate of {way}s", way, across, drawn)]
    if last is not None:
        ends = np.array([0.0, (row.duration_ns or 0) / 1e9])
        marks.append(NumberLine(_MEAN, "target", ends, np.full(2, last), mean=True))
    loss = row.tail_loss
    note = f"mean {format_bandwidth(last)}"
    if loss is not None and loss > 0:
        note += f", tail {format_percent(loss)}"
    return Pane(
        "rate", way, BYTES_PER_S, tuple(marks), len(rate), note, across="s since the first open"
    )


def _by_rank(way: str, files: Columns) -> Pane:
    """Open to close of each rank's file; without a close, to its last transfer."""
    begin = _filled(files["open_begin_ns"], files["transfer_begin_ns"])
    took = (_filled(files["close_end_ns"], files["transfer_end_ns"]) - begin) / 1e9
    order = np.argsort(files["rank"])
    step = -(-len(order) // MOST_DOTS) or 1
    some = order[::step]
    rank = files["rank"][some].astype(np.float64)
    slow: Flags = took[some] > SLOW * np.median(took)
    marks: list[Mark] = [NumberDots(f"rank, {way}", way, rank[~slow], took[some][~slow])]
    if slow.any():
        marks.append(NumberDots(_SLOW, "slow", rank[slow], took[some][slow]))
    note = f"{format_count(len(some))} of {format_count(len(order))} drawn" if step > 1 else ""
    return Pane("time of a file", way, SECONDS, tuple(marks), len(some), note, across="rank")


def _begin(files: Columns) -> int:
    return int(_filled(files["open_begin_ns"], files["transfer_begin_ns"]).min())


def _filled(column: Any, other: Any) -> Any:
    """A column of instants, with missing ones taken from another."""
    known = np.ma.filled(np.ma.asarray(column).astype(np.int64), NULL_NS)
    return np.where(known == NULL_NS, np.asarray(other), known)
