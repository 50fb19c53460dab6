"""Steps of a bandwidth benchmark: create a directory, write files, read them, remove them.

Every process of the run calls the same methods in the same order (see ``runtime.session``).
"""

from __future__ import annotations

import json
from typing import NamedTuple

from iosonde.bench.bandwidth.plan import BandwidthPlan
from iosonde.bench.bandwidth.rates import (
    BandwidthRates,
    edges,
    merged_edges,
    moved,
    phase_rates,
    rank_series,
)
from iosonde.bench.bandwidth.spec import BandwidthSpec, KeptFiles
from iosonde.bench.bandwidth.spread import start_on
from iosonde.bench.runtime.result import PhaseResult, Watch
from iosonde.bench.runtime.session import Session, Stonewall
from iosonde.bench.runtime.workload import PhaseKey
from iosonde.host.processes import Processes
from iosonde.model.errors import MeasureError


class MeasuredPhase(NamedTuple):
    """A phase with derived rates. ``rates`` in every process; ``paths`` of this process's ranks."""

    result: PhaseResult
    rates: BandwidthRates | None
    paths: list[str | None]


class BandwidthSteps:
    """Steps of one run at one place. ``spec`` is settled."""

    def __init__(
        self, plan: BandwidthPlan, spec: BandwidthSpec, processes: Processes, watch: Watch
    ) -> None:
        self.spec, self.place = spec, plan.name
        self._watch = watch
        self.begun = False
        """The directory is made and held: what is in it may be removed."""
        ranks = processes.size * plan.threads
        start = start_on(plan.places, spec.parameters(ranks))
        self.session = Session(start, plan.name, processes, plan.threads, watch, keep_records=True)

    def begin(self) -> None:
        """Create or accept the directory."""
        self.session.ask_leader("begin", hold=True)
        self.session.ask_others("begin", hold=False)
        self.begun = True

    def write(self, repetition: int) -> MeasuredPhase:
        """Write new files, replacing those of an earlier repetition."""
        self.remove()
        held = self.spec.wear_out_ns is not None
        work = {"write": True, "counts": [], "repetition": repetition, "held": held}
        measured = self._phase(PhaseKey("write", repetition), work)
        if not measured.result.stopped:
            self._note(measured)
        return measured

    def _note(self, measured: MeasuredPhase) -> None:
        """Store a note with parameters for later reads beside the files; a failure does not end the measurement."""
        note = json.dumps(self.written(measured).note())
        try:
            self.session.ask_leader("set_note", text=note)
        except MeasureError as error:
            if self.session.hanging:
                raise
            self._watch.note(f"{error}; a later run cannot read the files")

    def read(self, repetition: int, written: KeptFiles) -> MeasuredPhase:
        """Read the files of the rank that is ``shift`` away."""
        work = {
            "write": False,
            "counts": list(written.counts),
            "repetition": written.repetition,
            "held": self.spec.wear_out_ns is not None,
        }
        return self._phase(PhaseKey("read", repetition), work)

    def _phase(self, key: PhaseKey, work: dict[str, object]) -> MeasuredPhase:
        spec = self.spec
        stonewall = None if spec.limit_ns is None else Stonewall(spec.limit_ns, spec.wear_out_ns)
        result = self.session.phase(key, work, stonewall, report=False)
        if self.session.hanging:
            return MeasuredPhase(result, None, [None] * len(result.ranks))
        paths = self.session.ask("path")
        return MeasuredPhase(result, self._rates(result), paths)

    def _rates(self, result: PhaseResult) -> BandwidthRates | None:
        found = [rank_series(records.columns) for records in result.records]
        own = [series for series in found if series is not None]
        at = merged_edges(self.session.all_gather(edges(own)))
        return None if at is None else phase_rates(at, self.session.all_gather(moved(own, at)))

    def written(self, measured: MeasuredPhase) -> KeptFiles:
        """Record of the files that a write phase left."""
        own = [rank.steps for rank in measured.result.ranks]
        counts = tuple(count for part in self.session.all_gather(own) for count in part)
        parameters = self.spec.kept(self.session.ranks)
        return KeptFiles(parameters, counts, measured.result.key.repetition)

    def remove(self) -> None:
        """Remove the files, whoever wrote them."""
        self.session.ask("remove")
        self.session.ask_leader("sweep")

    def end(self) -> None:
        """Remove the files and the directory."""
        self.remove()
        self.session.ask_leader("end")
