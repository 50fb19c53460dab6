"""Compared measures of a run: rates of its phases and latencies of its operations, a value per repetition."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from iosonde.bench.runs.compare import main_rows
from iosonde.model.ops import op_order
from iosonde.model.runs import PHASE_ORDER, RunRow


class Measure(NamedTuple):
    """A column of a row. ``higher``: higher is better."""

    column: str
    name: str
    higher: bool = False


RATES = (Measure("rate_per_s", "ops/s", higher=True),)
LATENCIES = (
    Measure("q50_ns", "median"),
    Measure("mean_ns", "mean"),
    Measure("q99_ns", "q99"),
)
BANDWIDTHS = (
    Measure("last_bytes_per_s", "until the last rank", higher=True),
    Measure("first_bytes_per_s", "until the first rank", higher=True),
    Measure("sustained_bytes_per_s", "sustained", higher=True),
)
"""Bandwidth measures; the first is the one that a sentence names by default."""
TAILS = ("q99_ns", "first_bytes_per_s", "sustained_bytes_per_s")
"""Measures that are not required to be equal for a verdict ``same``."""


class Subject(NamedTuple):
    """Subject of a verdict: an op of a phase, or (``op`` None) the phase as a whole."""

    phase: str
    op: str | None


RunValues = dict[Subject, dict[Measure, tuple[float, ...]]]


def run_values(rows: Sequence[RunRow]) -> RunValues:
    """Positive values of every repetition of the main phase, at the smallest waiting factor.

    What is missing is left out. Where only ranks have rows, a repetition's value is the median over them.
    """
    main = main_rows(rows)
    least = min((row.waiting_factor for row in main), default=0.0)
    parts: dict[Subject, dict[tuple[int, int], list[RunRow]]] = {}
    for row in main:
        if row.waiting_factor == least:
            turns = parts.setdefault(Subject(row.phase, row.op), {})
            turns.setdefault((row.repetition, row.measurement), []).append(row)
    found: RunValues = {}
    for subject in sorted(parts, key=_order):
        repetitions = list(parts[subject].values())
        for measure in _measures(repetitions[0][0]):
            values = [_value(of_one, measure.column) for of_one in repetitions]
            present = tuple(value for value in values if value is not None)
            if present:
                found.setdefault(subject, {})[measure] = present
    return found


def _measures(row: RunRow) -> tuple[Measure, ...]:
    if row.op is not None:
        return () if row.instrument == "bandwidth" else LATENCIES
    return BANDWIDTHS if row.instrument == "bandwidth" else RATES


def _value(rows: Sequence[RunRow], column: str) -> float | None:
    values = [getattr(row, column) for row in rows]
    present = [float(value) for value in values if value is not None and value > 0]
    return median(present) if present else None


def _order(subject: Subject) -> tuple[int, str, int]:
    known = subject.phase in PHASE_ORDER
    place = PHASE_ORDER.index(subject.phase) if known else len(PHASE_ORDER)
    return place, subject.phase, -1 if subject.op is None else op_order(subject.op)
