"""The metadata benchmark: phases done by ranks, in this process or in many, each phase added up.

Every process of the run calls the same methods in the same order. Between phases the processes agree on positions,
limits and errors; within one nobody waits for anybody.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from iosonde.bench.backends.places import Place
from iosonde.bench.metadata.local_ranks import Crew, HangingError
from iosonde.bench.metadata.phase_loop import Going
from iosonde.bench.metadata.result import PhaseResult, Watch
from iosonde.bench.metadata.spec import BULK_OPS, CYCLE_OPS, Spec
from iosonde.bench.metadata.tallies import Lap, Together, add, in_turn, in_turn_laps
from iosonde.bench.ranks import Processes
from iosonde.model.errors import IosondeError, MeasureError
from iosonde.model.units import format_size


class Session:
    """One run at one place. ``spec`` is settled. Ranks of this process: ``threads`` from number x threads on."""

    def __init__(
        self, spec: Spec, place: Place, processes: Processes, threads: int, watch: Watch
    ) -> None:
        self.spec, self.place = spec, place
        self.ranks = processes.size * threads
        self._processes, self._watch = processes, watch
        self._positions: list[int] | None = None
        self._cleanups = 0
        self._planned = 0
        """Operations of this process's ranks in the phase that was loaded last."""
        self.begun = False
        """The tree is made and held: what is in it may be removed."""
        self.left = False
        """The last cleanup left something."""
        self.hanging = False
        """A rank, in some process, was given up: nothing more can be done here."""
        first = processes.number * threads
        self._crew: Crew = self._agreed(
            lambda: Crew(
                place, spec.parameters(self.ranks), first, threads, spec.faults, wanted=watch.wanted
            )
        )
        self._going = Going(self._crew, place.name, first, watch)

    # ---- before and after

    def begin(self, making: bool) -> None:
        """Make or accept the tree. ``making``: a phase follows that fills it."""
        self._agreed(lambda: self._crew.ask({"do": "check"}))
        hold = self._processes.number == 0
        if hold:
            self._agreed(lambda: self._crew.ask({"do": "begin", "hold": True}))
        else:
            self._agreed(lambda: None)
        self._agreed(lambda: None if hold else self._crew.ask({"do": "begin", "hold": False}))
        self.begun = True
        if making:
            text = json.dumps(self.spec.kept(self.ranks))
            self._agreed(lambda: self._crew.ask({"do": "set_note", "text": text}) if hold else None)
            self._make_sets()
            if self.spec.pattern == "bulk":
                self._sweep()

    def _make_sets(self) -> None:
        self._agreed(lambda: self._crew.ask({"do": "make_sets"}))

    def _sweep(self) -> None:
        """Remove, untimed, what an earlier run has left."""
        left = sum(self._load({"phase": "cleanup"}, 0))
        if sum(self._processes.all_of(left)):
            self._going.go(self._limit(None, None), 0.0, None)
            self._watch.note(
                f"{self.place.name}: objects left by an earlier run were removed first"
            )

    # ---- phases

    def precreate(self) -> PhaseResult:
        """Fill the data sets; what a run that was killed has made counts.

        Raises MeasureError, after the phase is told, when they could not be filled.
        """
        self._positions = None
        result = self._phase("precreate", {"phase": "precreate"})
        ok = 0 if result.total is None else result.total.ok
        missing = sum(self._processes.all_of(self._planned)) - self._processes.first_says(ok)
        if missing and not result.stopped:
            sets = self.ranks * (self.spec.data_sets or 1)
            room = (self.spec.size_bytes or 0) * sets * (self.spec.objects or 0)
            raise MeasureError(
                f"{self.place.name}: the data sets could not be filled: {missing} objects are missing",
                expected=f"room for {format_size(room)} in {sets} x {self.spec.objects} objects",
                hint="smaller -P, -D or -S, or another place",
            )
        return result

    def benchmark(
        self, iteration: int, waiting_factor: float = 0.0, repeat: int = 0
    ) -> PhaseResult:
        """Stat, read and delete the oldest, create the newest: I times over all data sets."""
        work = {"phase": "benchmark", "first": self._known_positions()}
        if not self.spec.one_by_one:
            result = self._phase(
                "benchmark", work | {"ops": CYCLE_OPS}, iteration, waiting_factor, repeat
            )
        else:
            result = self._one_by_one(work, iteration, waiting_factor, repeat)
        self._advance(result)
        return result

    def _one_by_one(
        self, work: dict[str, Any], iteration: int, waiting_factor: float, repeat: int
    ) -> PhaseResult:
        ops = [op for op in CYCLE_OPS if not (self.spec.read_only and op not in CYCLE_OPS[:2])]
        parts = []
        for op in ops:
            given = work | {"ops": (op,)}
            parts.append(
                self._phase("benchmark", given, iteration, waiting_factor, repeat, tell=False)
            )
            if parts[-1].stopped:
                break
        totals = [part.total for part in parts if part.total is not None]
        walled = [part.walled for part in parts if part.walled is not None]
        result = PhaseResult(
            "benchmark",
            iteration,
            waiting_factor,
            repeat,
            in_turn_laps([part.laps for part in parts]),
            in_turn(totals) if totals else None,
            in_turn(walled) if walled and len(walled) == len(parts) else None,
            parts[-1].stopped,
            tuple(sample for part in parts for sample in part.samples),
        )
        self._watch.result(result)
        return result

    def cleanup(self) -> PhaseResult:
        """Delete every object, whoever made it, then the data sets and the root."""
        self._positions = None
        self._cleanups += 1
        self.left = True
        result = self._phase("cleanup", {"phase": "cleanup"}, self._cleanups - 1)
        if self._cleaned(result):
            self.end()
            self.left = False
        return result

    @property
    def cleaning(self) -> bool:
        """Whether a cleanup was begun."""
        return self._cleanups > 0

    def _cleaned(self, result: PhaseResult) -> bool:
        """Whether a cleanup left nothing, in no process."""
        total = result.total
        clean = total is not None and total.complete and not total.failures
        return self._processes.first_says(clean) and not result.stopped

    def end(self) -> None:
        """Remove the emptied data sets and the root."""
        self._agreed(lambda: self._crew.ask({"do": "remove_sets"}))
        hold = self._processes.number == 0
        self._agreed(lambda: self._crew.ask({"do": "end"}) if hold else None)

    def bulk(self, op: str, iteration: int, counts: list[int] | None) -> PhaseResult:
        """One op for all objects. ``counts``: objects that each rank has made; None: P."""
        made = counts or [self.spec.objects or 0] * self.ranks
        work = {"phase": "bulk", "op": op, "counts": made, "shift": BULK_OPS.index(op)}
        return self._phase(op.removeprefix("md_"), work, iteration)

    def created(self, result: PhaseResult) -> list[int] | None:
        """Objects in each data set of each rank after the create phase; None: all of them."""
        mine = [lap.steps // (self.spec.data_sets or 1) for lap in result.laps]
        counts = [count for part in self._processes.all_of(mine) for count in part]
        return None if all(count == self.spec.objects for count in counts) else counts

    @property
    def first(self) -> bool:
        """Whether this process has the run's first rank."""
        return self._processes.number == 0

    def first_says(self, value: int) -> int:
        """What process 0 brought."""
        return self._processes.first_says(value)

    def close(self) -> None:
        """Let the ranks go, and with them what they hold: an error's traceback keeps this object for a while."""
        self._crew.close()

    def resume(self) -> None:
        """After an end was wanted: go on, to remove what was made."""
        self._crew.core.resume()

    # ---- how

    def _known_positions(self) -> list[int]:
        if self._positions is None:
            surveyed = self._agreed(lambda: self._crew.ask({"do": "survey", "full": True}))
            sets = [each for rank in surveyed for each in rank["sets"]]
            told = self._processes.all_of([(s["first"], s["made"], s["removed"]) for s in sets])
            every = [each for part in told for each in part]
            made, removed = sum(e[1] for e in every), sum(e[2] for e in every)
            if made or removed:
                self._watch.note(
                    f"{self.place.name}: the kept tree was repaired: {made} objects made, {removed} removed"
                )
            self._positions = [each[0] for each in every]
        return self._positions

    def _advance(self, result: PhaseResult) -> None:
        whole = result.total is not None and result.total.complete and not result.total.failures
        if self._processes.first_says(whole) and self._positions is not None:
            by = 0 if self.spec.read_only else self.spec.iterations or 0
            self._positions = [first + by for first in self._positions]
        else:
            self._positions = None

    def _phase(
        self,
        name: str,
        work: dict[str, Any],
        iteration: int = 0,
        waiting_factor: float = 0.0,
        repeat: int = 0,
        *,
        tell: bool = True,
    ) -> PhaseResult:
        self._load(work, iteration)
        seen = PhaseResult(name, iteration, waiting_factor, repeat, (), None)
        spec = self.spec
        limited = spec.limit_ns is not None and name in ("benchmark", "create")
        laps = self._going.go(
            self._limit(spec.limit_ns if limited else None, None), waiting_factor, seen
        )
        stopped = any(self._processes.all_of(self._watch.wanted() or _ended(laps, "stopped")))
        total = self._processes.merged(add(laps), Together.plus)
        walled = None
        if limited and not stopped:
            walled = total
            if spec.wear_out_ns is not None:
                most = max(self._processes.all_of(max(lap.steps for lap in laps)))
                laps = self._going.go(self._limit(spec.wear_out_ns, most), waiting_factor, seen)
                stopped = any(self._processes.all_of(_ended(laps, "stopped")))
                total = self._processes.merged(add(laps), Together.plus)
        self.hanging |= any(self._processes.all_of(_ended(laps, "hanging")))
        result = replace(
            seen,
            laps=tuple(laps),
            total=total,
            walled=walled,
            stopped=stopped,
            samples=self._going.samples(laps) if spec.rows else (),
        )
        if tell:
            self._watch.result(result)
        return result

    @staticmethod
    def _limit(after_ns: int | None, steps: int | None) -> dict[str, int | None]:
        return {"after_ns": after_ns, "steps": steps}

    def _load(self, work: dict[str, Any], iteration: int) -> list[int]:
        order = {"do": "load", "work": work, "iteration": iteration}
        planned: list[int] = self._agreed(lambda: self._crew.ask(order))
        self._planned = sum(planned)
        self._processes.together()
        return planned

    def _agreed(self, call: Callable[[], Any]) -> Any:
        """Do something in every process; an error in one of them is raised in all."""
        value, error = None, None
        try:
            value = call()
        except IosondeError as raised:
            error = raised
        errors = [each for each in self._processes.all_of(error) if each is not None]
        if errors:
            self.hanging |= any(isinstance(each, HangingError) for each in errors)
            raise errors[0]
        return value


def _ended(laps: Sequence[Lap], end: str) -> bool:
    return any(lap.end == end for lap in laps)
