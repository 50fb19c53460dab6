"""Instants in tables: seconds, ms, us or ns since the epoch, or clock times; with their defects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.tables.mapping import TimeUnit
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.frames import NULL_NS
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Instants


_NS: dict[TimeUnit, int] = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_EARLIEST, _LATEST = 631_152_000 * 10**9, 4_102_444_800 * 10**9
"""1990 and 2100: times outside are no times of a job."""
_QUARTER_S = 900
"""Granularity of zone offsets."""
_LONGEST_DIGITS = 40
_LONGEST_WHOLE = 20
"""Digits of a nanosecond's number."""


class Read(NamedTuple):
    """Instants, ``NULL_NS`` if missing, and notes."""

    ns: Instants
    notes: tuple[Note, ...]


def instants(
    cells: Sequence[str], unit: TimeUnit, zone: tzinfo | None, where: str, *, named: bool = False
) -> Read:
    """Parse cells as instants.

    Numbers that are plausible only in another unit than the mapping says are read in that, with a note
    "wrong-unit". Clock times without an offset are in ``zone`` (None: this machine's), "naive-time"
    unless it is ``named`` by the mapping, which says what the table is.
    """
    if unit == "text":
        return _clock(cells, zone, where, named=named)
    if (whole := _whole(cells, unit)) is not None:
        return Read(whole, ())
    raw = [_scaled(cell, 1_000_000_000) for cell in cells]
    known = [value for value in raw if value is not None]
    meant = _meant(known, unit)
    scale = _NS[meant]
    out = np.full(len(raw), NULL_NS, dtype=np.int64)
    for place, value in enumerate(raw):
        ns = None if value is None else value * scale // 1_000_000_000
        if ns is not None and _EARLIEST <= ns < _LATEST:
            out[place] = ns
    notes: tuple[Note, ...] = ()
    if meant != unit:
        notes = (Note("wrong-unit", f"{where}: {meant}, not {unit}: read as {meant}", len(known)),)
    return Read(out, notes)


def _whole(cells: Sequence[str], unit: TimeUnit) -> Instants | None:
    """(n,) instants of cells that are whole numbers and all plausible in ``unit``; None for others."""
    if len("".join(cells)) > _LONGEST_WHOLE * len(cells) or not all(map(str.isdecimal, cells)):
        return None
    values = np.fromiter(map(int, cells), dtype=np.float64, count=len(cells))
    scale = _NS[unit]
    if not ((values * scale >= _EARLIEST) & (values * scale < _LATEST * 0.999)).all():
        return None
    return np.fromiter(map(int, cells), dtype=np.int64, count=len(cells)) * scale


def _scaled(cell: str, scale: int) -> int | None:
    """A number times ``scale``, exact for integers."""
    text = cell.strip()
    if not text or len(text) > _LONGEST_DIGITS or "_" in text:
        return None
    try:
        return int(text) * scale
    except ValueError:
        pass
    try:
        fraction, whole = math.modf(float(text))
    except ValueError:
        return None
    if not math.isfinite(whole) or abs(whole) > 1e19:
        return None
    return int(whole) * scale + round(fraction * scale)


def _meant(known: list[int], unit: TimeUnit) -> TimeUnit:
    """Unit in which most numbers are times of jobs: the declared one, if it is among them."""

    def share(name: TimeUnit) -> float:
        good = sum(_EARLIEST <= value * _NS[name] // 10**9 < _LATEST for value in known)
        return good / max(1, len(known))

    if share(unit) >= 0.5:
        return unit
    best = max(_NS, key=share)
    return best if share(best) >= 0.9 else unit


def _clock(cells: Sequence[str], zone: tzinfo | None, where: str, *, named: bool) -> Read:
    """Parse clock times. Rows of a table are in no order: of a time that occurs twice the first counts."""
    out = np.full(len(cells), NULL_NS, dtype=np.int64)
    clock = WallTimes(zone)
    for place, cell in enumerate(cells):
        try:
            moment = datetime.fromisoformat(cell.strip())
        except ValueError:
            continue
        clock.anew()
        found = clock.ns(moment)
        if found is not None and _EARLIEST <= found < _LATEST:
            out[place] = found
    noted = (note for note in clock.notes() if not (named and note.flag == "naive-time"))
    told = (note._replace(what=f"{where}: {note.what}") for note in noted)
    return Read(out, tuple(told))


def disagreement(trusted: Instants, doubtful: Instants, where: str) -> tuple[Note, ...]:
    """Notes on differences between a second record of the start and the first.

    Off by whole quarters of an hour: a local time that was taken for UTC. Else two clocks.
    """
    both = (trusted != NULL_NS) & (doubtful != NULL_NS)
    off_s = (doubtful[both] - trusted[both]) / 1e9
    off_s = off_s[np.abs(off_s) > 60]
    if not len(off_s):
        return ()
    quarters = np.round(off_s / _QUARTER_S) * _QUARTER_S
    zonal = (np.abs(off_s - quarters) <= 60) & (np.abs(quarters) <= 14 * 3600)
    notes = []
    if zonal.any():
        hours = sorted({float(value) / 3600 for value in quarters[zonal]})
        said = ", ".join(f"{value:+g} h" for value in hours[:4])
        what = f"{where} is {said} from the begin: a local time taken for UTC; not used"
        notes.append(Note("naive-time", what, int(zonal.sum())))
    if (~zonal).any():
        worst = float(off_s[~zonal][np.abs(off_s[~zonal]).argmax()])
        what = f"{where} is up to {worst:+.0f} s from the begin; not used"
        notes.append(Note("clock-skew", what, int((~zonal).sum())))
    return tuple(notes)
