"""Kept windows: statistics that the agent records for each closed window, and keeps when raw samples go.

A window is taken from whichever of the two knows more of its rows: from the raw samples when they
hold at least as many (always, until they are dropped), else as it was kept. So a window of which a
part was dropped counts whole, and a window that two runs share counts as the raw samples say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde import _core
from iosonde.engine.atomic import lately_written
from iosonde.engine.contract import LEVEL_COLUMNS, SERIES_KEY
from iosonde.engine.layout.dates import utc_month
from iosonde.engine.layout.months import window_files, window_series
from iosonde.engine.left_out import leave_out
from iosonde.engine.opener import said
from iosonde.engine.order_statistics import NO_LEVEL
from iosonde.engine.reader import SampleFilter
from iosonde.engine.reading import reading
from iosonde.engine.versions import UPGRADE, WRITTEN
from iosonde.model.frames import Frame, SeriesKey

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Flags, Ints, Places

_REMOVE = "removing it: windows come from samples and roll-ups that are there"
_COUNTS = ("start_ns", "n_due", "n_seen")


def kept_windows(
    root: Path, scope: SampleFilter, window_ns: int, statistics: Sequence[str]
) -> dict[SeriesKey, Frame]:
    """Kept windows of ``window_ns`` that start in the scope, by series, sorted by start.

    Columns: start_ns n_due n_seen and ``statistics``. A file that cannot be read is told of and
    left out.
    """
    parts: dict[SeriesKey, list[Frame]] = {}
    for file in window_files(root, window_ns):
        if _outside(file.month, scope):
            continue
        chunk = _read(file.path, scope)
        if chunk is None or chunk["rows"] == 0 or chunk["window_ns"] != window_ns:
            continue
        if scope.host in (None, chunk["host"]):
            for key, rows in _split(chunk, scope.ops, statistics):
                parts.setdefault(key, []).append(rows)
    return {key: _each_once(joined(frames)) for key, frames in parts.items()}


def kept_targets(root: Path) -> set[tuple[str, str]]:
    """Every (host, target) with kept windows."""
    nothing = SampleFilter(since_ns=0, until_ns=0)
    chunks = [_read(file.path, nothing) for file in window_series(root)]
    return {(chunk["host"], chunk["target"]) for chunk in chunks if chunk is not None}


def _outside(month: str, scope: SampleFilter) -> bool:
    before = scope.since_ns is not None and month < utc_month(scope.since_ns)
    return before or (scope.until_ns is not None and month > utc_month(scope.until_ns))


def _read(path: Path, scope: SampleFilter) -> _core.WindowsChunk | None:
    reading(path)
    try:
        chunk = _core.read_windows(str(path), scope.since_ns, scope.until_ns, scope.target)
    except FileNotFoundError:
        return None
    except _core.SpoolError as error:
        what = str(error).removeprefix(f"{path}: ")
        leave_out(path, what, UPGRADE if what.startswith(WRITTEN) else _REMOVE)
        return None
    except OSError as error:
        leave_out(path, said(error), _REMOVE)
        return None
    if chunk["torn"] and not lately_written(path):
        leave_out(path, f"ends early ({chunk['torn']}): windows before that count", _REMOVE)
    return chunk


def _split(
    chunk: _core.WindowsChunk, ops: Sequence[str] | None, statistics: Sequence[str]
) -> list[tuple[SeriesKey, Frame]]:
    """A file's windows by series."""
    raw = chunk["columns"]
    columns: dict[str, Any] = {name: np.frombuffer(raw[name], dtype=np.int64) for name in _COUNTS}
    nothing = np.full(len(columns["start_ns"]), np.nan)
    columns |= {
        name: np.frombuffer(raw[name], dtype=np.float64) if name in raw else nothing
        for name in statistics
    }
    frame = Frame(columns)
    op = np.frombuffer(raw["op"], dtype=np.uint8)
    found = []
    for code, name in enumerate(_core.OPS):
        rows = op == code
        if (ops is None or name in ops) and rows.any():
            key = SeriesKey(chunk["host"], chunk["target"], name, chunk["period_ns"])
            found.append((key, frame.take(rows)))
    return found


def _each_once(windows: Frame) -> Frame:
    """Windows sorted by start; of a window split by a restart the longer part."""
    windows = windows.take(np.lexsort((windows["n_due"], windows["start_ns"])))
    start = windows["start_ns"]
    last = np.append(start[1:] != start[:-1], [True])
    return windows if last.all() else windows.take(last)


