"""`iosonde compare RUN RUN`: verdicts on equal runs and on a known shift.

``python -m benchmarks compare_runs`` prints worlds that the formula does not know. With ``--store DIR`` it takes real
repeated runs out of a store instead, all asked for alike: neighbours alone with the others as witnesses, and in turn
in threes and fives; the shift is put on their values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from iosonde.bench.compare.judge import judge
from iosonde.bench.compare.measures import LATENCIES, RATES, RunValues, Subject, run_values
from iosonde.bench.runs.store import read_runs

OPS = (None, "md_create", "md_stat", "md_read", "md_delete")
SHIFTS = (1.0, 1.2, 1.5, 2.0, 4.0)
Draw = Callable[[np.random.Generator], float]
WORLDS: dict[str, Draw] = {
    "run to run 5 %": lambda rng: rng.normal(0, 0.05),
    "run to run 20 %": lambda rng: rng.normal(0, 0.2),
    "heavy tails (t, 2.5)": lambda rng: rng.standard_t(2.5) * 0.1,
    "two modes, twice apart": lambda rng: rng.choice([0.0, 0.7]) + rng.normal(0, 0.02),
    "rarely ten times": lambda rng: (rng.random() < 0.1) * 2.3 + rng.normal(0, 0.03),
}


def made(rng: np.random.Generator, draw: Draw, common: float) -> RunValues:
    """One run: each subject has an offset of its own and shares one; repetitions scatter by 3 %."""
    found: RunValues = {}
    for op in OPS:
        values = np.exp(common + draw(rng) + rng.normal(0, 0.03, 3))
        measures = RATES if op is None else LATENCIES
        found[Subject("benchmark", op)] = {one: tuple(values.tolist()) for one in measures}
    return found


def shifted(run: RunValues, factor: float) -> RunValues:
    """The same with longer latencies and smaller rates."""
    return {
        subject: {
            one: tuple(value / factor if one.higher else value * factor for value in values)
            for one, values in measures.items()
        }
        for subject, measures in run.items()
    }


def different(a: list[RunValues], b: list[RunValues], others: list[list[RunValues]]) -> bool:
    """Whether any subject is called slower or faster."""
    return any(one.verdict in ("slower", "faster") for one in judge(a, b, others, 1.2))


def worlds(pairs: int) -> None:
    """Pairs of worlds, alone, with four other runs a side, and three and five a side."""
    print("| world | runs a side | " + " | ".join(f"x{shift:g}" for shift in SHIFTS) + " |")
    for name, draw in WORLDS.items():
        for label, n, more in (("1", 1, 0), ("1, 8 others", 1, 4), ("3", 3, 0), ("5", 5, 0)):
            rng = np.random.default_rng(7)
            hits = np.zeros(len(SHIFTS))
            for _ in range(pairs):
                runs = [made(rng, draw, 0.5 * draw(rng)) for _ in range(2 * n + 2 * more)]
                a, b, rest = runs[:n], runs[n : 2 * n], runs[2 * n :]
                for place, shift in enumerate(SHIFTS):
                    moved = [shifted(run, shift) for run in b]
                    late = [shifted(run, shift) for run in rest[more:]]
                    groups = [[*rest[:more], *a], [*moved, *late]] if more else []
                    hits[place] += different(a, moved, groups)
            print(f"| {name} | {label} | " + " | ".join(f"{h / pairs:.1%}" for h in hits) + " |")


def real(store: Path) -> None:
    """Runs of a store, by target."""
    targets: dict[str, list[RunValues]] = defaultdict(list)
    for run in read_runs(store):
        targets[run.rows[0].target].append(run_values(run.rows))
    print("| target | runs a side | pairs | " + " | ".join(f"x{s:g}" for s in SHIFTS) + " |")
    for target, runs in targets.items():
        for label, k in (("1, alone", 1), ("1, with the others", 1), ("3", 3), ("5", 5)):
            starts = range(len(runs) - 2 * k + 1)
            hits = np.zeros(len(SHIFTS))
            for at in starts:
                a, b = runs[at : at + 2 * k : 2], runs[at + 1 : at + 2 * k : 2]
                for place, shift in enumerate(SHIFTS):
                    moved = [shifted(run, shift) for run in b]
                    later = [shifted(run, shift) for run in runs[at + 2 :]]
                    groups = [[*runs[:at], *a], [*moved, *later]] if "others" in label else []
                    hits[place] += different(a, moved, groups)
            shares = " | ".join(f"{hit / len(starts):.0%}" for hit in hits)
            print(f"| {target} | {label} | {len(starts)} | {shares} |")


def main(pairs: int = 300, store: Path | None = None) -> None:
    """Print the tables."""
    if store is None:
        worlds(pairs)
    else:
        real(store)
