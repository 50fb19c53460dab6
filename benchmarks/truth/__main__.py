"""Print the table: ``python -m benchmarks.truth [--seed N] [--only T8] [--scale 0.2]``."""

from __future__ import annotations

import argparse
import time

from benchmarks import machine
from benchmarks.truth import table


def main() -> None:
    """One row a figure, target by target."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.truth", description=__doc__)
    parser.add_argument("--seed", type=int, help="another seed for every target")
    parser.add_argument("--only", action="append", choices=list(table.TARGETS), metavar="T8")
    parser.add_argument("--scale", type=float, default=1.0, help="smaller is quicker (1.0)")
    options = parser.parse_args()
    print(machine.line())
    for name in options.only or table.TARGETS:
        seed = table.SEEDS[name] if options.seed is None else options.seed
        began = time.monotonic()
        rows = table.TARGETS[name](seed, options.scale)
        print(f"\n{name}, seed {seed}, {time.monotonic() - began:.0f} s")
        print("\n".join(table.lines(rows)), flush=True)


if __name__ == "__main__":
    main()
