"""The table: ``python -m benchmarks.locate_truth [--seeds N] [--first N] [--osts 144] [--noise ...] [--fault ost]``."""

from __future__ import annotations

import argparse

from benchmarks import machine
from benchmarks.locate_truth.judge import KINDS, NOISES, judge, tellable
from benchmarks.locate_truth.systems import SIZES


def main() -> None:
    """A row a noise and size; a column a fault: right component and kind / any false finding."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.locate_truth", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--osts", type=int, action="append", choices=SIZES)
    parser.add_argument("--noise", action="append", choices=list(NOISES))
    parser.add_argument("--fault", action="append", choices=KINDS)
    options = parser.parse_args()
    faults = options.fault or KINDS
    print(machine.line())
    print(
        f"{options.seeds} seeds from {options.first}; right component and kind / runs with a false finding\n"
    )
    print("| noise | OSTs | " + " | ".join(faults) + " |")
    print("|---" * (len(faults) + 2) + "|")
    for noise in options.noise or NOISES:
        for osts in options.osts or SIZES:
            cells = [_cell(osts, noise, fault, options.first, options.seeds) for fault in faults]
            print(f"| {noise} | {osts} | " + " | ".join(cells) + " |", flush=True)


def _cell(osts: int, noise: str, fault: str, first: int, seeds: int) -> str:
    if not tellable(osts, NOISES[noise], fault):
        return "-"
    every = [judge(osts, NOISES[noise], fault, seed) for seed in range(first, first + seeds)]
    return f"{_share([v.right for v in every])} / {_share([v.false for v in every])}"


def _share(flags: list[bool]) -> str:
    return f"{sum(flags) / len(flags):.2f}"


if __name__ == "__main__":
    main()
