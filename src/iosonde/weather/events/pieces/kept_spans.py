"""What was found in spans that are over, kept in the store: events of a week do not read the week again.

::

    judged/<host>/<target>/<date>-<period>.npz          every op of a place: windows, slow stretches, hangs
    judged/<host>/<target>/<date>T<hour>-<period>.npz   the same of a part of a day, until the day is over

A file counts only while everything that it was made from is the same: for each series the intervals of the span and
the expectations of that time, as a digest. It may be deleted at any time, and a store that cannot be written works.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.engine.atomic import draft_of, permitted
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.opener import JUDGED_BYTES, content
from iosonde.model.frames import SeriesKey
from iosonde.model.names import slug
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.weather.events.events import WatchedTarget, place_of
from iosonde.weather.events.pieces.alarms import WARM_UP_NS, with_rates
from iosonde.weather.events.pieces.piece import SlowPiece
from iosonde.weather.events.pieces.series import JudgedSeries
from iosonde.weather.events.pieces.spans import Span, spans
from iosonde.weather.events.slow_intervals import OpWindows
from iosonde.weather.slowdown.baseline import LearntBaselines

VERSION = 15
"""Of the files and of all that they are computed with: raise it when a finder changes."""
_DAMAGED = (
    *(OSError, EOFError, ValueError, KeyError, IndexError, TypeError),
    *(zipfile.BadZipFile, zlib.error, RuntimeError, MemoryError),
)
"""Errors about bytes that are not ours: also an unknown version, a password, an endless array."""
_FLOATS = ("typ", "tail", "lost", "lower", "upper", "usual_ns")
_FLAGS = ("learning", "certain")


class Keeper:
    """Loads and saves the spans of every place of ``windows``, which has the length of each series' windows.

    ``whole``: that is every op of each place.
    """

    def __init__(
        self, root: Path, known: LearntBaselines, windows: Mapping[SeriesKey, int], *, whole: bool
    ) -> None:
        self._root, self._known, self._windows, self._whole = root, known, windows, whole
        self._places: dict[WatchedTarget, list[SeriesKey]] = {}
        for key in windows:
            self._places.setdefault(place_of(key), []).append(key)

    def _there(self, keys: Sequence[SeriesKey], span: Span) -> dict[SeriesKey, str]:
        """Digests of the series that have intervals in a span."""
        there = {}
        for key in keys:
            number = self._known.past[key].number
            first, last = np.searchsorted(
                number, [span.begin_ns // INTERVAL_NS, span.end_ns // INTERVAL_NS]
            )
            if last > first:
                there[key] = digest(key, span, self._known, self._windows[key])
        return there

    def load(self, span: Span) -> dict[SeriesKey, JudgedSeries] | None:
        """The span of every place; None if that of one of them is missing."""
        found: dict[SeriesKey, JudgedSeries] = {}
        for place, keys in self._places.items():
            digests = self._there(keys, span)
            if digests:
                kept = load(self._root, place, span, digests)
                if kept is None:
                    return None
                found |= kept
        return found

    def save(self, span: Span, found: Mapping[SeriesKey, JudgedSeries]) -> None:
        """Keep a span of the places that are whole."""
        for place, keys in self._places.items():
            digests = self._there(keys, span)
            if self._whole and digests and all(key in found for key in digests):
                save(self._root, place, span, digests, found)


def digest(key: SeriesKey, span: Span, known: LearntBaselines, window_ns: int) -> str:
    """Of everything that a span of a series is judged by."""
    since, until = span.begin_ns - WARM_UP_NS, span.end_ns
    past, baseline = known.past[key], known.baselines[key]
    rows = slice(*np.searchsorted(past.number, [since // INTERVAL_NS, until // INTERVAL_NS]))
    found = hashlib.blake2b(
        f"{VERSION} {tuple(key)} {tuple(span)} {window_ns}".encode(), digest_size=16
    )
    for column in (past.number, past.typ, past.tail, past.lost):
        found.update(np.ascontiguousarray(column[rows]).tobytes())
    first, last = np.searchsorted(baseline.from_ns, [since, until], side="right")
    versions = slice(max(0, int(first) - 1), int(last))
    found.update(np.ascontiguousarray(baseline.from_ns[versions]).tobytes())
    found.update(np.ascontiguousarray(with_rates(baseline.numbers)[versions]).tobytes())
    return found.hexdigest()


def load(
    root: Path, place: WatchedTarget, span: Span, digests: Mapping[SeriesKey, str]
) -> dict[SeriesKey, JudgedSeries] | None:
    """What was kept of a span; None where nothing was, or not of all series, or of other samples."""
    try:
        data = io.BytesIO(content(_path(root, place, span), JUDGED_BYTES))
        with np.load(data) as found:
            columns = {name: found[name] for name in found.files}
            meta = json.loads(columns.pop("meta").tobytes())
        if any(meta["digests"].get(key.op) != value for key, value in digests.items()):
            return None
        return {key: _judged(meta, columns, meta["ops"].index(key.op)) for key in digests}
    except _DAMAGED:
        return None


def save(
    root: Path,
    place: WatchedTarget,
    span: Span,
    digests: Mapping[SeriesKey, str],
    found: Mapping[SeriesKey, JudgedSeries],
) -> None:
    """Keep a span, if the store can be written; a day takes the place of its parts."""
    keys = list(digests)
    windows = [found[key].windows for key in keys]
    sizes = [len(one.start_ns) for one in windows]
    columns: dict[str, Any] = {
        name: np.concatenate([one.known(name) for one in windows]).astype(np.float32)
        for name in _FLOATS
    }
    columns["start_ns"] = np.concatenate([one.start_ns for one in windows])
    columns["n"] = np.concatenate([one.n for one in windows]).astype(np.uint32)
    columns |= {name: np.concatenate([one.known(name) for one in windows]) for name in _FLAGS}
    columns["busy"] = np.concatenate([found[key].busy for key in keys])
    meta = {
        "ops": [key.op for key in keys],
        "digests": {key.op: value for key, value in digests.items()},
        "edges": np.concatenate(([0], np.cumsum(sizes))).tolist(),
        "window_ns": [one.window_ns for one in windows],
        "slow": [[tuple(piece) for piece in found[key].slow] for key in keys],
        "hung": [[tuple(piece) for piece in found[key].hung] for key in keys],
        "span": [(found[key].first_ns, found[key].last_ns) for key in keys],
    }
    columns["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    path = _path(root, place, span)
    with contextlib.suppress(OSError):
        draft = draft_of(path)
        with draft.open("wb") as file:
            np.savez_compressed(file, **columns)
        permitted(draft)
        draft.replace(path)
        if span.is_day:
            for part in spans(span.begin_ns, span.end_ns - 1):
                _path(root, place, part[0]).unlink(missing_ok=True)


def _path(root: Path, place: WatchedTarget, span: Span) -> Path:
    """Of a place at one rate: of a day, or of the hours of it that are over."""
    folder = root / "judged" / slug(place.host) / slug(place.target)
    when = utc_date(span.begin_ns)
    if span.end_ns - span.begin_ns < DAY_NS:
        when += f"T{span.begin_ns % DAY_NS // HOUR_NS:02}"
    return folder / f"{when}-{place.period_ns}.npz"


def _judged(meta: dict[str, Any], columns: Mapping[str, Any], place: int) -> JudgedSeries:
    rows = slice(meta["edges"][place], meta["edges"][place + 1])
    windows = OpWindows(
        start_ns=columns["start_ns"][rows],
        n=columns["n"][rows].astype(np.int64),
        window_ns=int(meta["window_ns"][place]),
        **{name: columns[name][rows].astype(np.float64) for name in _FLOATS},
        **{name: columns[name][rows] for name in _FLAGS},
    )
    slow, hung = ([SlowPiece(*one) for one in meta[kind][place]] for kind in ("slow", "hung"))
    first_ns, last_ns = meta["span"][place]
    return JudgedSeries(windows, columns["busy"][rows], slow, hung, first_ns, last_ns)
