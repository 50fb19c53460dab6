"""A whole metadata benchmark: places and parameters in, rows out and into the store.

Rows go into the store as each phase ends, and every few seconds within one, so that a run that dies is readable.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from iosonde.bench.backends.places import StorageLocation
from iosonde.bench.metadata.kept_tree import read_kept
from iosonde.bench.metadata.laps import MOST_RECORDS
from iosonde.bench.metadata.phases import do_phases
from iosonde.bench.metadata.plan import Plan
from iosonde.bench.metadata.recorder import MetadataRecorder
from iosonde.bench.metadata.spec import Spec, as_dict, settled
from iosonde.bench.metadata.steps import MetadataSteps
from iosonde.bench.recorder import Observer, PlanOutcome, check_store, gathered_rows
from iosonde.bench.runtime.machine import describe
from iosonde.bench.runtime.rows import Label
from iosonde.host.processes import Processes
from iosonde.model.errors import IosondeError, MeasureError, StoreError, UsageError
from iosonde.model.runs import RunRow


def run_plan(
    plan: Plan,
    processes: Processes,
    root: Path | None,
    observer: Observer,
    now_ns: Callable[[], int],
) -> PlanOutcome:
    """Run every run of a plan. Rows of all ranks at process 0, of its own elsewhere.

    A run that cannot be done does not keep the others from it. Ends early when the observer wants it.
    """
    rows: list[RunRow] = []
    errors: list[IosondeError] = []
    for number, (place, threads, spec) in enumerate(plan.each(), 1):
        observer.begins(place.name, threads * processes.size, number, len(plan))
        run = _Run(plan, place, threads, spec, processes, observer)
        try:
            stopped = run.do(root, now_ns())
        except IosondeError as error:
            errors.append(error)
            stopped = any(processes.all_gather(observer.wanted()))
        rows += run.rows
        errors += run.problems[:1]
        if stopped:
            return PlanOutcome(rows, errors, True)
    return PlanOutcome(rows, errors, False)


@dataclass(slots=True)
class _Run:
    """A run of a plan. ``rows``: everything measured, even if an error followed."""

    plan: Plan
    place: StorageLocation
    threads: int
    requested: Spec
    processes: Processes
    observer: Observer
    rows: list[RunRow] = field(default_factory=list)
    problems: list[StoreError] = field(default_factory=list)
    """Reasons why rows are not in the store."""

    def do(self, root: Path | None, now_ns: int) -> bool:
        """Measure; True if the user ended it. Raises IosondeError, after removing its files."""
        plan, place = self.plan, self.place
        ranks = self.threads * self.processes.size
        if root is not None:
            check_store(root, self.processes)
        kept = read_kept(place, self.processes, self.observer.wanted)
        spec = settled(self.requested, kept, ranks, plan.phases, place.name)
        if plan.samples is not None:
            spec = replace(spec, rows=min(MOST_RECORDS, spec.operations()))
        label = self._label(spec, ranks, now_ns)
        recorder = MetadataRecorder(root, plan.samples, label, self.processes.number, self.observer)
        steps = MetadataSteps(spec, place, self.processes, self.threads, recorder)
        tidy = plan.phases[-1] in ("cleanup", "delete")
        try:
            self._begin(steps, fresh=kept is None)
            stopped = do_phases(plan, steps, spec, recorder)
            if stopped and tidy:
                self._end_early(steps)
            elif tidy and steps.left:
                self._say_left()
        except IosondeError:
            if tidy and steps.begun:
                if steps.session.hanging or steps.cleaning:
                    self._say_left()
                else:
                    self._tidy(steps)
            raise
        finally:
            steps.session.close()
            self.processes.barrier()
            if self.processes.number == 0:
                recorder.finish(now_ns)
            self.rows = gathered_rows(recorder.rows, self.processes)
            self.problems = [each for each in self.processes.all_gather(recorder.problem) if each]
        return stopped

    def _label(self, spec: Spec, ranks: int, now_ns: int) -> Label:
        """Columns that all rows of the run share."""
        place, processes = self.place, self.processes
        at = datetime.fromtimestamp(now_ns / 1e9, UTC)
        run_id = processes.broadcast(f"metadata-{at:%Y%m%dT%H%M%S}-{now_ns % 1_000_000:06d}")
        parameters = as_dict(spec) | {"ranks": ranks, "processes": processes.size}
        if self.plan.adaptive is not None:
            parameters["adaptive"] = True
        host = platform.node()
        machine = describe(Path(place.name) if place.kind == "posix" else None)
        machine["machines"] = len(set(processes.all_gather(host)))
        return Label(
            run_id,
            "metadata",
            host,
            place.name,
            place.kind,
            spec.pattern,
            ranks,
            parameters,
            machine,
        )

    def _begin(self, steps: MetadataSteps, *, fresh: bool) -> None:
        making = bool({"precreate", "create"} & set(self.plan.phases))
        try:
            steps.begin(making)
        except UsageError:
            # Refused after the tree was made and held (O_DIRECT): one that is new goes again.
            if fresh:
                with contextlib.suppress(MeasureError):
                    steps.end()
            raise

    def _end_early(self, steps: MetadataSteps) -> None:
        if steps.session.hanging:
            self._say_left()
            return
        self.observer.tidying()
        steps.session.resume()
        self._tidy(steps)

    def _tidy(self, steps: MetadataSteps) -> None:
        """Remove the run's objects; if that fails, report how to do it later."""
        with contextlib.suppress(MeasureError):
            steps.cleanup()
        if steps.left:
            self._say_left()

    def _say_left(self) -> None:
        self.observer.note(
            f"objects are left in {self.place.name}; '--phases cleanup' removes them"
        )
