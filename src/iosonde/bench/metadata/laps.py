"""A benchmark phase with a time limit: as many laps as needed, each with as many iterations as are safe.

A reader that is another rank than its writer finds every object of a lap made before the lap began, so it cannot
overtake. Between laps the ranks meet; that time belongs to none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from iosonde.bench.runtime.result import PhaseResult, Watch
from iosonde.bench.runtime.session import Session, Stonewall
from iosonde.bench.runtime.tallies import PhaseTally, RankTally, in_sequence, ranks_in_sequence
from iosonde.bench.runtime.workload import PhaseKey, RankRecords

MOST_RECORDS = 4_000_000
"""Most operations kept of a rank and phase: 64 MB."""

Lap = Callable[[Stonewall], PhaseResult]
"""Loads and runs one lap, unreported."""


@dataclass(slots=True)
class LapWatch:
    """Watch that merges the laps of a phase: counts and snapshots include earlier laps."""

    watch: Watch
    limit_ns: int = 0
    ranks: tuple[RankTally, ...] = ()
    """Tallies of this process's ranks in earlier laps; empty outside of laps."""

    def progress(self, phase: str, ended: int, planned: int, failed: int) -> None:
        """Report progress; the plan of a time-limited phase is extrapolated from the rate so far."""
        if self.limit_ns:
            ended += sum(rank.ok + rank.failures for rank in self.ranks)
            spent = max((rank.duration_ns for rank in self.ranks), default=0)
            planned = max(planned, ended, int(ended * self.limit_ns / spent) if spent else 0)
            failed += sum(rank.failures for rank in self.ranks)
        self.watch.progress(phase, ended, planned, failed)

    def wanted(self) -> bool:
        """True if the user wants to end."""
        return self.watch.wanted()

    def note(self, text: str) -> None:
        """A message for people."""
        self.watch.note(text)

    def result(self, result: PhaseResult) -> None:
        """Pass on a phase, or a snapshot merged with earlier laps."""
        if result.snapshot and self.ranks:
            before = {rank.rank: rank for rank in self.ranks}
            together = tuple(
                ranks_in_sequence([(before[rank.rank],), (rank,)])[0]
                if rank.rank in before
                else rank
                for rank in result.ranks
            )
            result = replace(result, ranks=together)
        self.watch.result(result)


@dataclass(slots=True)
class Laps:
    """Runs a phase until its time limit."""

    session: Session
    watch: LapWatch
    limit: Stonewall
    do: Lap
    _records: list[RankRecords] = field(default_factory=list)
    _kept: int = 0

    def run(self, key: PhaseKey, advance: Callable[[PhaseResult], bool]) -> PhaseResult:
        """All laps as one phase. ``advance``: called after each; True if another can follow."""
        self.watch.limit_ns = self.limit.after_ns
        try:
            return self._run(key, advance)
        finally:
            self.watch.limit_ns, self.watch.ranks = 0, ()

    def _run(self, key: PhaseKey, advance: Callable[[PhaseResult], bool]) -> PhaseResult:
        at_limit: list[PhaseTally] = []
        ranks: tuple[RankTally, ...] = ()
        spent_ns, pressure = 0, None
        while True:
            lap = self.do(self._left(spent_ns))
            whole = advance(lap)
            spent_ns += max(self.session.all_gather(max(rank.duration_ns for rank in lap.ranks)))
            ranks = ranks_in_sequence([ranks, lap.ranks]) if ranks else lap.ranks
            self.watch.ranks = ranks
            at_limit += [lap.at_limit] if lap.at_limit is not None else []
            self._keep(lap)
            if lap.pressure is not None:
                pressure = lap.pressure if pressure is None else pressure.plus(lap.pressure)
            over = spent_ns >= self.limit.after_ns
            if over or lap.stopped or not whole or self.session.hanging:
                break
        if over:
            # Time is what such a phase was asked for: a rank that it ended did all of it.
            ranks = tuple(_done(rank) for rank in ranks)
        total = self.session.total(ranks)
        if total is not None:
            # Some rank was at work all this time, though not always the same one.
            total = replace(total, slowest_ns=spent_ns)
        reached = in_sequence(at_limit) if at_limit and not lap.stopped else None
        if self.limit.wear_out_ns is None and reached is not None:
            reached = total
        return PhaseResult(key, ranks, total, reached, lap.stopped, tuple(self._records), pressure)

    def _left(self, spent_ns: int) -> Stonewall:
        wear_out = self.limit.wear_out_ns
        return Stonewall(
            max(1, self.limit.after_ns - spent_ns),
            None if wear_out is None else max(1, wear_out - spent_ns),
        )

    def _keep(self, lap: PhaseResult) -> None:
        """Keep single operations while there is room."""
        longest = max((len(one.columns["op"]) for one in lap.records), default=0)
        if self._kept + longest <= MOST_RECORDS:
            self._records += lap.records
        self._kept += longest


def _done(rank: RankTally) -> RankTally:
    return replace(rank, end="done") if rank.end == "limit" else rank
