"""Every tick of every op against the rows of a store."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.kit import harness


def keep_segments(store: Path, kept: Path) -> None:
    """Give every segment a second name: a full store drops the oldest, and what it held must stay countable."""
    for segment in store.glob("spool/*/*.spool"):
        second = kept / segment.relative_to(store)
        # Without room for a name now there will be later.
        with contextlib.suppress(FileExistsError, FileNotFoundError, OSError):
            second.parent.mkdir(parents=True, exist_ok=True)
            os.link(segment, second)


@dataclass(frozen=True)
class Series:
    """The rows of one op of one target."""

    name: str
    rows: int
    first_ns: int
    last_ns: int
    breaks: int
    """Neighbours that are not one period apart."""


@dataclass(frozen=True)
class Ticks:
    """The rows of a store against the schedule."""

    series: list[Series]
    period_ns: float
    asked_ns: int
    outcomes: dict[str, int]

    @property
    def rows(self) -> int:
        """All of them."""
        return sum(one.rows for one in self.series)

    def __str__(self) -> str:
        named = ", ".join(f"{n} {outcome}" for outcome, n in self.outcomes.items())
        return f"{self.rows} ticks of {len(self.series)} series: {named}"

    def problems(self, expected: int, said_written: int | None) -> Iterator[str]:
        """What is missing or twice."""
        if len(self.series) != expected:
            yield f"{len(self.series)} series, expected {expected}"
        for one in self.series:
            due = round((one.last_ns - one.first_ns) / self.period_ns) + 1
            if one.breaks or one.rows != due:
                yield f"{one.name}: {one.rows} rows for {due} ticks, {one.breaks} not a period after the one before"
            if one.last_ns < self.asked_ns - 1.1 * self.period_ns:
                early_s = (self.asked_ns - one.last_ns) / harness.SECOND
                yield f"{one.name}: nothing of the last {early_s:.3f} s"
        for target in {one.name.split()[0] for one in self.series}:
            firsts = [one.first_ns for one in self.series if one.name.split()[0] == target]
            if max(firsts) - min(firsts) >= self.period_ns:
                yield f"{target}: not all of its ops begin with the first tick"
        if said_written is not None and said_written != self.rows:
            yield f"the agent says it has written {said_written} rows, {self.rows} are there"


def count(store: Path, period_ns: float, asked_ns: int) -> Ticks:
    """Of a store whose agent was asked at ``asked_ns`` to end."""
    samples = harness.samples(store)
    rows = samples.execute(
        "select target || ' ' || op, count(*), min(due_ns), max(due_ns), "
        "count(*) filter (where abs(gap - $period) > $period / 4) from ("
        "select *, due_ns - lag(due_ns) over (partition by target, op order by due_ns) as gap from samples"
        ") group by all order by all",
        {"period": period_ns},
    ).fetchall()
    outcomes = samples.execute(
        "select outcome, count(*) from samples group by all order by 2 desc"
    ).fetchall()
    return Ticks([Series(*row) for row in rows], period_ns, asked_ns, dict(outcomes))
