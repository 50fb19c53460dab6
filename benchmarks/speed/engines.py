"""Cost of a Dask cluster: one question by threads and by two workers on the same machine.

    python -m benchmarks engines --days 1 2 4 8

Stores of ten targets at 1 Hz; asked are windows of ten minutes with all statistics, in turns (ABBA). Both engines
have the same two processors, so what the workers take longer is what a cluster costs: ``start`` once a question and
``more`` a slice, fitted to the sizes. With ``tau`` seconds of one processor a slice, a machine of c processors takes
``tau / c`` a slice, a cluster of C at most ``tau / C + more``: as if nothing of what it adds ran side by side.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.speed import stores
from iosonde.engine import cluster
from iosonde.engine.slices import SLICE_ROWS
from iosonde.weather.store import Store
from tests.kit.servers.cluster import Cluster

WINDOW_NS = 600_000_000_000
SHAPE = stores.week_like(10)
OURS, OTHERS = (4, 16, 64), (2, 4, 8, 16)
"""Processors of a machine, and how many times as many a cluster has."""


def seconds(root: Path, url: str) -> float:
    """Of one question by the engine at ``url``."""
    os.environ["IOSONDE_ENGINE"] = url
    began = time.perf_counter()
    Store(root).windows(WINDOW_NS)
    return time.perf_counter() - began


def alternately(root: Path, url: str, rounds: int) -> tuple[float, float]:
    """Medians of threads and of the cluster, in turns."""
    found: dict[str, list[float]] = {"threads:": [], url: []}
    for one in (*found, *found):
        seconds(root, one)
    for turn in range(rounds):
        for one in ("threads:", url) if turn % 2 else (url, "threads:"):
            found[one].append(seconds(root, one))
    ours, theirs = (statistics.median(times) for times in found.values())
    return ours, theirs


def main(days: Sequence[int] = (1, 2, 4, 8), rounds: int = 6) -> None:
    """Print times by size, what a cluster costs, and from how many samples it pays."""
    rows: list[tuple[float, float, float]] = []
    with tempfile.TemporaryDirectory(prefix="iosonde-engines-") as folder:
        root, logs = Path(folder) / "store", Path(folder) / "logs"
        logs.mkdir()
        both = Cluster(logs, 2, {"PYTHONPATH": os.pathsep.join(sys.path)})
        try:
            print(f"{'samples':>12} {'threads s':>10} {'2 workers s':>12}  ratio")
            for length in sorted(days):
                samples = stores.make(root, SHAPE, length)
                ours, theirs = alternately(root, both.url, rounds)
                rows.append((samples / SLICE_ROWS, ours, theirs))
                print(f"{samples:12,} {ours:10.2f} {theirs:12.2f}  {theirs / ours:.2f}", flush=True)
        finally:
            cluster.close()
            both.close()
    if len(rows) > 1:
        print(_verdict(np.array(rows)))


def _verdict(rows: np.ndarray) -> str:
    """What fits the times, and how much quicker larger clusters are than larger machines."""
    slices, ours, theirs = rows.T
    tau = 2 * float(np.polyfit(slices, ours, 1)[0])
    more, start = (float(one) for one in np.polyfit(slices, theirs - ours, 1))
    start, more = max(start, 0.0), max(more, 0.0)
    lines = [
        f"a slice ({SLICE_ROWS:,} samples): {tau:.2f} s of a processor; "
        f"a cluster adds {start:.2f} s a question and {more:.3f} s a slice",
        "times as quick as the machine, of questions with more slices than processors",
        f"{'processors here':>16}" + "".join(f"{f'{times}x there':>11}" for times in OTHERS),
    ]
    for here in OURS:
        there = (tau / (here * times) + more for times in OTHERS)
        lines.append(f"{here:16}" + "".join(f"{tau / here / one:11.2f}" for one in there))
    return "\n".join(lines)
