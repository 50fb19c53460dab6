"""A whole self-test: the probe alone, then the phases beside it; rows and samples into the store."""

from __future__ import annotations

import platform
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.bench.recorder import Observer, check_store
from iosonde.bench.runs import store as runs
from iosonde.bench.runtime.machine import describe
from iosonde.bench.selftest.find import find
from iosonde.bench.selftest.folder import SelftestFolder
from iosonde.bench.selftest.parts import PartContext, SelftestPart, new_part, new_run_id, remove_all
from iosonde.bench.selftest.plan import HARD_OBJECT_BYTES, PHASES, SelftestPlan, phase_name
from iosonde.host.processes import Alone
from iosonde.model.errors import IosondeError, MeasureError
from iosonde.model.names import slug
from iosonde.model.phases import Phase
from iosonde.model.runs import RunRow
from iosonde.weather.probe.answers import ForegroundProbe, Progress

if TYPE_CHECKING:
    from iosonde.bench.runtime.result import PhaseResult


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Environment of a self-test: the clock, a wait that Ctrl-C ends, progress of the probe's files."""

    now_ns: Callable[[], int]
    wait: Callable[[float], bool]
    """Sleep so many seconds; True as soon as an end is wanted."""
    prepare: Progress
    observer: Observer


@dataclass(slots=True)
class SelftestOutcome:
    """Everything measured, even if an error followed. ``quiet_ns``: [begin, end) of the probe alone; None: not
    reached.
    """

    run_id: str
    target: str
    quiet_ns: tuple[int, int] | None = None
    phases: list[Phase] = field(default_factory=list)
    end_ns: int = 0
    rows: list[RunRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Messages of the probe."""
    errors: list[IosondeError] = field(default_factory=list)
    stopped: bool = False


def run_selftest(plan: SelftestPlan, root: Path, around: Surroundings) -> SelftestOutcome:
    """Measure; everything below ``plan.place`` is removed again. Raises UsageError, MeasureError, StoreError
    before anything is measured; later errors are part of the outcome.
    """
    check_store(root, Alone())
    outcome = SelftestOutcome(new_run_id(around.now_ns()), plan.target)
    with SelftestFolder(plan.place) as folder:
        try:
            with ForegroundProbe(plan.probe(root, folder.part("probe"))) as probe:
                if not _ready(probe, around, outcome):
                    return outcome
                _watched(plan, folder, root, around, outcome)
        except KeyboardInterrupt:
            # The second Ctrl-C: nothing is waited for, and what is there stays.
            folder.keep = True
            raise
        finally:
            # A target of a self-test is watched by nobody afterwards: no monitor is to miss it.
            state = root / "state" / slug(platform.node()) / f"{slug(plan.target)}.json"
            with suppress(OSError):
                state.unlink()
    return outcome


def _ready(probe: ForegroundProbe, around: Surroundings, outcome: SelftestOutcome) -> bool:
    """Create the probe's files and start it; False if an end was wanted."""
    try:
        outcome.notes += probe.prepare(around.prepare)
    except MeasureError:
        if not around.observer.wanted():
            raise
    if around.observer.wanted():
        outcome.stopped = True
        return False
    probe.start()
    return True


def _watched(
    plan: SelftestPlan,
    folder: SelftestFolder,
    root: Path,
    around: Surroundings,
    outcome: SelftestOutcome,
) -> None:
    """Run the quiet time and the phases beside the probe."""
    begin = around.now_ns()
    outcome.stopped = around.wait(plan.quiet_ns / 1e9)
    outcome.quiet_ns = (begin, around.now_ns())
    sequence = _Sequence(plan, folder, root, around, outcome)
    try:
        if not outcome.stopped:
            outcome.stopped = sequence.do()
    except IosondeError as error:
        outcome.errors.append(error)
        outcome.stopped = around.observer.wanted()
    finally:
        outcome.end_ns = around.now_ns()
        if outcome.stopped and sequence.parts:
            around.observer.tidying()
        sequence.end()


class _Sequence:
    """Runs the phases in their order; each benchmark starts at its first phase."""

    def __init__(
        self,
        plan: SelftestPlan,
        folder: SelftestFolder,
        root: Path,
        around: Surroundings,
        outcome: SelftestOutcome,
    ) -> None:
        self._plan, self._folder, self._root = plan, folder, root
        self._around, self._outcome = around, outcome
        self.parts: dict[str, SelftestPart] = {}

    def do(self) -> bool:
        """Run all phases; True if an end was wanted."""
        observer = self._around.observer
        for number, (name, phase) in enumerate(PHASES, 1):
            observer.begins(phase_name(name, phase), self._plan.ranks, number, len(PHASES))
            stopped = self._find() if name == "find" else self._phase(name, phase)
            if stopped or self._around.wait(self._plan.pause_ns / 1e9):
                return True
        return False

    def _phase(self, name: str, phase: str) -> bool:
        if name not in self.parts:
            self.parts[name] = new_part(name, self._context(name))
        result = self.parts[name].do(phase)
        self._span(phase_name(name, phase), result)
        failing = sum(rank.end in ("failing", "hanging") for rank in result.ranks)
        if failing and not result.stopped:
            raise MeasureError(
                f"{phase_name(name, phase)}: {failing} of {len(result.ranks)} ranks gave up",
                expected="room, and a directory that answers",
                hint="smaller -b or -P; the store keeps the results so far",
            )
        return result.stopped

    def _context(self, name: str) -> PartContext:
        folder, watch = self._folder.part(name), self._around.observer
        return PartContext(self._plan, folder, self._outcome.run_id, self._root, watch)

    def _span(self, name: str, result: PhaseResult) -> None:
        """Record the span from the first rank's start to the last one's end."""
        ends = [(r.began_ns, r.began_ns + r.duration_ns) for r in result.ranks if r.began_ns]
        if ends:
            first, last = min(begin for begin, _ in ends), max(end for _, end in ends)
            self._outcome.phases.append(Phase(name, first, max(last, first + 1)))

    def _find(self) -> bool:
        begin = self._around.now_ns()
        found = find(self._folder.path, self._around.observer.wanted, HARD_OBJECT_BYTES)
        took = max(1, self._around.now_ns() - begin)
        self._outcome.phases.append(Phase("find", begin, begin + took))
        row = RunRow(
            run_id=f"{self._outcome.run_id}-find",
            source="iosonde",
            host=platform.node(),
            target=str(self._plan.place),
            backend="posix",
            pattern="bulk",
            phase="find",
            ranks=1,
            began_ns=begin,
            duration_ns=took,
            ops=found.examined,
            rate_per_s=found.examined * 1e9 / took,
            complete=not found.stopped,
            parameters={"found": found.matching},
            machine=describe(self._plan.place),
        )
        runs.write(self._root, [row], begin)
        self._outcome.rows.append(row)
        self._around.observer.ended([row])
        return found.stopped

    def end(self) -> None:
        """Remove the benchmarks' files and write their whole runs, even after errors."""
        with ExitStack() as stack:
            for part in self.parts.values():
                stack.callback(self._finish, part)
            remove_all(list(self.parts.values()), resume=self._outcome.stopped)

    def _finish(self, part: SelftestPart) -> None:
        part.recorder.finish(self._around.now_ns())
        self._outcome.rows += part.recorder.rows
        if part.recorder.problem is not None:
            self._outcome.errors.append(part.recorder.problem)
