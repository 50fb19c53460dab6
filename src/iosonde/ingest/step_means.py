"""Mean latencies of steps, as samples: what counters of disks tell of reads and writes.

::

    read_execution_s  0.84 s     in the same step of 15 s
    read_ops          120        a row: data_read, due at the step's begin, 7 ms, period 15 s

The count and the sum stay in the table metrics. A row is a mean, not an operation: its ``run_id`` says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.disks.series import LEVEL
from iosonde.connectors.source import UNNAMED
from iosonde.ingest.report import SamplesWritten
from iosonde.ingest.words import counted
from iosonde.model.frames import NULL_NS, Frame
from iosonde.model.metrics import MetricBlock
from iosonde.model.units import format_option
from iosonde.weather.samples.foreign import SampleStaging
from iosonde.weather.samples.periods import MEANS

if TYPE_CHECKING:
    from iosonde.model.arrays import Column, Flags, Floats, Instants

LEAST_S = 0.005
"""Kernels count time in whole ms: the requests of a step usually take this together, or its mean is too rough."""
LONGEST = 2.0
"""Steps longer than so many usual ones, behind a gap, are no samples."""
_WAYS = {"read": ("data_read", "read_bytes"), "write": ("data_write", "written_bytes")}
_PARTS = {
    metric: (way, place)
    for way, (_, moved) in _WAYS.items()
    for place, metric in enumerate((f"{way}_execution_s", f"{way}_ops", moved))
}
"""Metric -> way, and its place among time, number and bytes."""
_UNIT_NS = 100
"""Means are rounded to it, so that the same counters in two files make equal rows."""
_DIGITS = 3
_KNOWN_BY_ROWS = 16
_LARGEST = 2**31 - 1


class _Key(NamedTuple):
    source: str
    component: str
    way: str


class _Steps(NamedTuple):
    """Begins and lengths of steps, and the values in them."""

    time_ns: Instants
    step_ns: Instants
    value: Floats


class StepMeans:
    """Collects the counters of an import that make means."""

    def __init__(self) -> None:
        self._held: dict[_Key, tuple[list[_Steps], list[_Steps], list[_Steps]]] = {}
        self._rough = 0

    def take(self, block: MetricBlock) -> None:
        """Keep a block that is a part of a mean; others are ignored."""
        if block.level != LEVEL or block.kind != "delta" or block.metric not in _PARTS:
            return
        way, part = _PARTS[block.metric]
        for place, component in enumerate(block.components):
            held = self._held.setdefault(_Key(block.source, component, way), ([], [], []))
            held[part].append(_Steps(block.time_ns, block.step_ns, block.value[:, place].copy()))

    def write(self, root: Path, name: str) -> Iterator[SamplesWritten]:
        """Store a row for each step with a mean, and forget all. ``name``: of the file or server. Raises StoreError."""
        held, self._held, self._rough = self._held, {}, 0
        frames = [rows for key in sorted(held) if len(rows := self._rows(key, *held[key]))]
        if not frames:
            return
        staging = SampleStaging(root)
        try:
            for rows in frames:
                staging.add(rows)
            written = staging.write(_digest(name, frames))
            span = staging.span_ns() or (0, 0)
            n = sum(map(len, frames))
            remarks = tuple(self._remarks(frames))
            yield SamplesWritten(written, n, staging.targets(), span, remarks)
        finally:
            staging.__exit__()

    def _rows(
        self, key: _Key, times: list[_Steps], numbers: list[_Steps], moved: list[_Steps]
    ) -> Frame:
        """Samples of a disk's reads or writes."""
        took, count = _joined(times), _joined(numbers)
        at, mine, theirs = np.intersect1d(took.time_ns, count.time_ns, return_indices=True)
        step, seconds, n = took.step_ns[mine], took.value[mine], count.value[theirs]
        known = (n > 0) & np.isfinite(seconds) & (step == count.step_ns[theirs])
        sure = known & _sure(n, seconds, known)
        usual = float(np.median(step[known])) if known.any() else 0.0
        good = sure & (seconds > 0) & (step <= LONGEST * usual)
        self._rough += int(known.sum() - good.sum())
        at, step, seconds, n = at[good], step[good], seconds[good], n[good]
        mean_ns = np.maximum(np.rint(seconds / n * (1e9 / _UNIT_NS)), 1).astype(np.int64) * _UNIT_NS
        size = _size(_joined(moved), at, n)
        return _frame(key, at, mean_ns, size, round(float(f"{usual:.{_DIGITS}g}")))

    def _remarks(self, frames: list[Frame]) -> Iterator[str]:
        periods = sorted({int(rows["period_ns"][0]) for rows in frames})
        some = ", ".join(format_option(period) for period in periods[:_DIGITS])
        yield f"these samples are means of steps of {some}, not single requests"
        if self._rough:
            yield f"{counted(self._rough, 'mean')} of few requests or of long steps: in the metrics only"


def _sure(n: Floats, seconds: Floats, known: Flags) -> Flags:
    """Whether so many requests usually take long enough together.

    What they took in this step has no say: that would prefer slow steps.
    """
    if not known.any():
        return known
    typical = float(seconds[known].sum() / n[known].sum())
    return np.asarray(n * typical >= LEAST_S)


def _joined(pieces: list[_Steps]) -> _Steps:
    """Pieces of a series as one; of a repeated instant the first counts."""
    if not pieces:
        none = np.empty(0, dtype=np.int64)
        return _Steps(none, none, np.empty(0))
    times = np.concatenate([one.time_ns for one in pieces])
    steps = np.concatenate([one.step_ns for one in pieces])
    values = np.concatenate([one.value for one in pieces])
    _, first = np.unique(times, return_index=True)
    return _Steps(times[first], steps[first], values[first])


def _size(moved: _Steps, at: Instants, n: Floats) -> Instants:
    """Bytes of a mean request; 0 = unknown."""
    found = np.zeros(len(at))
    _, mine, theirs = np.intersect1d(at, moved.time_ns, return_indices=True)
    found[mine] = moved.value[theirs] / n[mine]
    return np.rint(np.clip(np.nan_to_num(found), 0, _LARGEST)).astype(np.int64)


def _frame(key: _Key, at: Instants, mean_ns: Instants, size: Instants, period_ns: int) -> Frame:
    host, slash, _ = key.component.partition("/")
    texts = {
        "host": host if slash else UNNAMED,
        "target": key.component,
        "op": _WAYS[key.way][0],
        "outcome": "ok",
        "cache": "unknown",
        "run_id": f"{MEANS}{key.source}",
    }
    numbers = {"period_ns": period_ns, "offset_bytes": NULL_NS, "control_runq_ns": NULL_NS}
    columns: dict[str, Column] = {
        "due_given": np.ones(len(at), dtype=np.bool_),
        "due_ns": at,
        "began_ns": at,
        "ended_ns": at + mean_ns,
        "size_bytes": size,
        "seed": np.zeros(len(at), dtype=np.uint64),
        **{name: np.full(len(at), value, dtype=np.int64) for name, value in numbers.items()},
        **{name: np.full(len(at), text, dtype=object) for name, text in texts.items()},
    }
    return Frame(columns)


def _digest(name: str, frames: list[Frame]) -> str:
    """What a file is known by: its name and its first rows. A longer version takes the place of this one."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass"))
    for rows in frames[:_KNOWN_BY_ROWS]:
        first = [rows[column][0] for column in ("target", "op", "due_ns", "ended_ns")]
        digest.update(repr([str(one) for one in first]).encode())
    return digest.hexdigest()[:16]
