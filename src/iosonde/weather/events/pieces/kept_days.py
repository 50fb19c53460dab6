"""What was found on days that are over, kept in the store: events of a week do not read the week again.

::

    judged/<host>/<target>/<date>-<period>.npz    every op of a place: windows, slow stretches, hangs

A file counts only while everything that it was made from is the same: for each series the intervals of the day and
the expectations of that time, as a digest. It may be deleted at any time, and a store that cannot be written works.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iosonde.engine import layout
from iosonde.engine.atomic import draft_of, permitted
from iosonde.model.frames import SeriesKey
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.model.units import DAY_NS
from iosonde.weather.events.pieces.alarms import WARM_UP_NS, with_rates
from iosonde.weather.events.pieces.days import DayPieces
from iosonde.weather.events.pieces.judged import OF_INTERVALS
from iosonde.weather.events.pieces.piece import SlowPiece
from iosonde.weather.events.pieces.series import JudgedSeries
from iosonde.weather.events.slow_intervals import RULE, OpWindows
from iosonde.weather.events.watched import WatchedTarget, place_of
from iosonde.weather.slowdown.baseline import LearntBaselines

VERSION = 4
"""Of the files and of all that they are computed with: raise it when a finder changes."""
_DAMAGED = (
    *(OSError, EOFError, ValueError, KeyError, IndexError, TypeError),
    *(zipfile.BadZipFile, zlib.error),
)
_FLOATS = ("typ", "tail", "lost")


class JudgedDay(NamedTuple):
    """One series on one day: its windows from an hour before on, its pieces, its first and last operation."""

    series: JudgedSeries
    pieces: DayPieces
    first_ns: int | None
    last_ns: int | None


class Keeper:
    """Loads and saves the days of every place of what is known. ``whole``: that is every op of each."""

    def __init__(self, root: Path, known: LearntBaselines, *, whole: bool) -> None:
        self._root, self._known, self._whole = root, known, whole
        self._places: dict[WatchedTarget, list[SeriesKey]] = {}
        for key in known.past:
            self._places.setdefault(place_of(key), []).append(key)

    def _there(self, keys: Sequence[SeriesKey], day_ns: int) -> dict[SeriesKey, str]:
        """Digests of the series that have intervals on a day."""
        there = {}
        for key in keys:
            number = self._known.past[key].number
            first, last = np.searchsorted(
                number, [day_ns // INTERVAL_NS, (day_ns + DAY_NS) // INTERVAL_NS]
            )
            if last > first:
                there[key] = digest(key, day_ns, self._known)
        return there

    def load(self, day_ns: int) -> dict[SeriesKey, JudgedDay] | None:
        """The day of every place; None if that of one of them is missing."""
        found: dict[SeriesKey, JudgedDay] = {}
        for place, keys in self._places.items():
            digests = self._there(keys, day_ns)
            if digests:
                kept = load(self._root, place, day_ns, digests)
                if kept is None:
                    return None
                found |= kept
        return found

    def save(self, day_ns: int, days: Mapping[SeriesKey, JudgedDay]) -> None:
        """Keep a day of the places that are whole."""
        for place, keys in self._places.items():
            digests = self._there(keys, day_ns)
            if self._whole and digests and all(key in days for key in digests):
                save(self._root, place, day_ns, digests, days)


def digest(key: SeriesKey, day_ns: int, known: LearntBaselines) -> str:
    """Of everything that a day of a series is judged by."""
    since, until = day_ns - WARM_UP_NS, day_ns + DAY_NS
    past, baseline = known.past[key], known.baselines[key]
    rows = slice(*np.searchsorted(past.number, [since // INTERVAL_NS, until // INTERVAL_NS]))
    found = hashlib.blake2b(f"{VERSION} {tuple(key)} {day_ns}".encode(), digest_size=16)
    for column in (past.number, past.typ, past.tail, past.lost):
        found.update(np.ascontiguousarray(column[rows]).tobytes())
    first, last = np.searchsorted(baseline.from_ns, [since, until], side="right")
    versions = slice(max(0, int(first) - 1), int(last))
    found.update(np.ascontiguousarray(baseline.from_ns[versions]).tobytes())
    found.update(np.ascontiguousarray(with_rates(baseline.numbers)[versions]).tobytes())
    return found.hexdigest()


def load(
    root: Path, place: WatchedTarget, day_ns: int, digests: Mapping[SeriesKey, str]
) -> dict[SeriesKey, JudgedDay] | None:
    """What was kept of a day; None where nothing was, or not of all series, or of other samples."""
    try:
        with _path(root, place, day_ns).open("rb") as file, np.load(file) as found:
            columns = {name: found[name] for name in found.files}
            meta = json.loads(columns.pop("meta").tobytes())
        if any(meta["digests"].get(key.op) != value for key, value in digests.items()):
            return None
        return {key: _day(meta, columns, meta["ops"].index(key.op)) for key in digests}
    except _DAMAGED:
        return None


def save(
    root: Path,
    place: WatchedTarget,
    day_ns: int,
    digests: Mapping[SeriesKey, str],
    days: Mapping[SeriesKey, JudgedDay],
) -> None:
    """Keep a day, if the store can be written."""
    keys = list(digests)
    windows = [days[key].series.windows for key in keys]
    sizes = [len(one.start_ns) for one in windows]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in windows]).astype(np.float32)
        for name in _FLOATS
    }
    columns["start_ns"] = np.concatenate([one.start_ns for one in windows])
    columns["n"] = np.concatenate([one.n for one in windows]).astype(np.uint32)
    learning = [
        np.zeros(len(w.start_ns), bool) if w.learning is None else w.learning for w in windows
    ]
    columns["learning"] = np.concatenate(learning)
    columns["busy"] = np.concatenate([days[key].series.busy for key in keys])
    meta = {
        "ops": [key.op for key in keys],
        "digests": {key.op: value for key, value in digests.items()},
        "edges": np.concatenate(([0], np.cumsum(sizes))).tolist(),
        "window_ns": [one.window_ns for one in windows],
        "dense": [days[key].series.dense for key in keys],
        "slow": [[tuple(piece) for piece in days[key].pieces.slow] for key in keys],
        "hung": [[tuple(piece) for piece in days[key].pieces.hung] for key in keys],
        "span": [(days[key].first_ns, days[key].last_ns) for key in keys],
    }
    columns["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    path = _path(root, place, day_ns)
    with contextlib.suppress(OSError):
        draft = draft_of(path)
        with draft.open("wb") as file:
            np.savez_compressed(file, **columns)
        permitted(draft)
        draft.replace(path)


def _path(root: Path, place: WatchedTarget, day_ns: int) -> Path:
    return layout.judged_path(root, place.host, place.target, place.period_ns, day_ns)


def _day(meta: dict[str, Any], columns: Mapping[str, Any], place: int) -> JudgedDay:
    rows = slice(meta["edges"][place], meta["edges"][place + 1])
    typ, tail, lost = (columns[name][rows].astype(np.float64) for name in _FLOATS)
    windows = OpWindows(
        columns["start_ns"][rows],
        typ,
        tail,
        lost,
        columns["n"][rows].astype(np.int64),
        int(meta["window_ns"][place]),
        columns["learning"][rows],
    )
    dense = bool(meta["dense"][place])
    series = JudgedSeries(windows, columns["busy"][rows], RULE if dense else OF_INTERVALS, dense)
    pieces = DayPieces(
        *([SlowPiece(*one) for one in meta[kind][place]] for kind in ("slow", "hung"))
    )
    return JudgedDay(series, pieces, *meta["span"][place])
