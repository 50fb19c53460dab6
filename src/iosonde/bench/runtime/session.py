"""Phases of any workload, run by ranks in one or many processes, each phase added up.

Every process of the run calls the same methods in the same order. Between phases the processes agree on limits, ends
and errors; within one no process waits for another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from iosonde.bench.runtime.phase_loop import PhaseLoop
from iosonde.bench.runtime.rank_group import HangingError, RankGroup
from iosonde.bench.runtime.result import PhaseResult, Watch
from iosonde.bench.runtime.tallies import PhaseTally, RankTally, add_ranks
from iosonde.bench.runtime.workload import Limit, PhaseKey, StartWorkload
from iosonde.host.pressure import CpuPressure
from iosonde.host.processes import Processes
from iosonde.model.errors import IosondeError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stonewall:
    """Stonewall: every rank stops after ``after_ns``; with ``wear_out_ns`` all then catch up with the fastest.

    ``wear_out_ns`` is when they stop at the latest.
    """

    after_ns: int
    wear_out_ns: int | None = None


class Session:
    """A run at one place. Ranks of this process: ``threads`` from number x threads on."""

    def __init__(
        self,
        start: StartWorkload,
        place: str,
        processes: Processes,
        threads: int,
        watch: Watch,
        *,
        keep_records: bool = False,
    ) -> None:
        self.place, self.ranks = place, processes.size * threads
        self._processes, self._watch, self._keep_records = processes, watch, keep_records
        self.planned = 0
        """Operations of this process's ranks in the phase that was loaded last."""
        self.hanging = False
        """A rank, in some process, was given up: the ranks take no further order."""
        first = processes.number * threads
        self._group = self.agreed(lambda: RankGroup(start, place, first, threads, watch.wanted))
        self._loop = PhaseLoop(self._group, watch)

    # ---- what processes agree on

    @property
    def leads(self) -> bool:
        """True if this process has the run's first rank."""
        return self._processes.number == 0

    def broadcast(self, value: T) -> T:
        """Value of process 0."""
        return self._processes.broadcast(value)

    def all_gather(self, value: T) -> list[T]:
        """Values of all processes."""
        return self._processes.all_gather(value)

    def agreed(self, call: Callable[[], T]) -> T:
        """Call in every process; an error in one is raised in all."""
        error: IosondeError | None = None
        try:
            value = call()
        except IosondeError as raised:
            error = raised
        errors = [each for each in self._processes.all_gather(error) if each is not None]
        if errors:
            self.hanging |= any(isinstance(each, HangingError) for each in errors)
            raise errors[0]
        return value

    # ---- orders that are no phase

    def ask(self, action: str, **arguments: Any) -> list[Any]:
        """Answers of this process's ranks; all processes give the order."""
        return self.agreed(lambda: self._group.ask(action, **arguments))

    def ask_leader(self, action: str, **arguments: Any) -> None:
        """Give the order in process 0 alone; the others wait for it."""
        self.agreed(lambda: self._group.ask(action, **arguments) if self.leads else [])

    def ask_others(self, action: str, **arguments: Any) -> None:
        """Give the order in all processes but 0, which waits for them."""
        self.agreed(lambda: [] if self.leads else self._group.ask(action, **arguments))

    def resume(self) -> None:
        """Resume after the user's end, to remove files."""
        self._group.workload.resume()

    def close(self) -> None:
        """End the ranks, and release their resources: an error's traceback keeps this object alive for a while."""
        self._group.close()

    # ---- phases

    def load(self, key: PhaseKey, work: Mapping[str, Any]) -> list[int]:
        """Prepare a phase; returns the operations that each rank of this process plans."""
        planned = self.agreed(lambda: self._group.load(key, work))
        self.planned = sum(planned)
        self._processes.barrier()
        return planned

    def run_unreported(self, key: PhaseKey) -> None:
        """Run the loaded phase without a result, outside of the measurement."""
        self.agreed(lambda: self._loop.run(key, Limit(), report=False))

    def phase(
        self,
        key: PhaseKey,
        work: Mapping[str, Any],
        stonewall: Stonewall | None = None,
        *,
        report: bool = True,
    ) -> PhaseResult:
        """Load a phase, run it, add it up; the watch gets the result unless ``report`` is False."""
        self.load(key, work)
        limit = Limit(None if stonewall is None else stonewall.after_ns)
        self._loop.forget_pressure()
        ranks = self._run(key, limit)
        stopped = self._any(self._watch.wanted() or _ended(ranks, "stopped"))
        total = self._total(ranks)
        at_limit = None
        if stonewall is not None and not stopped:
            at_limit = total
            if stonewall.wear_out_ns is not None:
                most = max(self._processes.all_gather(max(rank.steps for rank in ranks)))
                ranks = self._run(key, Limit(stonewall.wear_out_ns, most))
                stopped = self._any(_ended(ranks, "stopped"))
                total = self._total(ranks)
        self.hanging |= self._any(_ended(ranks, "hanging"))
        records = self._loop.records(ranks) if self._keep_records else ()
        pressure = self._pressed()
        result = PhaseResult(key, tuple(ranks), total, at_limit, stopped, records, pressure)
        if report:
            self._watch.result(result)
        return result

    def total(self, ranks: Sequence[RankTally]) -> PhaseTally | None:
        """Tally of all processes' ranks, at process 0."""
        return self._total(ranks)

    def _run(self, key: PhaseKey, limit: Limit) -> list[RankTally]:
        return self.agreed(lambda: self._loop.run(key, limit))

    def _pressed(self) -> CpuPressure | None:
        """CPU pressure of the process whose ranks waited longest for a CPU."""
        found = [each for each in self._processes.all_gather(self._loop.pressure) if each]
        return max(
            found, key=lambda each: (each.queued_s or 0.0, each.stalled_s or 0.0), default=None
        )

    def _total(self, ranks: Sequence[RankTally]) -> PhaseTally | None:
        return self._processes.reduce(add_ranks(ranks), PhaseTally.plus)

    def _any(self, mine: bool) -> bool:
        return any(self._processes.all_gather(mine))


def _ended(ranks: Sequence[RankTally], end: str) -> bool:
    return any(rank.end == end for rank in ranks)
