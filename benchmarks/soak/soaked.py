"""What a soaked agent used over time, and what came of it."""

from dataclasses import dataclass, field

import numpy as np

from benchmarks import process
from benchmarks.soak import slope
from benchmarks.soak.ticks import Ticks

LONG_S = 600.0
"""Less than that says nothing about an hour: caches and histograms are still filling."""
SCRAPE_LIMIT_S = 0.1
ROWS_SHOWN = 30


@dataclass(frozen=True)
class Reading:
    """What everything used at a moment."""

    at_s: float
    supervisor: process.Use
    family_pss_mib: float
    workers: int

    def __str__(self) -> str:
        own = self.supervisor
        return (
            f"{self.at_s:8.0f} {own.pss_mib:9.2f} {own.anonymous_mib:9.2f} {own.rss_mib:9.2f}"
            f" {self.family_pss_mib:9.2f}"
            f" {own.fds:5d} {own.threads:8d} {self.workers:8d}"
        )


@dataclass
class Outcome:
    """What came of it."""

    problems: list[str] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    scrapes_s: list[float] = field(default_factory=list)
    workers: set[tuple[int, int]] = field(default_factory=set)
    kills: int = 0
    fulls: int = 0
    ticks: Ticks | None = None

    @property
    def first(self) -> Reading:
        """Before any mischief."""
        return self.readings[0]

    @property
    def last(self) -> Reading:
        """After all of it."""
        return self.readings[-1]

    def growth(self, of: str = "pss_mib") -> slope.Slope:
        """Of the supervisor's memory over the last two thirds, MiB an hour."""
        late = self.readings[len(self.readings) // 3 :]
        hours = np.array([reading.at_s / 3600 for reading in late])
        return slope.fit(hours, np.array([getattr(one.supervisor, of) for one in late]))

    @property
    def is_long(self) -> bool:
        """Whether the last two thirds say something about an hour."""
        late = self.readings[len(self.readings) // 3 :]
        return late[-1].at_s - late[0].at_s >= LONG_S


def show(outcome: Outcome) -> None:
    """Print what came of it."""
    print(f"{'MiB':>8} {'supervisor':>29} {'all':>9}")
    names = f"{'PSS':>9} {'anonymous':>9} {'RSS':>9} {'PSS':>9}"
    print(f"{'s':>8} {names} {'fds':>5} {'threads':>8} {'workers':>8}")
    step = max(1, len(outcome.readings) // ROWS_SHOWN)
    for reading in outcome.readings[:-1:step]:
        print(reading)
    print(outcome.last)
    scrapes = np.array(outcome.scrapes_s)
    print(
        f"{outcome.kills} workers killed, {len(outcome.workers)} seen, the store full {outcome.fulls} times; "
        f"{len(scrapes)} scrapes, the longest {scrapes.max() * 1e3:.0f} ms, "
        f"{int((scrapes > SCRAPE_LIMIT_S).sum())} above {SCRAPE_LIMIT_S * 1e3:.0f} ms"
    )
    short = "" if outcome.is_long else "; too short to judge"
    print(f"supervisor's PSS, last two thirds: {outcome.growth()}, MiB/h{short}")
    print(f"its heap and stacks: {outcome.growth('anonymous_mib')}, MiB/h")
    print(f"descriptors: {outcome.first.supervisor.fds} first, {outcome.last.supervisor.fds} last")
    print(outcome.ticks)
    for problem in outcome.problems:
        print(f"PROBLEM: {problem}")
