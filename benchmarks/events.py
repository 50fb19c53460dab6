"""Events and reports of a week: seconds and memory of whole commands.

``python -m benchmarks.events [--days 8] [--targets 5] [--rounds 5] [--store DIR]`` makes a store (18 million samples),
asks once (results of spans that are over are kept then), and again ``--rounds`` times. The last of its days goes on
while it is asked about: half of a part of it (an eighth of a day) is not over.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

from benchmarks import machine, season_store
from benchmarks.month import START_NS, command
from iosonde.engine.reader import SampleFilter
from iosonde.model.units import DAY_NS, to_datetime
from iosonde.weather.events.pieces.spans import PART_NS
from iosonde.weather.rollups.rollups import rollups


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.events", description=__doc__)
    parser.add_argument("--days", type=int, default=8)
    parser.add_argument("--targets", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--store", type=Path, help="a store that was made before, or shall stay")
    options = parser.parse_args()
    print(machine.line())
    with tempfile.TemporaryDirectory(prefix="iosonde-events-") as folder:
        root = options.store or Path(folder)
        season_store.make(root, options.days, options.targets)
        rollups(root, SampleFilter())
        _table(root, options)


def _table(root: Path, options: argparse.Namespace) -> None:
    until_ns = START_NS + options.days * DAY_NS - DAY_NS // 2 + PART_NS // 2
    since, until = (
        to_datetime(ns).strftime("%Y-%m-%dT%H:%M") for ns in (until_ns - 7 * DAY_NS, until_ns)
    )
    span = ("--store", root, "--since", since, "--until", until)
    report = ("report", "/work0", *span, "-o", root.parent / "iosonde-report.html")
    print(f"{'a week, 6 ops at 1 Hz':<44} {'median s':>9} {'peak MiB':>9}")
    for name, rounds, words in (
        (f"events of {options.targets} targets, the first time", 1, ("events", *span)),
        (f"events of {options.targets} targets", options.rounds, ("events", *span)),
        ("events of one target", options.rounds, ("events", "/work0", *span)),
        ("report of one target", options.rounds, report),
    ):
        if "first" in name:
            shutil.rmtree(root / "judged", ignore_errors=True)
        runs = [command(*words) for _ in range(rounds)]
        took = statistics.median(seconds for seconds, _ in runs)
        print(f"{name:<44} {took:>9.2f} {max(peak for _, peak in runs):>9.0f}", flush=True)


if __name__ == "__main__":
    main()
