"""A season of many targets at 1 Hz: windows of ten minutes with all statistics, against a query by hand.

``python -m benchmarks.season --days 30 --targets 10`` makes 155 million samples (1.8 GB), then asks in
processes of their own, turn by turn (hand, ours, ours, hand), and prints seconds, peak memory and ratio:

- *by hand*: the statement that somebody who knows SQL would write, with the points of all statistics and
  no interval;
- *windows*: all columns of windows.toml, with intervals; *levels*: with nineteen levels and their ends too;
- *rolled*: the same from roll-ups: when they are made, when they are there, and when a day is new.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from benchmarks import machine, season_store
from iosonde.engine.layout.segments import rollup_segments
from iosonde.weather.store import Store

Run = tuple[float, float, float, int]
WINDOW_NS = 600_000_000_000
_DAY_FILES = 24
_HAND = """
SELECT host, target, op, period_ns, due_ns // {window} * {window} AS start_ns,
    count(*) FILTER (outcome <> 'shed') AS n_due, count(*) FILTER (outcome = 'ok') AS n_seen,
    avg(ended_ns - began_ns) FILTER (outcome = 'ok') AS mean_ns,
    min(ended_ns - began_ns) FILTER (outcome = 'ok') AS min_ns,
    max(ended_ns - began_ns) FILTER (outcome = 'ok') AS max_ns,
    quantile_disc(ended_ns - began_ns, [{quantiles}]) FILTER (outcome = 'ok') AS q,
    quantile_disc(control_runq_ns, 0.5) FILTER (outcome = 'ok') AS runq_q50_ns,
    quantile_disc(began_ns - due_ns, 0.5) FILTER (outcome = 'ok') AS late_q50_ns,
    quantile_disc(ended_ns - due_ns, 0.99) AS response_q99_ns
FROM read_parquet('{files}', hive_partitioning = false) GROUP BY ALL ORDER BY ALL
"""


def hand(root: Path) -> int:
    """The bare query."""
    quantiles = "0.25, 0.5, 0.75, 0.9, 0.95, 0.99"
    files = f"{root}/samples/*/*/*.parquet"
    with duckdb.connect() as con:
        found = con.execute(_HAND.format(window=WINDOW_NS, quantiles=quantiles, files=files))
        return len(found.fetchnumpy()["n_due"])


def windows(root: Path) -> int:
    """All columns of windows.toml."""
    return len(Store(root).windows(WINDOW_NS))


def levels(root: Path) -> int:
    """With the block of levels."""
    return len(Store(root).windows(WINDOW_NS, levels=True))


def rolled(root: Path) -> int:
    """From roll-ups."""
    return len(Store(root).rolled_windows(WINDOW_NS))


def rolled_levels(root: Path) -> int:
    """From roll-ups, with the block of levels."""
    return len(Store(root).rolled_windows(WINDOW_NS, levels=True))


_ASKED = {f.__name__: f for f in (hand, windows, levels, rolled, rolled_levels)}


def ask(what: str, root: Path) -> Run:
    """Seconds, CPU seconds, peak MiB and windows of one question in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.season", "--ask", what, "--store", str(root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    return tuple(answer[name] for name in ("seconds", "cpu", "peak_mib", "windows"))


def _answer(what: str, root: Path) -> None:
    began, cpu = time.monotonic(), time.process_time()
    found = _ASKED[what](root)
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "cpu": cpu, "peak_mib": peak_mib, "windows": found}))


def _line(name: str, runs: list[Run], note: str = "") -> None:
    seconds = statistics.median(run[0] for run in runs)
    cpu = statistics.median(run[1] for run in runs)
    peak = max(run[2] for run in runs)
    numbers = f"{seconds:>9.2f} {cpu:>9.2f} {peak:>9.0f} {runs[0][3]:>9}"
    print(f"{name:<48} {numbers} {note}", flush=True)


def compare(root: Path, rounds: int) -> None:
    """Hand and ours in turns, in one run."""
    runs: dict[str, list[Run]] = {"hand": [], "windows": []}
    for _ in range(rounds):
        for what in ("hand", "windows", "windows", "hand"):
            runs[what].append(ask(what, root))
    pairs = zip(runs["windows"], runs["hand"], strict=True)
    ratio = statistics.median(ours[0] / bare[0] for ours, bare in pairs)
    _line("by hand, points only", runs["hand"])
    _line("windows, all statistics with intervals", runs["windows"], f"{ratio:.2f} of by hand")
    _line("windows with levels", [ask("levels", root)])


def roll(root: Path, rounds: int) -> None:
    """Roll-ups: made, read, and made for one more day."""
    shutil.rmtree(root / "rollups", ignore_errors=True)
    _line("from roll-ups, all to be made", [ask("rolled", root)])
    _line("from roll-ups", [ask("rolled", root) for _ in range(2 * rounds)])
    _line("from roll-ups, with levels", [ask("rolled_levels", root) for _ in range(rounds)])
    runs = []
    for _ in range(rounds):
        for segment in rollup_segments(root)[-_DAY_FILES:]:
            segment.path.unlink()
        runs.append(ask("rolled", root))
    _line("from roll-ups, one more day", runs)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.season")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--targets", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--store", type=Path, help="kept, and used again if it is there")
    parser.add_argument("--ask", choices=_ASKED, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.ask:
        _answer(chosen.ask, chosen.store)
        return
    with tempfile.TemporaryDirectory(prefix="iosonde-season-") as folder:
        root = chosen.store or Path(folder)
        season_store.make(root, chosen.days, chosen.targets)
        samples = chosen.days * chosen.targets * 86_400 * 6
        sizes = {
            table: sum(file.stat().st_size for file in (root / table).rglob("*.parquet"))
            for table in ("samples",)
        }
        print(machine.line())
        print(
            f"{chosen.days} days of {chosen.targets} targets, {samples / 1e6:.1f} M samples, "
            f"{sizes['samples'] / 1e9:.2f} GB; windows of 10 min"
        )
        print(f"{'':<48} {'median s':>9} {'CPU s':>9} {'peak MiB':>9} {'windows':>9}")
        compare(root, chosen.rounds)
        roll(root, chosen.rounds)
        made = sum(file.stat().st_size for file in (root / "rollups").rglob("*.parquet"))
        per_day = made / chosen.days / chosen.targets / 1e6
        print(f"roll-ups take {per_day:.3f} MB a day and target")


if __name__ == "__main__":
    main()
