"""iosonde against made and recorded data whose answer is known: a row a figure.

    python -m benchmarks truth [--only T8 "why slow"] [--seed N] [--scale 0.2]

Generators whose answer is known, and what iosonde makes of them, beside the prototype's figure and what the plain way
(for latencies the ratio of medians) says on the same data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from benchmarks.truth import table
from benchmarks.truth.bench import coverage, waiting
from benchmarks.truth.jobs import causes, explained, published, scheduled, units, why_slow
from benchmarks.truth.target import Row
from benchmarks.truth.weather import (
    agree,
    busy,
    estimators,
    fleets,
    nulls,
    raised,
    recorded,
    repeats,
    verdicts,
)
from benchmarks.truth.why import remedies, whole_answer

TARGETS: dict[str, tuple[Callable[[int, float], list[Row]], int]] = {
    "T1": (estimators.t1, 4000),
    "T2": (estimators.t2, 101),
    "T3": (estimators.t3, 111),
    "T4": (estimators.t4, 7000),
    "T5": (estimators.t5, 1000),
    "T6": (recorded.t6, 23),
    "T7": (recorded.t7, 101),
    "T8": (raised.t8, 9501),
    "T9": (verdicts.t9, 3000),
    "T10": (verdicts.t10, 44),
    "T11": (verdicts.t11, 8),
    "T12": (explained.t12, 77),
    "T13": (explained.t13, 79),
    "suspects": (explained.suspected, 82),
    "T14": (explained.t14, 78),
    "T15": (published.t15, 0),
    "T16": (explained.t16, 80),
    "T19": (waiting.t19, 1),
    "T20": (waiting.t20, 61),
    "adaptive": (waiting.adaptive, 61),
    "noise": (waiting.noise, 62),
    "coverage": (coverage.coverage, 63),
    "lasting": (explained.lasting, 81),
    "nulls": (nulls.nulls, 9701),
    "odd": (nulls.odd, 9751),
    "cached": (nulls.cached, 9771),
    "repeats": (repeats.repeats, 9761),
    "agree": (agree.agree, 9801),
    "scheduled": (scheduled.scheduled, 1701),
    "busy": (busy.busy, 9901),
    "units": (units.units, 1804),
    "why slow": (why_slow.why_slow, 9918),
    "causes": (causes.causes, 9919),
    "incidents": (whole_answer.incidents, 20_000),
    "remedies": (remedies.remedies, 30_000),
    "fleet": (fleets.fleets, 21_000),
    "peers": (fleets.peers, 22_000),
}
"""What measures each target, and the seed that is used unless another is asked for."""


def rows(name: str, scale: float, seed: int | None = None) -> list[Row]:
    """The rows of one target; a smaller scale is quicker."""
    measure, usual = TARGETS[name]
    return measure(usual if seed is None else seed, scale)


def main(seed: int | None = None, only: Sequence[str] = (), scale: float = 1.0) -> None:
    """Print the tables; ``only``: names of targets."""
    if wrong := set(only) - set(TARGETS):
        raise SystemExit(f"no target {', '.join(wrong)}; expected some of: {', '.join(TARGETS)}")
    for name in only or TARGETS:
        began = time.monotonic()
        found = rows(name, scale, seed)
        used = TARGETS[name][1] if seed is None else seed
        print(f"\n{name}, seed {used}, {time.monotonic() - began:.0f} s")
        print("\n".join(table.lines(found)), flush=True)
