"""Seconds and memory of `iosonde events` and `report` over a week.

``python -m benchmarks events [--days 8] [--targets 5] [--rounds 5] [--store DIR]`` makes a store (18 million samples),
asks once (results of spans that are over are kept then), and again ``--rounds`` times. The last of its days goes on
while it is asked about: half of a part of it (an eighth of a day) is not over.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchmarks import process
from benchmarks.speed import stores
from iosonde.engine.reader import SampleFilter
from iosonde.model.units import DAY_NS, to_datetime
from iosonde.weather.events.pieces.spans import PART_NS
from iosonde.weather.rollups.rollups import rollups


def main(
    days: int = 8,
    targets: int = 5,
    rounds: int = 5,
    store: Path | None = None,  # a store that was made before, or shall stay
) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="iosonde-events-") as folder:
        root = store or Path(folder) / "store"
        stores.make(root, stores.week_like(targets), days)
        rollups(root, SampleFilter())
        until_ns = stores.START_NS + days * DAY_NS - DAY_NS // 2 + PART_NS // 2
        since, until = (
            to_datetime(ns).strftime("%Y-%m-%dT%H:%M") for ns in (until_ns - 7 * DAY_NS, until_ns)
        )
        span = ("--store", root, "--since", since, "--until", until)
        report = ("report", "/work0", *span, "-o", Path(folder) / "report.html")
        print(f"{'a week, 6 ops at 1 Hz':<44} {'median s':>9} {'peak MiB':>9}")
        for name, times, words in (
            (f"events of {targets} targets, the first time", 1, ("events", *span)),
            (f"events of {targets} targets", rounds, ("events", *span)),
            ("events of one target", rounds, ("events", "/work0", *span)),
            ("report of one target", rounds, report),
        ):
            if "first" in name:
                shutil.rmtree(root / "judged", ignore_errors=True)
            took = process.command(*words, rounds=times)
            print(f"{name:<44} {took.wall_s:>9.2f} {took.peak_mib:>9.0f}", flush=True)
