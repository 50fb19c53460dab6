"""Whole commands about jobs on a table of many: start of Python, reading and all.

``python -m benchmarks.job_commands TABLE --job ID [--step S]``: a table as ``iosonde explain --diagram`` takes it.
Each command runs in a process of its own, three times; the median time and the largest memory are printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import machine

TIMES = 3


def timed(words: list[str]) -> tuple[float, float]:
    """Median s and largest MiB of a command."""
    took, peak = [], 0.0
    for _ in range(TIMES):
        begin = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, "-m", "iosonde.cli.main", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"iosonde {' '.join(words)} ended with {child.returncode}")
        took.append(time.perf_counter() - begin)
        peak = max(peak, usage.ru_maxrss / 1024)
    return statistics.median(took), peak


def main() -> None:
    """Print a line a command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.job_commands", description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--job", required=True)
    parser.add_argument("--step", default="#1")
    options = parser.parse_args()
    table, job = str(options.table), ["--job", options.job, "--step", options.step]
    print(machine.line())
    with tempfile.TemporaryDirectory() as folder:
        store, picture = ["--store", f"{folder}/store"], ["--plot", f"{folder}/picture.png"]
        commands = {
            "explain TABLE --job ID": ["explain", table, *job],
            "import TABLE": ["import", table, *store],
            "explain --job ID (store)": ["explain", *job, *store],
            "umami TABLE --job ID --plot": ["umami", table, *job, *picture],
            "correlate TABLE --metrics all": ["correlate", table, "--metrics", "all"],
            "climate TABLE --plot": ["climate", table, *picture],
            "climate TABLE --motifs": ["climate", table, "--motifs"],
            "climate TABLE --validate": ["climate", table, "--validate"],
        }
        for name, words in commands.items():
            seconds, peak = timed(words)
            print(f"{name:32} {seconds:6.2f} s {peak:6.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