def merged(raw: Frame, kept: Mapping[SeriesKey, Frame], window_ns: int) -> Frame:
    """Union of windows of raw samples and kept windows, each window once."""
    parts = {key: raw.take(rows) for key, rows in raw.series()} if kept else {}
    changed = False
    for key, windows in kept.items():
        before = parts.get(key)
        whole = _whole(key, windows, window_ns, raw)
        parts[key] = whole if before is None else better("start_ns", before, whole)
        changed |= parts[key] is not before
    return joined([parts[key] for key in sorted(parts)]) if changed else raw


def _whole(key: SeriesKey, windows: Frame, window_ns: int, like: Frame) -> Frame:
    """Kept windows with the columns of the window table ``like``, without levels."""
    n = len(windows)
    columns: dict[str, Any] = {
        name: np.full(n, value, dtype=np.int64 if name == "period_ns" else object)
        for name, value in zip(SERIES_KEY, key, strict=True)
    }
    columns["window_ns"] = np.full(n, window_ns, dtype=np.int64)
    for name in LEVEL_COLUMNS:
        if name in like:
            columns[name] = np.full((n, *like[name].shape[1:]), NO_LEVEL, dtype=np.int64)
    return Frame(
        {name: columns[name] if name in columns else windows[name] for name in like.columns}
    )


def pooled_with_kept(
    raw: Frame, kept: Mapping[SeriesKey, Frame], tags: Mapping[str, NDArray[Any]]
) -> Frame:
    """Statistics pooled by tag (see ``Store.pooled``), with kept windows for dropped samples.

    ``raw``: what the raw samples give, sorted by tag.
    """
    found = _tagged(kept, tags)
    if found is None:
        return raw
    whole = _of_tags(found, tags["tag"], raw.keys())
    return whole if len(raw) == 0 else better("tag", raw, whole)


def _tagged(kept: Mapping[SeriesKey, Frame], tags: Mapping[str, NDArray[Any]]) -> Frame | None:
    """Tagged kept windows; None without any."""
    order = np.lexsort([tags[name] for name in reversed(SERIES_KEY)])
    names = (*SERIES_KEY, "start_ns", "tag")
    parts = []
    for key, rows in Frame({name: np.asarray(tags[name])[order] for name in names}).series():
        if key in kept:
            starts, tag = (np.asarray(tags[name])[order][rows] for name in ("start_ns", "tag"))
            place, there = places(starts, kept[key]["start_ns"])
            found = kept[key].take(place[there]).with_columns({"tag": tag[there]})
            parts += [found] if len(found) else []
    return joined(parts) if parts else None


def _of_tags(windows: Frame, asked: Ints, names: Sequence[str]) -> Frame:
    """Tagged windows by tag: counts are summed, statistics are those of a tag's only window."""
    tag, first, inverse = np.unique(windows["tag"], return_index=True, return_inverse=True)
    every, sizes = np.unique(asked, return_counts=True)
    single = sizes[np.searchsorted(every, tag)] == 1
    columns: dict[str, Any] = {}
    for name in names:
        if name in ("n_due", "n_seen"):
            columns[name] = np.zeros(len(tag), dtype=np.int64)
            np.add.at(columns[name], inverse, windows[name])
        else:
            columns[name] = tag if name == "tag" else np.where(single, windows[name][first], np.nan)
    return Frame(columns)


def better(by: str, raw: Frame, kept: Frame) -> Frame:
    """Union of both, sorted by ``by``; for duplicates the one with more rows, else raw."""
    place, there = places(kept[by], raw[by])
    more = kept.take(~there | (kept["n_due"] > raw["n_due"][place]))
    if len(more) == 0:
        return raw
    _, replaced = places(raw[by], more[by])
    both = joined([raw.take(~replaced), more])
    return both.take(np.argsort(both[by], kind="stable"))


def places(some: Ints, among: Ints) -> tuple[Places, Flags]:
    """Index of each of ``some`` in ``among`` (ascending, not empty), and a mask of those present."""
    place = np.minimum(np.searchsorted(among, some), len(among) - 1)
    return place, among[place] == some


def joined(frames: Sequence[Frame]) -> Frame:
    """Concatenate frames with the same columns."""
    if len(frames) == 1:
        return frames[0]
    names = frames[0].keys()
    return Frame({name: np.concatenate([frame[name] for frame in frames]) for name in names})
