"""Tallies of ranks in a phase: counts, histograms and series that add up; single operations never travel.

``RankTally``: one rank · ``PhaseTally``: ranks of a phase added up. Both hold an ``OpTally`` for each op.
Arrays inside are numpy's, so mpi4py sends a tally as the bytes of its arrays and a few numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from iosonde.bench.runtime.op_tally import OpTally, add_counts, present
from iosonde.bench.runtime.series import BinnedSeries

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class RankTally:
    """Tally of one rank in one phase. ``end``: done, limit, stopped, failing, or hanging (it did not answer)."""

    rank: int
    began_ns: int | None
    duration_ns: int
    end: str
    steps: int
    of_steps: int
    waited_ns: int
    cpu_ns: int
    ops: tuple[OpTally, ...]
    rows_left_out: int = 0
    problems: tuple[tuple[str, str], ...] = ()
    """The storage's message on the first failure of each outcome."""
    series: Mapping[str, BinnedSeries] = field(default_factory=dict)
    """Series by name, such as ``bytes``."""

    @property
    def ok(self) -> int:
        """Number of successful operations."""
        return sum(op.ok for op in self.ops)

    @property
    def failures(self) -> int:
        """Number of failed operations."""
        return sum(op.failures for op in self.ops)

    @property
    def op_time_ns(self) -> int:
        """Time spent in operations, successful or not."""
        return sum(op.sum_ns + op.failed_ns for op in self.ops)


@dataclass(frozen=True, slots=True, eq=False)
class PhaseTally:
    """Sum over ranks of a phase. ``corrected_per_s`` is a sum over ranks of ok operations over op time."""

    ranks: int = 0
    began_ns: int | None = None
    slowest_ns: int = 0
    fastest_ns: int | None = None
    waited_ns: int = 0
    op_time_ns: int = 0
    cpu_ns: int = 0
    corrected_per_s: float = 0.0
    most_steps: int = 0
    ends: Mapping[str, int] = field(default_factory=dict)
    ops: Mapping[str, OpTally] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    rows_left_out: int = 0
    series: Mapping[str, BinnedSeries] = field(default_factory=dict)

    @classmethod
    def of_rank(cls, rank: RankTally) -> PhaseTally:
        """Tally of one rank as a sum."""
        return cls(
            1,
            rank.began_ns,
            rank.duration_ns,
            rank.duration_ns,
            rank.waited_ns,
            rank.op_time_ns,
            rank.cpu_ns,
            rank.ok * 1e9 / rank.op_time_ns if rank.op_time_ns else 0.0,
            rank.steps,
            {rank.end: 1},
            {op.op: op for op in rank.ops},
            dict(rank.problems),
            rank.rows_left_out,
            rank.series,
        )

    def plus(self, other: PhaseTally) -> PhaseTally:
        """Sum of both."""
        return PhaseTally(
            self.ranks + other.ranks,
            present(min, self.began_ns, other.began_ns),
            max(self.slowest_ns, other.slowest_ns),
            present(min, self.fastest_ns, other.fastest_ns),
            self.waited_ns + other.waited_ns,
            self.op_time_ns + other.op_time_ns,
            self.cpu_ns + other.cpu_ns,
            self.corrected_per_s + other.corrected_per_s,
            max(self.most_steps, other.most_steps),
            add_counts(self.ends, other.ends),
            _merged(self.ops, other.ops, OpTally.plus),
            {**other.problems, **self.problems},
            self.rows_left_out + other.rows_left_out,
            _merged(self.series, other.series, BinnedSeries.plus),
        )

    @property
    def ok(self) -> int:
        """Number of successful operations."""
        return sum(op.ok for op in self.ops.values())

    @property
    def failures(self) -> int:
        """Number of failed operations."""
        return sum(op.failures for op in self.ops.values())

    @property
    def complete(self) -> bool:
        """True if every rank did all its steps."""
        return set(self.ends) <= {"done"}


def add_ranks(ranks: Iterable[RankTally]) -> PhaseTally:
    """Sum of ranks."""
    total = PhaseTally()
    for rank in ranks:
        total = total.plus(PhaseTally.of_rank(rank))
    return total


def in_sequence(parts: Sequence[PhaseTally]) -> PhaseTally:
    """Consecutive phases of the same ranks as one: their times add up."""
    total = PhaseTally()
    for part in parts:
        total = total.plus(part)
    first = parts[0]
    op_s = total.op_time_ns / 1e9
    return replace(
        total,
        ranks=first.ranks,
        began_ns=first.began_ns,
        slowest_ns=sum(part.slowest_ns for part in parts),
        fastest_ns=sum(part.fastest_ns or 0 for part in parts),
        corrected_per_s=total.ok * first.ranks / op_s if op_s else 0.0,
    )


def ranks_in_sequence(parts: Sequence[Sequence[RankTally]]) -> tuple[RankTally, ...]:
    """Consecutive phases of each rank as one."""
    merged = []
    for ranks in zip(*parts, strict=True):
        series: Mapping[str, BinnedSeries] = {}
        ops: Mapping[str, OpTally] = {}
        for rank in ranks:
            series = _merged(series, rank.series, BinnedSeries.plus)
            ops = _merged(ops, {op.op: op for op in rank.ops}, OpTally.plus)
        merged.append(
            replace(
                ranks[0],
                duration_ns=sum(rank.duration_ns for rank in ranks),
                end=next((rank.end for rank in ranks if rank.end != "done"), "done"),
                steps=sum(rank.steps for rank in ranks),
                of_steps=sum(rank.of_steps for rank in ranks),
                waited_ns=sum(rank.waited_ns for rank in ranks),
                cpu_ns=sum(rank.cpu_ns for rank in ranks),
                rows_left_out=sum(rank.rows_left_out for rank in ranks),
                ops=tuple(ops.values()),
                problems=tuple(problem for rank in ranks for problem in rank.problems),
                series=series,
            )
        )
    return tuple(merged)


def _merged(
    first: Mapping[str, T], second: Mapping[str, T], plus: Callable[[T, T], T]
) -> dict[str, T]:
    merged = dict(first)
    for name, part in second.items():
        merged[name] = plus(merged[name], part) if name in merged else part
    return merged
