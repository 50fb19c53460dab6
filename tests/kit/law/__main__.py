"""Holds stores to the law: ``python -m tests.kit.law --schedules 2000 --steps 200 --folders 20 --seed 1``.

Prints rows of the table of ``make mischief``: stores in memory, and stores on disk with real files. A schedule that
breaks the law prints its log and the command that repeats it, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from iosonde.weather import seal
from tests.kit.law import folders
from tests.kit.law.schedule import Outcome, run

FOLDER_STEPS = 25


def on_disk(seed: int) -> Outcome:
    """One schedule over real stores."""
    seal.this_host = lambda: "login2"
    with tempfile.TemporaryDirectory(prefix="law-") as folder:
        return folders.outcome(seed, FOLDER_STEPS, Path(folder))


def main() -> int:
    """The table's rows; 1 on a violation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--folders", type=int, default=20, help="schedules over real files")
    parser.add_argument("--seed", type=int, default=1, help="of the first schedule")
    args = parser.parse_args()
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        seeds = range(args.seed, args.seed + args.schedules)
        wrong = _table(
            "rows in memory",
            pool.map(partial(run, steps=args.steps), seeds, chunksize=20),
            f"--steps {args.steps} --folders 0 --schedules 1",
        )
        seeds = range(args.seed, args.seed + args.folders)
        wrong += _table("rows on disk", pool.map(on_disk, seeds), "--schedules 0 --folders 1")
    return 1 if wrong else 0


def _table(kind: str, outcomes: Iterator[Outcome], again: str) -> int:
    """One row; how many violations."""
    tried = kills = steps = wrong = 0
    met: Counter[str] = Counter()
    seed = ""
    for one in outcomes:
        tried, kills, steps, met = tried + 1, kills + one.kills, steps + one.steps, met + one.met
        seed = seed or str(one.seed)
        if one.violation:
            wrong += 1
            print(*one.log, one.violation, sep="\n")
            print(f"again: python -m tests.kit.law {again} --seed {one.seed}")
    if tried:
        print(
            f"{kind:<20} {tried:>8} {wrong:>11}  {seed}   {steps} steps, {kills} kills, {dict(met)}"
        )
    return wrong


if __name__ == "__main__":
    sys.exit(main())
