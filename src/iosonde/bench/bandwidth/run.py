"""A whole bandwidth benchmark: a directory and parameters in, rows out and into the store.

Rows, files and bins go into the store as each phase ends, so that a run that dies is readable.
"""

from __future__ import annotations

import contextlib
import json
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from iosonde.bench.bandwidth.cautions import phase_cautions, plan_cautions
from iosonde.bench.bandwidth.plan import BandwidthPlan
from iosonde.bench.bandwidth.recorder import BandwidthRecorder
from iosonde.bench.bandwidth.spec import BandwidthSpec, KeptFiles, as_dict, kept_files, settled
from iosonde.bench.bandwidth.steps import BandwidthSteps, MeasuredPhase
from iosonde.bench.bandwidth.workload import BandwidthWorkload
from iosonde.bench.recorder import Observer, PlanOutcome, check_store, gathered_rows
from iosonde.bench.runtime.machine import describe
from iosonde.bench.runtime.rank_group import RankGroup
from iosonde.bench.runtime.rows import Label
from iosonde.host.processes import Processes
from iosonde.model.errors import IosondeError, MeasureError, StoreError, UsageError
from iosonde.model.runs import RunRow


def run_bandwidth(
    plan: BandwidthPlan,
    processes: Processes,
    root: Path | None,
    observer: Observer,
    now_ns: int,
) -> PlanOutcome:
    """Run a plan. Rows of all ranks at process 0, of its own elsewhere; an error is part of the outcome."""
    observer.begins(plan.name, plan.threads * processes.size, 1, 1)
    run = _Run(plan, processes, observer)
    errors: list[IosondeError] = []
    try:
        stopped = run.do(root, now_ns)
    except IosondeError as error:
        errors.append(error)
        stopped = any(processes.all_gather(observer.wanted()))
    return PlanOutcome(run.rows, [*errors, *run.problems[:1]], stopped)


@dataclass(slots=True)
class _Run:
    """State of a run. ``rows``: everything measured, even if an error followed."""

    plan: BandwidthPlan
    processes: Processes
    observer: Observer
    rows: list[RunRow] = field(default_factory=list)
    problems: list[StoreError] = field(default_factory=list)
    """Reasons why rows are not in the store."""
    machines: dict[str, Any] = field(default_factory=dict)
    hosts: list[str] = field(default_factory=list)
    """Host of each rank."""

    def do(self, root: Path | None, now_ns: int) -> bool:
        """Measure; True if the user ended it. Raises IosondeError, after removing its files."""
        plan, processes = self.plan, self.processes
        ranks = plan.threads * processes.size
        if root is not None:
            check_store(root, processes)
        reading_only = "write" not in plan.directions
        kept = self._kept() if reading_only else None
        spec = settled(plan.spec, kept, ranks, plan.directions, plan.name)
        label = self._label(spec, ranks, now_ns)
        recorder = BandwidthRecorder(root, label, processes.number, self.observer)
        recorder.places = plan.places
        for text in plan_cautions(plan, spec, self.hosts, label.machine):
            recorder.note(text)
        steps = BandwidthSteps(plan, spec, processes, recorder)
        try:
            self._begin(steps)
            stopped = self._phases(steps, recorder, kept)
            self._tidy(steps, stopped)
        except IosondeError:
            if steps.begun:
                self._tidy(steps, False)
            raise
        finally:
            steps.session.close()
            processes.barrier()
            if processes.number == 0:
                recorder.finish(now_ns)
            self.rows = gathered_rows(recorder.rows, processes)
            self.problems = [each for each in processes.all_gather(recorder.problem) if each]
        return stopped

    def _begin(self, steps: BandwidthSteps) -> None:
        try:
            steps.begin()
        except UsageError:
            # Refused after the directory was made and held (O_DIRECT): one without kept files goes again.
            if not any(steps.session.all_gather(steps.session.ask("note"))[0]):
                with contextlib.suppress(MeasureError):
                    steps.end()
            raise

    def _phases(
        self, steps: BandwidthSteps, recorder: BandwidthRecorder, kept: KeptFiles | None
    ) -> bool:
        """Write and read, repetition by repetition; True if the user ended it."""
        for repetition in range(self.plan.repetitions):
            written = kept
            for direction in self.plan.directions:
                if direction == "write":
                    phase = steps.write(repetition)
                    written = steps.written(phase)
                elif written is not None:
                    phase = steps.read(repetition, written)
                self._record(phase, steps, recorder)
                if phase.result.stopped:
                    return True
                if any(self.processes.all_gather(_failing(phase))):
                    return False
        return False

    def _record(
        self, phase: MeasuredPhase, steps: BandwidthSteps, recorder: BandwidthRecorder
    ) -> None:
        recorder.measured(phase)
        for text in phase_cautions(phase.result, steps.spec, recorder.label.machine):
            recorder.note(text)

    def _kept(self) -> KeptFiles | None:
        """Note beside kept files. Raises MeasureError, UsageError."""
        plan, processes = self.plan, self.processes
        found: KeptFiles | None = None
        error: IosondeError | None = None
        if processes.number == 0:
            try:
                start = BandwidthWorkload.starter(plan.place, {"ranks": 1})
                (text,) = RankGroup(start, plan.name, 0, 1, self.observer.wanted).ask("note")
                found = None if text is None else kept_files(json.loads(text))
            except IosondeError as raised:
                error = raised
            except (ValueError, KeyError, TypeError):
                error = MeasureError(
                    f"{plan.name}: the note beside the kept files is damaged, or of another version",
                    expected="files written by this version of iosonde",
                    hint="a run that writes, too",
                )
        error, found = processes.broadcast((error, found))
        if error is not None:
            raise error
        return found

    def _label(self, spec: BandwidthSpec, ranks: int, now_ns: int) -> Label:
        """Columns that all rows of the run share."""
        plan, processes = self.plan, self.processes
        at = datetime.fromtimestamp(now_ns / 1e9, UTC)
        run_id = processes.broadcast(f"bandwidth-{at:%Y%m%dT%H%M%S}-{now_ns % 1_000_000:06d}")
        host = platform.node()
        machine = describe(None if plan.place is None else Path(plan.place))
        hosts = processes.all_gather(host)
        self.hosts = [name for name in hosts for _ in range(plan.threads)]
        machine["machines"] = len(set(hosts))
        backend = "null" if plan.place is None else "posix"
        parameters = as_dict(spec) | {"ranks": ranks, "processes": processes.size}
        return Label(
            run_id,
            "bandwidth",
            host,
            plan.name,
            backend,
            spec.layout,
            ranks,
            parameters,
            machine,
        )

    def _tidy(self, steps: BandwidthSteps, stopped: bool) -> None:
        """Remove the run's files; report if that fails."""
        if self.plan.keep or "write" not in self.plan.directions:
            return
        if steps.session.hanging:
            self._say_left()
            return
        if stopped:
            self.observer.tidying()
            steps.session.resume()
        try:
            steps.end()
        except MeasureError:
            self._say_left()

    def _say_left(self) -> None:
        self.observer.note(f"files are left in {self.plan.name}; the next run there removes them")


def _failing(phase: MeasuredPhase) -> bool:
    return any(rank.end in ("failing", "hanging") for rank in phase.result.ranks)
