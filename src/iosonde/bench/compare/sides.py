"""What doors call: two sides of benchmark runs, a run or several each, against each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.bench.compare.alike import others_alike
from iosonde.bench.compare.judge import SubjectVerdict, judge
from iosonde.bench.compare.measures import RunValues, run_values
from iosonde.bench.runs.store import StoredRun, read_runs
from iosonde.model.errors import NothingMeasuredError, UsageError

SWEEP = "nfs"


@dataclass(frozen=True, slots=True)
class RunComparison:
    """B as seen from A. ``others``: runs of the store, alike, that showed how far apart two runs lie."""

    a: tuple[StoredRun, ...]
    b: tuple[StoredRun, ...]
    verdicts: tuple[SubjectVerdict, ...]
    others: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    margin: float


def compare_runs(
    root: Path,
    a: Sequence[StoredRun],
    b: Sequence[StoredRun],
    margin: float,
    ops: Collection[str] | None = None,
) -> RunComparison:
    """The verdicts; ``ops``: of these operations only.

    Raises UsageError for what cannot be compared, NothingMeasuredError, StoreError.
    """
    _check(a, b)
    sides = [[run_values(run.rows) for run in side] for side in (a, b)]
    if ops is not None:
        sides = [[_of_ops(run, ops) for run in side] for side in sides]
    groups: tuple[list[StoredRun], list[StoredRun]] = ([], [])
    if len(a) == len(b) == 1:
        groups = others_alike(a[0], b[0], read_runs(root))
    others: list[list[RunValues]] = [[run_values(run.rows) for run in group] for group in groups]
    found = judge(sides[0], sides[1], others, margin)
    phases = [{one.phase for run in side for one in run} for side in sides]
    if not found:
        raise NothingMeasuredError(
            "the runs have no rate and no operation in common",
            expected=f"phases of one kind; A has {_named(phases[0])}, B has {_named(phases[1])}",
        )
    return RunComparison(
        tuple(a),
        tuple(b),
        tuple(found),
        sum(max(0, len(group) - 1) for group in groups),
        tuple(sorted(phases[0] - phases[1])),
        tuple(sorted(phases[1] - phases[0])),
        margin,
    )


def _check(a: Sequence[StoredRun], b: Sequence[StoredRun]) -> None:
    ids = [run.run_id for run in (*a, *b)]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is named twice", expected="different runs")
    kinds = list(dict.fromkeys(run.rows[0].instrument for run in (*a, *b)))
    if len(kinds) > 1:
        raise UsageError(
            f"a {kinds[0]} run and a {kinds[1]} run measure different things",
            expected="runs of one benchmark",
            hint="'iosonde runs'",
        )
    if kinds[0] == SWEEP:
        raise UsageError(
            "an NFS sweep has no repetitions: each of its measurements has another rate of writes",
            hint="'iosonde runs RUN' of each",
        )


def _of_ops(run: RunValues, ops: Collection[str]) -> RunValues:
    return {subject: values for subject, values in run.items() if subject.op in ops}


def _named(phases: set[str]) -> str:
    return ", ".join(sorted(phases)) or "none"
