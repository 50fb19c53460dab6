"""What ranks did in a phase, and how it adds up: counts and histograms merge, raw samples never travel."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from iosonde.model.runs import RUN_QUANTILES

LEAST_COUNT: dict[str, int] = {"q90": 10, "q99": 100}
"""Below this many operations a quantile is not given: it would be the maximum."""


@dataclass(frozen=True, slots=True)
class OpLap:
    """One op of one or more ranks. ``buckets``: latency in ns (within 0.1 %) and how many had it, ascending."""

    op: str
    ok: int
    sum_ns: int
    min_ns: int | None
    max_ns: int | None
    bytes: int
    failed: dict[str, int]
    failed_ns: int
    buckets: tuple[tuple[int, int], ...]

    @classmethod
    def from_core(cls, lap: dict[str, Any]) -> Self:
        """As the core says it."""
        low, high = lap["range_ns"] or (None, None)
        return cls(
            lap["op"],
            lap["ok"],
            lap["sum_ns"],
            low,
            high,
            lap["bytes"],
            dict(lap["failed"]),
            lap["failed_ns"],
            tuple((value, count) for value, count in lap["buckets"]),
        )

    def plus(self, other: OpLap) -> OpLap:
        """Both together."""
        counts: dict[int, int] = dict(self.buckets)
        for value, count in other.buckets:
            counts[value] = counts.get(value, 0) + count
        failed = dict(self.failed)
        for outcome, count in other.failed.items():
            failed[outcome] = failed.get(outcome, 0) + count
        return OpLap(
            self.op if self.op == other.op else "",
            self.ok + other.ok,
            self.sum_ns + other.sum_ns,
            _known(min, self.min_ns, other.min_ns),
            _known(max, self.max_ns, other.max_ns),
            self.bytes + other.bytes,
            failed,
            self.failed_ns + other.failed_ns,
            tuple(sorted(counts.items())),
        )

    def quantile(self, q: float) -> float | None:
        """The order statistic ceil(q n) of the latencies, ns; None without one.

        A bucket's middle is cut to the exact minimum and maximum.
        """
        if self.ok == 0 or self.min_ns is None or self.max_ns is None:
            return None
        rank = max(1, math.ceil(q * self.ok))
        seen = 0
        for value, count in self.buckets:
            seen += count
            if seen >= rank:
                return float(min(max(value, self.min_ns), self.max_ns))
        return float(self.max_ns)

    def statistics(self) -> dict[str, float | None]:
        """Columns of a row: min_ns, mean_ns, q25_ns ... q99_ns, max_ns."""
        found: dict[str, float | None] = {
            "min_ns": None if self.min_ns is None else float(self.min_ns),
            "mean_ns": self.sum_ns / self.ok if self.ok else None,
            "max_ns": None if self.max_ns is None else float(self.max_ns),
        }
        for name, q in RUN_QUANTILES.items():
            enough = self.ok >= LEAST_COUNT.get(name, 1)
            found[f"{name}_ns"] = self.quantile(q) if enough else None
        return found

    @property
    def failures(self) -> int:
        """How many did not end ok."""
        return sum(self.failed.values())


def _known(choose: Any, first: int | None, second: int | None) -> int | None:
    known = [value for value in (first, second) if value is not None]
    return choose(known) if known else None


@dataclass(frozen=True, slots=True)
class Lap:
    """One rank in one phase. ``end``: done, limit, stopped, failing, or hanging (it did not answer)."""

    rank: int
    began_ns: int | None
    duration_ns: int
    end: str
    steps: int
    of_steps: int
    waited_ns: int
    cpu_ns: int
    ops: tuple[OpLap, ...]
    rows_left_out: int = 0
    problems: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_core(cls, text: str) -> Self:
        """As the core says it."""
        lap = json.loads(text)
        lap["ops"] = tuple(OpLap.from_core(op) for op in lap["ops"])
        lap["problems"] = tuple((outcome, words) for outcome, words in lap["problems"])
        return cls(**lap)

    @property
    def ok(self) -> int:
        """Operations that ended ok."""
        return sum(op.ok for op in self.ops)

    @property
    def op_time_ns(self) -> int:
        """Time spent in operations, whatever came of them."""
        return sum(op.sum_ns + op.failed_ns for op in self.ops)


@dataclass(frozen=True, slots=True)
class Together:
    """Ranks of a phase added up. ``corrected_per_s`` is a sum over ranks of ok operations over op time."""

    ranks: int = 0
    began_ns: int | None = None
    slowest_ns: int = 0
    fastest_ns: int | None = None
    waited_ns: int = 0
    op_time_ns: int = 0
    cpu_ns: int = 0
    corrected_per_s: float = 0.0
    most_steps: int = 0
    ends: dict[str, int] = field(default_factory=dict)
    ops: dict[str, OpLap] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    rows_left_out: int = 0

    def plus(self, other: Together) -> Together:
        """Both together."""
        ops = dict(self.ops)
        for name, op in other.ops.items():
            ops[name] = ops[name].plus(op) if name in ops else op
        ends = dict(self.ends)
        for end, count in other.ends.items():
            ends[end] = ends.get(end, 0) + count
        return Together(
            self.ranks + other.ranks,
            _known(min, self.began_ns, other.began_ns),
            max(self.slowest_ns, other.slowest_ns),
            _known(min, self.fastest_ns, other.fastest_ns),
            self.waited_ns + other.waited_ns,
            self.op_time_ns + other.op_time_ns,
            self.cpu_ns + other.cpu_ns,
            self.corrected_per_s + other.corrected_per_s,
            max(self.most_steps, other.most_steps),
            ends,
            ops,
            other.problems | self.problems,
            self.rows_left_out + other.rows_left_out,
        )

    @property
    def ok(self) -> int:
        """Operations that ended ok."""
        return sum(op.ok for op in self.ops.values())

    @property
    def failures(self) -> int:
        """Operations that did not."""
        return sum(op.failures for op in self.ops.values())

    @property
    def complete(self) -> bool:
        """Whether every rank did all its steps."""
        return set(self.ends) <= {"done"}


def alone(lap: Lap) -> Together:
    """One rank as a sum."""
    return Together(
        1,
        lap.began_ns,
        lap.duration_ns,
        lap.duration_ns,
        lap.waited_ns,
        lap.op_time_ns,
        lap.cpu_ns,
        lap.ok * 1e9 / lap.op_time_ns if lap.op_time_ns else 0.0,
        lap.steps,
        {lap.end: 1},
        {op.op: op for op in lap.ops},
        dict(lap.problems),
        lap.rows_left_out,
    )


def add(laps: Iterable[Lap]) -> Together:
    """All of them together."""
    total = Together()
    for lap in laps:
        total = total.plus(alone(lap))
    return total


def in_turn(parts: Sequence[Together]) -> Together:
    """Phases done one after the other by the same ranks, as one: their times add up."""
    total = Together()
    for part in parts:
        total = total.plus(part)
    first = parts[0]
    op_s = total.op_time_ns / 1e9
    return Together(
        first.ranks,
        first.began_ns,
        sum(part.slowest_ns for part in parts),
        sum(part.fastest_ns or 0 for part in parts),
        total.waited_ns,
        total.op_time_ns,
        total.cpu_ns,
        total.ok * first.ranks / op_s if op_s else 0.0,
        total.most_steps,
        total.ends,
        total.ops,
        total.problems,
        total.rows_left_out,
    )


def in_turn_laps(parts: Sequence[tuple[Lap, ...]]) -> tuple[Lap, ...]:
    """The same for each rank by itself."""
    merged = []
    for laps in zip(*parts, strict=True):
        ops = tuple(op for lap in laps for op in lap.ops)
        worst = next((lap.end for lap in laps if lap.end != "done"), "done")
        merged.append(
            replace(
                laps[0],
                duration_ns=sum(lap.duration_ns for lap in laps),
                end=worst,
                steps=sum(lap.steps for lap in laps),
                of_steps=sum(lap.of_steps for lap in laps),
                waited_ns=sum(lap.waited_ns for lap in laps),
                cpu_ns=sum(lap.cpu_ns for lap in laps),
                ops=ops,
                problems=tuple(problem for lap in laps for problem in lap.problems),
            )
        )
    return tuple(merged)
