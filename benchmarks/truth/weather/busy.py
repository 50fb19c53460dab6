"""Slow minutes of a probing host with a run queue: which are put down to the host, and which to the storage.

Samples go through the real spool, ``iosonde store seal`` and ``iosonde slowdown``'s analysis.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.speed import month
from benchmarks.truth.target import Row, share
from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import DAY_S, HOUR_S, START_NS, walk
from iosonde.model.frames import SlowdownQuery
from iosonde.weather.seal import seal
from iosonde.weather.slowdown.slowdown import analyse
from iosonde.weather.store import Store

LEARNING_DAYS = 2
SEGMENT_S = DAY_S // 2
SLOW_S = 1_800
"""Half of every hour is slow afterwards."""
_OPS = ("data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete")
_LATE_NS = 1e5
PLAIN_SHARE = 0.5


class Measured(NamedTuple):
    """What the storage took and what the thread waited for a CPU, seconds."""

    storage: Floats
    queue: Floats


class _Case(NamedTuple):
    name: str
    op: str
    low: float
    high: float
    draw: Callable[[np.random.Generator, Floats], Measured]
    """Of which seconds are slow (1) and which are not (0)."""


class _Minutes(NamedTuple):
    """Of the slow half hours: slow minutes, and those that the host explains, also by medians alone."""

    slow: int
    explained: int
    plain: int


def busy(seed: int, scale: float = 1.0) -> list[Row]:
    """The share of slow minutes that iosonde puts down to the probing host.

    The plain way compares medians: more than half of what the median added is less without the run queue.
    """
    rows = []
    for place, case in enumerate(_CASES):
        found = _judged(np.random.default_rng((seed, place)), case, max(12, round(48 * scale)))
        p, error = share(found.explained, max(1, found.slow))
        plain = f"{found.plain / max(1, found.slow):.3f}"
        what = f"{case.name} ({found.slow} slow minutes)"
        rows.append(Row("busy", what, p, case.low, case.high, "-", plain, error))
    return rows


def _judged(random: np.random.Generator, case: _Case, hours: int) -> _Minutes:
    n = LEARNING_DAYS * DAY_S + -(-hours * HOUR_S // SEGMENT_S) * SEGMENT_S
    second = np.arange(n)
    slow = ((second >= LEARNING_DAYS * DAY_S) & (second % HOUR_S >= HOUR_S - SLOW_S)).astype(float)
    storage, queue = case.draw(random, slow)
    with tempfile.TemporaryDirectory(prefix="iosonde-busy-") as folder:
        root = Path(folder)
        for number in range(n // SEGMENT_S):
            part = slice(number * SEGMENT_S, (number + 1) * SEGMENT_S)
            made = _rows(random, case.op, part.start, storage[part], queue[part])
            month.write_segment(root, number, START_NS + part.start * month.PERIOD_NS, made)
        seal(root)
        since = START_NS + LEARNING_DAYS * DAY_S * month.PERIOD_NS
        windows = analyse(Store(root), SlowdownQuery(ops=(case.op,), since_ns=since)).windows
    minute = (windows["start_ns"] - START_NS) // (60 * month.PERIOD_NS)
    found = windows["slow"] & (slow[60 * minute] > 0)
    full, unqueued = (
        np.median(of.reshape(-1, 60), axis=1)[minute] * 1e9 for of in (storage + queue, storage)
    )
    plain = full - unqueued > PLAIN_SHARE * (full - windows["baseline_ns"])
    host = windows["host_busy"]
    return _Minutes(*(int((found & of).sum()) for of in (found, host, plain)))


def _rows(
    random: np.random.Generator, op: str, first_s: int, storage: Floats, queue: Floats
) -> np.ndarray:
    n = len(storage)
    made = np.zeros(n, dtype=month.ROW)
    made["due"] = START_NS + (first_s + np.arange(n)) * month.PERIOD_NS
    made["began"] = made["due"] + (_LATE_NS * random.lognormal(0, 0.3, n)).astype(np.int64)
    made["ended"] = made["began"] + ((storage + queue) * 1e9).astype(np.int64)
    made["runq"] = (queue * 1e9).astype(np.int64)
    made["offset"] = month.NULL
    made["op"] = _OPS.index(op)
    made["cache"] = 4
    return made


def _reads(random: np.random.Generator, n: int) -> Floats:
    """45% cached at 0.1 ms, the others 8 ms; the share drifts."""
    hit = random.random(n) < 1 / (1 + np.exp(-(np.log(0.45 / 0.55) + walk(random, n, 0.4, 7_200))))
    normal = random.standard_normal(n)
    return np.where(hit, 1e-4 * np.exp(0.25 * normal), 8e-3 * np.exp(0.5 * normal))


def _creates(random: np.random.Generator, n: int) -> Floats:
    return 1.5e-3 * np.exp(0.4 * random.standard_normal(n))


def _short_queue(random: np.random.Generator, slow: Floats) -> Measured:
    """The storage three times as slow; a run queue below 0.1 ms all the time."""
    storage = _reads(random, len(slow)) * (1 + 2 * slow)
    return Measured(storage, random.uniform(0, 1e-4, len(slow)))


def _queue_of_creates(random: np.random.Generator, slow: Floats) -> Measured:
    """Nothing happens to the storage; every create waits three times as long for a CPU as it takes."""
    waits = 4.5e-3 * np.exp(0.3 * random.standard_normal(len(slow)))
    return Measured(_creates(random, len(slow)), waits * slow)


def _queue_of_reads(random: np.random.Generator, slow: Floats) -> Measured:
    """The same of reads with two modes."""
    waits = 2.4e-2 * np.exp(0.3 * random.standard_normal(len(slow)))
    return Measured(_reads(random, len(slow)), waits * slow)


def _queue_adds_most(random: np.random.Generator, slow: Floats) -> Measured:
    """Creates three times as slow: three quarters of what is added is a run queue, one is the storage."""
    waits = 2.25e-3 * np.exp(0.3 * random.standard_normal(len(slow)))
    return Measured(_creates(random, len(slow)) * (1 + 0.5 * slow), waits * slow)


def _queue_adds_a_quarter(random: np.random.Generator, slow: Floats) -> Measured:
    """The storage four times as slow, and the run queue adds a quarter of what is added."""
    waits = 1.5e-3 * np.exp(0.3 * random.standard_normal(len(slow)))
    return Measured(_creates(random, len(slow)) * (1 + 3 * slow), waits * slow)


def _quarter_of_reads(random: np.random.Generator, slow: Floats) -> Measured:
    """The same of reads with two modes."""
    waits = 8e-3 * np.exp(0.3 * random.standard_normal(len(slow)))
    return Measured(_reads(random, len(slow)) * (1 + 3 * slow), waits * slow)


_CASES = (
    _Case("storage x3, queue < 0.1 ms, reads", "data_read", 0, 0, _short_queue),
    _Case("queue alone, creates", "md_create", 0.99, 1, _queue_of_creates),
    _Case("queue alone, reads", "data_read", 0.99, 1, _queue_of_reads),
    _Case("queue adds 3/4 of x3, creates", "md_create", 0.95, 1, _queue_adds_most),
    _Case("storage x4, queue adds 1/4, creates", "md_create", 0, 0.01, _queue_adds_a_quarter),
    _Case("storage x4, queue adds 1/4, reads", "data_read", 0, 0.01, _quarter_of_reads),
)
