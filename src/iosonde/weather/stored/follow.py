"""Incremental reader of the spool: rows appended since the last poll, none read twice.

A live page wants the newest rows every second; reading whole segments for them would cost more the
longer a segment grows. A follower remembers how far it has read each segment::

    poll    list spool -> read each segment from its offset on -> rows by (host, target, op)

It sees appended rows only. When files come or go in a way it could not follow (a segment was sealed
between two polls, Parquet files were copied in), it says so: what was derived before is then to be
read again from the store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde import _core
from iosonde.engine.layout.segments import Segment, parquet_segments, segment_keys, spool_segments
from iosonde.model.frames import NULL_NS, Frame
from iosonde.weather.lateness import held_up_of

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints

_SEALED_EVERY = 30
"""Polls between two listings of sealed files, which change once an hour, and may be many."""


class RowsKey(NamedTuple):
    """Host, target and op of rows."""

    host: str
    target: str
    op: str


@dataclass(frozen=True)
class News:
    """Result of one poll.

    ``rows``: frames of ``due_ns`` (int64 ns since the epoch), ``service_ns response_ns`` (float64 ns,
    NaN when unknown), ``outcome`` and ``held_up`` (bool: ended well, but began late because one before it
    went on: ``weather.lateness``), in the order in which they were written, which is not always that of
    ``due_ns``. ``unfollowed``: rows may have come that are not in any ``rows``.
    ``damaged``: one line for each segment that cannot be read.
    """

    rows: dict[RowsKey, Frame] = field(default_factory=dict)
    unfollowed: bool = False
    damaged: list[str] = field(default_factory=list)


class Follower:
    """Follows one store. One thread at a time.

    The first poll only learns where the segments end: it gives no rows. Raises StoreError when the
    folder cannot be listed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[Segment, int] = {}
        self._broken: dict[Segment, tuple[int, str]] = {}
        self._sealed: set[tuple[str, str]] = set()
        self._polls = 0

    def poll(self) -> News:
        """Poll: rows appended since the last one."""
        first = self._polls == 0
        segments = spool_segments(self._root)
        gone = self._forget_missing(segments)
        unfollowed = self._look_at_sealed() if gone or self._polls % _SEALED_EVERY == 0 else False
        self._polls += 1
        parts: dict[RowsKey, list[Frame]] = {}
        for segment in segments:
            chunk = self._read_on(segment)
            if chunk is not None and not first:
                for key, rows in _split(chunk):
                    parts.setdefault(key, []).append(rows)
        return News(
            {key: _joined(frames) for key, frames in parts.items()},
            not first and (gone or unfollowed),
            [text for _, text in self._broken.values()],
        )

    def _read_on(self, segment: Segment) -> _core.SpoolChunk | None:
        """Part of a segment after its offset; None if there is nothing new or it is gone."""
        offset, size = self._read.get(segment, 0), -1
        try:
            size = segment.path.stat().st_size
            if size <= offset or self._broken.get(segment, (-1, ""))[0] == size:
                return None
            chunk = _core.read_spool(str(segment.path), offset)
        except FileNotFoundError:
            return None
        except (_core.SpoolError, OSError) as error:
            self._broken[segment] = (size, f"{segment.path} cannot be read: {error}")
            return None
        self._broken.pop(segment, None)
        self._read[segment] = chunk["next_offset"]
        return chunk if chunk["rows"] else None

    def _forget_missing(self, segments: list[Segment]) -> bool:
        """True if a followed segment is gone: its last rows may have been missed."""
        missing = self._read.keys() - set(segments)
        for segment in missing:
            del self._read[segment]
        for segment in self._broken.keys() - set(segments):
            del self._broken[segment]
        return bool(missing)

    def _look_at_sealed(self) -> bool:
        """True if there are new sealed segments."""
        sealed = segment_keys(parquet_segments(self._root))
        new = not sealed <= self._sealed
        self._sealed = sealed
        return new


def _split(chunk: _core.SpoolChunk) -> list[tuple[RowsKey, Frame]]:
    """Rows of a chunk by host, target and op."""
    raw, header = chunk["columns"], chunk["header"]
    due, began, ended = (
        np.frombuffer(raw[name], dtype=np.int64) for name in ("due_ns", "began_ns", "ended_ns")
    )
    target = np.frombuffer(raw["target"], dtype=np.uint16)
    op = np.frombuffer(raw["op"], dtype=np.uint8)
    outcomes = np.array(chunk["outcome_names"], dtype=object)
    outcome = outcomes[np.frombuffer(raw["outcome"], dtype=np.uint16)]
    periods = np.array([place["period_ns"] for place in header["targets"]], dtype=np.int64)
    late = (began != NULL_NS) & (began - due > periods[target] // 10) & (outcome == "ok")
    queued = np.maximum(np.frombuffer(raw["control_runq_ns"], dtype=np.int64), 0)
    free = np.where((began == NULL_NS) | (ended == NULL_NS), NULL_NS, ended - queued)
    columns = {
        "due_ns": due,
        "service_ns": _difference(began, ended),
        "response_ns": _difference(due, ended),
        "outcome": outcome,
        "held_up": late,
    }
    frame = Frame(columns)
    found = []
    for code in np.unique(target.astype(np.int64) * len(_core.OPS) + op).tolist():
        which, kind = divmod(code, len(_core.OPS))
        rows = np.flatnonzero((target == which) & (op == kind) & (outcome != "shed"))
        name = header["targets"][which]["name"]
        held_up = held_up_of(due[rows], late[rows], free[rows])
        taken = frame.take(rows).with_columns({"held_up": held_up})
        found.append((RowsKey(header["host"], name, _core.OPS[kind]), taken))
    return found


def _difference(begin: Ints, end: Ints) -> Floats:
    """``end - begin``, NaN if either is null."""
    unknown = (begin == NULL_NS) | (end == NULL_NS)
    return np.where(unknown, np.nan, np.where(unknown, 0, end) - np.where(unknown, 0, begin))


def _joined(frames: list[Frame]) -> Frame:
    """Concatenate frames with the same columns."""
    if len(frames) == 1:
        return frames[0]
    names = frames[0].keys()
    columns: dict[str, Any] = {n: np.concatenate([frame[n] for frame in frames]) for n in names}
    return Frame(columns)
