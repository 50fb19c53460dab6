"""Commands of two source trees, run alternately: shows a slower one.

    python -m benchmarks two_trees OLD NEW [--rounds 7] [--table TABLE.csv --mapping FOLDER --job ID]

OLD, NEW: checkouts, each with its own built extension in ``src/iosonde``. The store is simulated by OLD: a day of two
targets at 1 Hz, reads on one of them three times slower from the twentieth hour on. A round is OLD NEW NEW OLD.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HOUR_NS = 3_600_000_000_000
LATENCY = {
    "sigma": 0.35,
    **{"data_read": "3ms", "data_write": "5ms", "md_create": "900us"},
    **{"md_stat": "120us", "md_read": "600us", "md_delete": "700us"},
}
SIMULATE = (
    "import sys; from iosonde import _core; _core.simulate(sys.argv[1], *map(int, sys.argv[2:]))"
)


def run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(tree / "src"), "TZ": "UTC"}
    return subprocess.run(
        [sys.executable, *words], env=environ, capture_output=True, text=True, check=False
    )


def seconds(*words: str) -> Callable[[Path], float]:
    """How long a command takes."""

    def timed(tree: Path) -> float:
        began = time.perf_counter()
        done = run(tree, "-m", "iosonde.cli.main", *words)
        took = time.perf_counter() - began
        if done.returncode and "Traceback" not in done.stderr and words[0] == "check":
            return took  # its code is its answer
        if done.returncode:
            sys.exit(f"{tree}: {' '.join(words)}: {done.stderr}")
        return took

    return timed


def pace(place: Path) -> Callable[[Path], float]:
    """Seconds an operation of the metadata benchmark, one rank, two repetitions."""
    words = ("bench", "metadata", str(place), "-D", "10", "-P", "300", "-I", "300")

    def timed(tree: Path) -> float:
        text = run(
            tree,
            *("-m", "iosonde.cli.main", *words, "--no-store", "--seed", "5", "--format", "json"),
        ).stdout
        whole = [
            row["rate_per_s"]
            for row in json.loads(text)["rows"]
            if row["phase"] == "benchmark" and row["op"] is None and row["rank"] is None
        ]
        return 1.0 / statistics.median(whole)

    return timed


def simulate(tree: Path, store: Path) -> None:
    slow = [{"op": "data_read", "after": "20h", "multiply": 3.0}]
    targets = [
        {"path": name, "name": name, "backend": "null", "latency": LATENCY, "fault": faults}
        for name, faults in (("/work", slow), ("/home", []))
    ]
    config = {"store": str(store), "host": "login1", "seed": 7, "target": targets}
    begin = time.time_ns() - 24 * HOUR_NS
    run(tree, "-c", SIMULATE, json.dumps(config), str(begin), str(24 * HOUR_NS))
    run(tree, "-m", "iosonde.cli.main", "seal", "--store", str(store))


def main(
    old: Path,
    new: Path,
    *,
    rounds: int = 7,
    table: Path | None = None,  # table of jobs for explain
    mapping: Path | None = None,
    job: str = "",
) -> None:
    trees = (old.resolve(), new.resolve())
    print(f"{rounds} rounds ABBA; NEW / OLD in seconds\n")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        store, place = Path(folder) / "store", Path(folder) / "place"
        place.mkdir()
        simulate(trees[0], store)
        at = ("--store", str(store))
        cases = {
            "now": seconds("now", *at),
            "slowdown, a day of 2 targets": seconds("slowdown", "--since", "-1d", *at),
            "events of that day": seconds("events", *at),
            "check": seconds("check", *at),
            "why": seconds("why", *at),
            "report of that day": seconds(
                "report", "--since", "-1d", "-o", f"{folder}/report.html", *at
            ),
            "bursts of that day": seconds("bursts", "--since", "-1d", *at),
            "bench metadata, 1 rank, an op": pace(place),
        }
        if table:
            given = ("--mapping", str(mapping)) if mapping else ()
            cases["explain"] = seconds("explain", "--job", job, str(table), *given)
        print(f"{'case':32}{'old':>12}{'new':>12}{'ratio':>8}  (least-most)")
        for name, measure in cases.items():
            compare(name, measure, trees, rounds)


def compare(
    name: str, measure: Callable[[Path], float], trees: tuple[Path, Path], rounds: int
) -> None:
    old, new = trees
    for tree in trees:
        measure(tree)
    ratios, olds, news = [], [], []
    for _ in range(rounds):
        first, second, third, fourth = (measure(tree) for tree in (old, new, new, old))
        olds += [first, fourth]
        news += [second, third]
        ratios.append((second + third) / (first + fourth))
    middle = statistics.median
    print(
        f"{name:32}{middle(olds):12.3g}{middle(news):12.3g}{middle(ratios):8.3f}"
        f"  ({min(ratios):.2f}-{max(ratios):.2f})",
        flush=True,
    )
