"""Steps of a metadata benchmark: create a tree, fill, use and remove it; each a phase or an order to all ranks.

Every process of the run calls the same methods in the same order (see ``runtime.session``).
"""

from __future__ import annotations

import json
from typing import Any

from iosonde.bench.backends.places import StorageLocation
from iosonde.bench.metadata.laps import Laps, LapWatch
from iosonde.bench.metadata.spec import BULK_OPS, CYCLE_OPS, Spec
from iosonde.bench.metadata.workload import MetadataWorkload
from iosonde.bench.runtime.result import PhaseResult, Watch
from iosonde.bench.runtime.session import Session, Stonewall
from iosonde.bench.runtime.tallies import in_sequence, ranks_in_sequence
from iosonde.bench.runtime.workload import PhaseKey
from iosonde.host.processes import Processes
from iosonde.model.errors import MeasureError
from iosonde.model.units import format_size


class MetadataSteps:
    """Steps of one run at one place. ``spec`` is settled."""

    def __init__(
        self, spec: Spec, place: StorageLocation, processes: Processes, threads: int, watch: Watch
    ) -> None:
        self.spec, self.place, self._watch = spec, place, LapWatch(watch)
        self._positions: list[int] | None = None
        self._cleanups = 0
        self.begun = False
        """The tree is made and held: what is in it may be removed."""
        self.left = False
        """The last cleanup left something."""
        start = MetadataWorkload.starter(
            place, spec.parameters(processes.size * threads), spec.faults
        )
        self.session = Session(
            start, place.name, processes, threads, self._watch, keep_records=bool(spec.rows)
        )

    # ---- before and after

    def begin(self, making: bool) -> None:
        """Create or accept the tree. ``making``: a phase follows that fills it."""
        session = self.session
        session.ask("check")
        session.ask_leader("begin", hold=True)
        session.ask_others("begin", hold=False)
        self.begun = True
        if making:
            session.ask_leader("set_note", text=json.dumps(self.spec.kept(session.ranks)))
            session.ask("make_sets")
            if self.spec.pattern == "bulk":
                self._sweep()

    def _sweep(self) -> None:
        """Remove leftovers of an earlier run, untimed."""
        key = PhaseKey("cleanup")
        left = sum(self.session.load(key, {"phase": "cleanup"}))
        if sum(self.session.all_gather(left)):
            self.session.run_unreported(key)
            self._watch.note(
                f"{self.place.name}: objects left by an earlier run were removed first"
            )

    def end(self) -> None:
        """Remove the emptied data sets and the root."""
        self.session.ask("remove_sets")
        self.session.ask_leader("end")

    # ---- phases

    def precreate(self) -> PhaseResult:
        """Fill the data sets; objects of a killed run count.

        Raises MeasureError, after the watch has the phase, when they could not be filled.
        """
        self._positions = None
        session = self.session
        result = session.phase(PhaseKey("precreate"), {"phase": "precreate"})
        ok = 0 if result.total is None else result.total.ok
        missing = sum(session.all_gather(session.planned)) - session.broadcast(ok)
        if missing and not result.stopped:
            sets = session.ranks * (self.spec.data_sets or 1)
            room = (self.spec.size_bytes or 0) * sets * (self.spec.objects or 0)
            raise MeasureError(
                f"{self.place.name}: the data sets could not be filled: {missing} objects are missing",
                expected=f"room for {format_size(room)} in {sets} x {self.spec.objects} objects",
                hint="smaller -P, -D or -S, or another place",
            )
        return result

    def benchmark(
        self, repetition: int, waiting_factor: float = 0.0, measurement: int = 0
    ) -> PhaseResult:
        """Stat, read and delete the oldest, create the newest: I times over all data sets, or until the time limit."""
        key = PhaseKey("benchmark", repetition, waiting_factor, measurement)
        limit = self._stonewall()
        if self.spec.by_time and limit is not None:
            result = Laps(self.session, self._watch, limit, lambda left: self._lap(key, left)).run(
                key, self._advance
            )
            self._watch.result(result)
            return result
        work = {"phase": "benchmark", "first": self._current_positions()}
        if self.spec.one_by_one:
            result = self._one_by_one(key, work)
        else:
            result = self.session.phase(key, work | {"ops": CYCLE_OPS}, limit)
        self._advance(result)
        return result

    def _lap(self, key: PhaseKey, left: Stonewall) -> PhaseResult:
        work = {"phase": "benchmark", "first": self._current_positions(), "ops": CYCLE_OPS}
        return self.session.phase(key, work, left, report=False)

    def _one_by_one(self, key: PhaseKey, work: dict[str, Any]) -> PhaseResult:
        ops = [op for op in CYCLE_OPS if not (self.spec.read_only and op not in CYCLE_OPS[:2])]
        parts: list[PhaseResult] = []
        for op in ops:
            given = work | {"ops": (op,)}
            parts.append(self.session.phase(key, given, self._stonewall(), report=False))
            if parts[-1].stopped:
                break
        totals = [part.total for part in parts if part.total is not None]
        at_limit = [part.at_limit for part in parts if part.at_limit is not None]
        result = PhaseResult(
            key,
            ranks_in_sequence([part.ranks for part in parts]),
            in_sequence(totals) if totals else None,
            in_sequence(at_limit) if at_limit and len(at_limit) == len(parts) else None,
            parts[-1].stopped,
            tuple(records for part in parts for records in part.records),
            parts[-1].pressure,
        )
        self._watch.result(result)
        return result

    def cleanup(self) -> PhaseResult:
        """Delete all objects, then the data sets and the root."""
        self._positions = None
        self._cleanups += 1
        self.left = True
        key = PhaseKey("cleanup", self._cleanups - 1)
        result = self.session.phase(key, {"phase": "cleanup"})
        if self._whole(result) and not result.stopped:
            self.end()
            self.left = False
        return result

    @property
    def cleaning(self) -> bool:
        """True if a cleanup was started."""
        return self._cleanups > 0

    def bulk(self, op: str, repetition: int, counts: list[int] | None) -> PhaseResult:
        """Run one op on all objects. ``counts``: objects that each rank has created; None: P."""
        made = counts or [self.spec.objects or 0] * self.session.ranks
        work = {"phase": "bulk", "op": op, "counts": made, "shift": BULK_OPS.index(op)}
        stonewall = self._stonewall() if op == "md_create" else None
        return self.session.phase(PhaseKey(op.removeprefix("md_"), repetition), work, stonewall)

    def created(self, result: PhaseResult) -> list[int] | None:
        """Objects in each data set of each rank after the create phase; None: all of them."""
        own = [rank.steps // (self.spec.data_sets or 1) for rank in result.ranks]
        counts = [count for part in self.session.all_gather(own) for count in part]
        return None if all(count == self.spec.objects for count in counts) else counts

    # ---- how

    def _stonewall(self) -> Stonewall | None:
        spec = self.spec
        return None if spec.limit_ns is None else Stonewall(spec.limit_ns, spec.wear_out_ns)

    def _whole(self, result: PhaseResult) -> bool:
        """True if every rank completed all its steps without a failure, in all processes."""
        total = result.total
        return self.session.broadcast(total is not None and total.complete and not total.failures)

    def _current_positions(self) -> list[int]:
        """Number of the oldest object of every data set, after a survey if unknown."""
        if self._positions is None:
            sets = [each for rank in self.session.ask("survey", full=True) for each in rank["sets"]]
            own = [(each["first"], each["made"], each["removed"]) for each in sets]
            every = [each for part in self.session.all_gather(own) for each in part]
            made, removed = sum(each[1] for each in every), sum(each[2] for each in every)
            if made or removed:
                self._watch.note(
                    f"{self.place.name}: the kept tree was repaired: {made} objects made, {removed} removed"
                )
            self._positions = [each[0] for each in every]
        return self._positions

    def _advance(self, result: PhaseResult) -> bool:
        """Advance the pools' positions; True if they are known without a survey."""
        if self._whole(result) and self._positions is not None:
            by = 0 if self.spec.read_only else self.spec.iterations_in_core(self.session.ranks)
            self._positions = [first + by for first in self._positions]
            return True
        self._positions = None
        return False
