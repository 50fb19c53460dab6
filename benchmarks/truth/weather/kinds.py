"""Streams of one op at 1 Hz in which nothing is wrong, and which are not lognormal.

Made ones have a floor, heavy tails, two modes, memory or a daily load; real ones resample recorded
latencies of ``IOSONDE_DATA`` (default ``../shared/data``) in blocks of consecutive operations, and
those of ``IOSONDE_RECORDING``, a store that an agent wrote (``benchmarks.truth.weather.idle``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.truth.weather import recording
from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import DAY_S, HOUR_S, walk

LONGEST_S = 100.0
BLOCK = 200
"""Operations in a row that a resampled stream takes at a time: real streams have memory."""
LEAST = 2_000
"""Operations that a recorded series must have."""


def floor_and_tail(random: np.random.Generator, n: int) -> Floats:
    """A floor of 0.3 ms that is hardly left, and 6% with a tail of index 1.3."""
    seconds = 3e-4 * np.exp(0.05 * random.standard_normal(n) + walk(random, n, 0.05, HOUR_S))
    slow = random.random(n) < 0.06
    return _capped(np.where(slow, seconds * (1 + 3 * random.pareto(1.3, n)), seconds))


def two_modes(random: np.random.Generator, n: int) -> Floats:
    """Cached and uncached reads whose hit share wanders between a fifth and four fifths."""
    cycle = 0.5 * np.sin(2 * np.pi * np.arange(n) / DAY_S)
    hit = random.random(n) < 1 / (1 + np.exp(-(walk(random, n, 0.7, 4 * HOUR_S) + cycle)))
    normal = random.standard_normal(n)
    return _capped(np.where(hit, 1e-4 * np.exp(0.25 * normal), 8e-3 * np.exp(0.5 * normal)))


def stragglers(random: np.random.Generator, n: int) -> Floats:
    """A lognormal op of which 1% takes a Pareto number of times as long (index 1: no mean)."""
    seconds = 1.5e-3 * np.exp(0.4 * random.standard_normal(n))
    slow = random.random(n) < 0.01
    return _capped(np.where(slow, seconds * (1 + random.pareto(1.0, n)), seconds))


def bursts(random: np.random.Generator, n: int) -> Floats:
    """Every ten minutes, at random, six seconds in which half of the operations take 8 times as long."""
    busy = np.zeros(n, bool)
    begins = np.flatnonzero(random.random(n) < 1 / 600)
    for begin, long in zip(begins, random.geometric(1 / 6, len(begins)), strict=True):
        busy[begin : begin + long] = True
    slow = busy & (random.random(n) < 0.5)
    return _capped(1.5e-3 * np.exp(0.4 * random.standard_normal(n)) * np.where(slow, 8.0, 1.0))


def memory(random: np.random.Generator, n: int) -> Floats:
    """Latencies that wander: each is much like the one before (20 s)."""
    return _capped(1e-3 * np.exp(walk(random, n, 0.4, 20) + 0.2 * random.standard_normal(n)))


def working_hours(random: np.random.Generator, n: int) -> Floats:
    """An op that takes up to 1.6 times as long on weekdays from 8 to 20 h, and varies with an hour's memory."""
    second = np.arange(n)
    weekday = second // DAY_S % 7 < 5
    hour = second % DAY_S / HOUR_S
    load = np.where(weekday, np.log(1.6) * np.maximum(0, np.sin(np.pi * (hour - 8) / 12)), 0)
    noise = 0.35 * random.standard_normal(n) + walk(random, n, 0.15, HOUR_S)
    return _capped(2e-3 * np.exp(load + noise))


MADE: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "floor and tail": floor_and_tail,
    "two modes, drifting": two_modes,
    "Pareto stragglers": stragglers,
    "short bursts": bursts,
    "memory of 20 s": memory,
    "working hours": working_hours,
}


def recorded(folder: Path | None = None) -> Iterator[tuple[str, Floats]]:
    """Name and latencies of each recorded series in order of time, rank after rank; none without the folder."""
    root = folder or Path(os.environ.get("IOSONDE_DATA", "../shared/data"))
    for path in sorted((root / "measuring" / "data").glob("mdreal-*.csv.gz")):
        table = np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="ascii")
        for op in sorted(set(table["op"].tolist())):
            rows = table[table["op"] == op]
            order = np.lexsort((rows["time_s"], rows["iter"], rows["rank"]))
            yield f"{path.name.split('-')[1]} {op}", rows["runtime_s"][order].astype(np.float64)
    for path in sorted((root / "measuring" / "mdtest").glob("mdtest-op-*.csv")):
        rows = np.genfromtxt(path, delimiter=",", names=True, encoding="ascii")
        yield f"mdtest {path.name.split('_')[1].split('-')[0]}", rows["runtime"].astype(np.float64)


def of_agent(store: Path | None = None) -> Iterator[tuple[str, Floats]]:
    """Name and latencies of each target and op of a recording in order of time; none without one.

    Time that the probing thread waited for a CPU is taken off, as the detectors do.
    """
    root = store or os.environ.get("IOSONDE_RECORDING")
    if not root:
        return
    for key, rows in recording.recorded(Path(root))[0].items():
        seconds = (rows.service_ns() - rows.queued_ns) / 1e9
        if len(known := seconds[seconds > 0]) >= LEAST:
            yield f"{key.target} {key.op}", known


def resampled(random: np.random.Generator, latencies: Floats, n: int, block: int) -> Floats:
    """Draw n latencies in blocks of consecutive ones; with block 1: independent draws."""
    known = latencies[latencies > 0]
    starts = random.integers(0, len(known), -(-n // block))
    rows = (starts[:, None] + np.arange(block)) % len(known)
    return _capped(known[rows.reshape(-1)[:n]])


def _capped(seconds: Floats) -> Floats:
    return np.minimum(seconds, LONGEST_S)
