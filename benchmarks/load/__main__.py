"""Generated weeks against what attribution says: ``python -m benchmarks.load [--seeds 5] [--phased 0.5]``."""

from __future__ import annotations

import argparse

from benchmarks import machine
from benchmarks.load.judge import judge
from benchmarks.load.week import Cluster, generate


def main() -> None:
    """A row a seed: error, recall of the ten largest and share within bounds, on both kinds of node."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--phased", type=float, default=0.0)
    given = parser.parse_args()
    print(machine.line())
    print(f"196 nodes, 23,500 jobs, 7 days at 30 s; {given.phased:.0%} in one part of their run\n")
    print("| seed | exclusive: error | recall | bounded | shared: error | recall | bounded |")
    print("|---" * 7 + "|")
    for seed in range(1, given.seeds + 1):
        cells = [
            f"{one:.3f}"
            for found in judge(generate(Cluster(phased=given.phased), seed))
            for one in found
        ]
        print(f"| {seed} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
