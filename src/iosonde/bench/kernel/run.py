"""A whole kernel benchmark. Process 0 creates files; the writers are in every process."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from iosonde.bench.bandwidth.plan import BandwidthPlan
from iosonde.bench.bandwidth.recorder import BandwidthRecorder
from iosonde.bench.bandwidth.spec import as_dict
from iosonde.bench.bandwidth.steps import BandwidthSteps
from iosonde.bench.kernel.caches import dropper, say_dropped
from iosonde.bench.kernel.plan import QUIET, KernelPlan, phase_name
from iosonde.bench.recorder import Observer, check_store, gathered_rows
from iosonde.bench.runtime.machine import describe
from iosonde.bench.runtime.result import PhaseResult
from iosonde.bench.runtime.rows import Label
from iosonde.bench.selftest.folder import SelftestFolder
from iosonde.host.processes import Processes
from iosonde.model.errors import IosondeError, MeasureError
from iosonde.model.names import slug
from iosonde.model.phases import Phase
from iosonde.model.runs import RunRow
from iosonde.weather.probe.answers import ForegroundProbe

T = TypeVar("T")
_TICK_S = 0.05


@dataclass(slots=True)
class KernelOutcome:
    """Everything measured, even if an error followed. ``quiet_ns``: [begin, end) of creates alone; None: not reached.

    ``blocks``: bytes of a write, by name of the phase. Instants are those of process 0's clock.
    """

    run_id: str
    target: str
    quiet_ns: tuple[int, int] | None = None
    phases: list[Phase] = field(default_factory=list)
    blocks: dict[str, int] = field(default_factory=dict)
    end_ns: int = 0
    rows: list[RunRow] = field(default_factory=list)
    errors: list[IosondeError] = field(default_factory=list)
    stopped: bool = False


def run_kernel(
    plan: KernelPlan,
    processes: Processes,
    root: Path,
    observer: Observer,
    now_ns: Callable[[], int],
) -> KernelOutcome:
    """Measure; removes all files below ``plan.place`` again. Every process calls it.

    Raises UsageError, MeasureError, StoreError before anything is measured; later errors are part of the outcome.
    """
    check_store(root, processes)
    begin = processes.broadcast(now_ns())
    at = datetime.fromtimestamp(begin / 1e9, UTC)
    run_id = f"kernel-{at:%Y%m%dT%H%M%S}-{begin % 1_000_000:06d}"
    outcome = KernelOutcome(run_id, plan.target)
    run = _Run(plan, processes, root, observer, now_ns, outcome)
    host = platform.node()
    with ExitStack() as stack:
        path = run.agreed(lambda: run.folder(stack) if processes.number == 0 else None)
        folder = processes.broadcast(path)
        try:
            caches = stack.enter_context(dropper(processes, host, plan.drop_caches))
            observer.note(say_dropped(processes, host, caches.allowed, plan.drop_caches))
            run.agreed(lambda: run.probe(stack) if processes.number == 0 else None)
            run.phases(f"{folder}/write")
        except KeyboardInterrupt:
            # The second Ctrl-C: nothing is waited for, and what is there stays.
            if run.own is not None:
                run.own.keep = True
            raise
        finally:
            outcome.end_ns = now_ns()
    outcome.rows = gathered_rows(outcome.rows, processes)
    return outcome


@dataclass(slots=True)
class _Run:
    plan: KernelPlan
    processes: Processes
    root: Path
    observer: Observer
    now_ns: Callable[[], int]
    outcome: KernelOutcome
    own: SelftestFolder | None = None

    def agreed(self, call: Callable[[], T]) -> T | None:
        """Call in every process; an error in one is raised in all."""
        error, value = None, None
        try:
            value = call()
        except IosondeError as raised:
            error = raised
        for each in self.processes.all_gather(error):
            if each is not None:
                raise each
        return value

    def folder(self, stack: ExitStack) -> str:
        """Create the directory and its parts, until ``stack`` ends."""
        self.own = stack.enter_context(SelftestFolder(self.plan.place, "kernel"))
        self.own.part("write")
        return str(self.own.path)

    def probe(self, stack: ExitStack) -> None:
        """Start the creates, until ``stack`` ends. Raises MeasureError."""
        if self.own is None:
            return
        name = f"{slug(self.plan.target)}.json"
        state = self.root / "state" / slug(platform.node()) / name
        # Nobody watches this target afterwards: no monitor is to miss it.
        stack.callback(_forget, state)
        config = self.plan.probe(self.root, self.own.part("probe"))
        probe = stack.enter_context(ForegroundProbe(config))
        try:
            probe.prepare(lambda *_: not self.observer.wanted())
            probe.start()
        except MeasureError:
            if not self.observer.wanted():
                raise

    def phases(self, folder: str) -> None:
        """Run the quiet time, then writers of each block size, until an error or the user's end."""
        plan, outcome = self.plan, self.outcome
        many = len(plan.blocks)
        self.observer.begins(str(plan.place), 0, 1, many + 1)
        begin = self.now_ns()
        outcome.stopped = self.wait(plan.quiet_ns, QUIET)
        outcome.quiet_ns = (begin, self.now_ns())
        try:
            for number, block in enumerate(plan.blocks, 2):
                if outcome.stopped:
                    return
                ranks = plan.writers * self.processes.size
                self.observer.begins(f"{plan.place}, {phase_name(block)}", ranks, number, many + 1)
                outcome.stopped = self.write(block, folder)
                outcome.stopped = outcome.stopped or self.wait(plan.pause_ns, "pause")
        except IosondeError as error:
            outcome.errors.append(error)
            outcome.stopped = any(self.processes.all_gather(self.observer.wanted()))

    def wait(self, wait_ns: int, what: str) -> bool:
        """Wait while only creates run; True if the user ended it."""
        begin = time.monotonic_ns()
        while True:
            passed = time.monotonic_ns() - begin
            stopped = any(self.processes.all_gather(self.observer.wanted()))
            if stopped or self.processes.broadcast(passed >= wait_ns):
                self.observer.ended([])
                return stopped
            self.observer.progress(what, passed // 10**6, wait_ns // 10**6, 0)
            time.sleep(min(_TICK_S, (wait_ns - passed) / 1e9) if passed < wait_ns else _TICK_S)

    def write(self, block: int, folder: str) -> bool:
        """Run writers of one block size for the whole duration; True if the user ended it."""
        plan, processes = self.plan, self.processes
        spec = plan.spec(block)
        work = BandwidthPlan((folder,), plan.writers, spec, ("write",))
        number = processes.number
        recorder = BandwidthRecorder(self.root, self.label(block), number, self.observer)
        steps = BandwidthSteps(work, spec, processes, recorder)
        name, begin = phase_name(block), 0
        stopped = False
        try:
            steps.begin()
            begin, started = self.now_ns(), time.monotonic_ns()
            repetition, left = 0, plan.duration_ns
            while left > 0 and not stopped:
                steps.spec = replace(spec, limit_ns=left)
                measured = steps.write(repetition)
                recorder.measured(measured)
                stopped = measured.result.stopped
                self.check(name, measured.result)
                repetition += 1
                left = processes.broadcast(plan.duration_ns - (time.monotonic_ns() - started))
        finally:
            if recorder.rows:
                self.outcome.phases.append(Phase(name, begin, max(self.now_ns(), begin + 1)))
                self.outcome.blocks[name] = block
            self.tidy(steps, stopped)
            processes.barrier()
            if number == 0:
                recorder.finish(self.now_ns())
            self.outcome.rows += recorder.rows
            if recorder.problem is not None:
                self.outcome.errors.append(recorder.problem)
        return stopped

    def check(self, name: str, result: PhaseResult) -> None:
        """Raise MeasureError in every process if writers gave up."""
        failing = sum(rank.end in ("failing", "hanging") for rank in result.ranks)
        failing = sum(self.processes.all_gather(failing))
        if failing and not result.stopped:
            raise MeasureError(
                f"{name}: {failing} writers gave up",
                expected="room, and a directory that answers",
                hint="a smaller --file-size; the store keeps the results so far",
            )

    def tidy(self, steps: BandwidthSteps, stopped: bool) -> None:
        """Remove the writers' files and end the writers."""
        try:
            if steps.begun and not steps.session.hanging:
                if stopped:
                    self.observer.tidying()
                    steps.session.resume()
                with suppress(MeasureError):
                    steps.end()
        finally:
            steps.session.close()

    def label(self, block: int) -> Label:
        """Columns that all rows of the writers share."""
        plan, size = self.plan, self.processes.size
        ranks, host = plan.writers * size, platform.node()
        machines = len(set(self.processes.all_gather(host)))
        return Label(
            f"{self.outcome.run_id}-{block}",
            "bandwidth",
            host,
            str(plan.place),
            "posix",
            "own",
            ranks,
            as_dict(plan.spec(block)) | {"ranks": ranks, "processes": size},
            describe(plan.place) | {"machines": machines},
        )


def _forget(state: Path) -> None:
    with suppress(OSError):
        state.unlink()
