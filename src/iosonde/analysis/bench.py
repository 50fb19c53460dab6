"""A metadata benchmark from beginning to end: places and parameters in, rows out and into the store.

Rows go into the store as each phase ends, and every few seconds within one, so that a run that dies is readable.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from iosonde.measure.machine import describe
from iosonde.measure.metadata.crew import read_kept
from iosonde.measure.metadata.laps import Together
from iosonde.measure.metadata.result import PhaseResult
from iosonde.measure.metadata.rows import Label, rank_rows, total_rows
from iosonde.measure.metadata.session import Session
from iosonde.measure.metadata.spec import BULK_OPS, Spec, as_dict, settled
from iosonde.measure.places import Place
from iosonde.measure.ranks import Processes
from iosonde.model.errors import IosondeError, MeasureError
from iosonde.model.ops import op_word
from iosonde.model.runs import RunRow
from iosonde.stats.waiting_rates import LEVELS
from iosonde.store import runs
from iosonde.store.imported import rank_host
from iosonde.store.recorded import Recorded, write_recorded

_MOST_ROWS = 4_000_000
"""Operations kept of a rank and phase: 64 MB."""


@dataclass(frozen=True, slots=True)
class Adaptive:
    """How often every waiting factor is measured; ``more`` says after that how many repeats to add."""

    repeats: int
    more: Callable[[Sequence[RunRow], int], int]
    levels: tuple[float, ...] = LEVELS


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: every spec with every number of ranks at every place."""

    places: tuple[Place, ...]
    threads: tuple[int, ...]
    """Ranks of one process."""
    specs: tuple[Spec, ...]
    phases: tuple[str, ...]
    rounds: int = 3
    """R, how often the benchmark phase (bulk: all phases) is repeated."""
    waiting_factor: float = 0.0
    adaptive: Adaptive | None = None
    samples: Path | None = None
    """Store that every operation goes into."""

    def each(self) -> Iterator[tuple[Place, int, Spec]]:
        """Every run of the plan."""
        for place in self.places:
            for threads in self.threads:
                for spec in self.specs:
                    yield place, threads, spec

    def __len__(self) -> int:
        return len(self.places) * len(self.threads) * len(self.specs)


class Observer(Protocol):
    """Who looks on."""

    def begins(self, place: str, ranks: int, number: int, of: int) -> None:
        """A run begins."""

    def progress(self, phase: str, ended: int, planned: int, failed: int) -> None:
        """How far a phase is, over the ranks of this process."""

    def note(self, text: str) -> None:
        """Something people should know."""

    def ended(self, rows: Sequence[RunRow]) -> None:
        """Rows of a phase, all ranks together."""

    def wanted(self) -> bool:
        """Whether an end is wanted."""

    def tidying(self) -> None:
        """An end was wanted: now the objects are removed; a second wish leaves them."""


class Recorder:
    """Receives phases, keeps their rows, puts them into the store."""

    def __init__(
        self,
        root: Path | None,
        samples: Path | None,
        label: Label,
        process: int,
        observer: Observer,
    ) -> None:
        self._root, self._label, self._process, self._observer = root, label, process, observer
        self._samples = samples
        self.rows: list[RunRow] = []
        self._told: set[tuple[str, str]] = set()

    def progress(self, phase: str, ended: int, planned: int, failed: int) -> None:
        """Pass it on."""
        self._observer.progress(phase, ended, planned, failed)

    def wanted(self) -> bool:
        """Pass it on."""
        return self._observer.wanted()

    def note(self, text: str) -> None:
        """Pass it on."""
        self._observer.note(text)

    def result(self, result: PhaseResult) -> None:
        """Keep the rows of a phase; of a snapshot only in the store."""
        totals = total_rows(self._label, result)
        rows = [*totals, *rank_rows(self._label, result)]
        if self._root is not None:
            runs.append_part(self._root, self._label.run_id, self._process, rows)
        if result.snapshot:
            return
        self.rows += rows
        if self._samples is not None:
            self._keep(self._samples, result)
        if result.total is not None:
            self._tell(result.phase, result.total)
            if result.total.rows_left_out:
                self.note(
                    f"{result.total.rows_left_out} operations of {result.phase} found no room among the kept samples"
                )
        self._observer.ended(totals)

    def _keep(self, root: Path, result: PhaseResult) -> None:
        """Every operation, as samples of a run of its own: a phase, with one waiting factor."""
        label, parts = self._label, [self._label.run_id, result.phase]
        if result.waiting_factor:
            parts.append(f"T{result.waiting_factor:g}")
        for number, (rank, began_ns, columns) in enumerate(result.samples):
            write_recorded(
                root,
                Recorded(
                    rank_host(label.host, rank),
                    label.target,
                    "-".join(parts),
                    f"{result.iteration}-{number}",
                    began_ns,
                    int(label.parameters["size_bytes"]),
                    int(label.parameters["seed"]),
                    columns,
                ),
            )

    def _tell(self, phase: str, total: Together) -> None:
        """Each kind of failure, the first time it comes."""
        for op in total.ops.values():
            for outcome, count in op.failed.items():
                if (op.op, outcome) not in self._told:
                    self._told.add((op.op, outcome))
                    words = total.problems.get(outcome) or failure_words(outcome)
                    self.note(f"{phase}: {count} {op_word(op.op)} ended with {outcome}: {words}")
        if "failing" in total.ends:
            self.note(
                f"{phase}: {total.ends['failing']} ranks gave up after too many failures in a row"
            )


_WORDS = {"short": "fewer bytes than were written", "corrupt": "not what was written"}


def failure_words(outcome: str) -> str:
    """An outcome other than ok in words."""
    number = getattr(errno, outcome, None)
    return os.strerror(number) if isinstance(number, int) else _WORDS.get(outcome, outcome)


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a plan: rows, what went wrong on the way, and whether somebody ended it."""

    rows: list[RunRow]
    errors: list[IosondeError]
    stopped: bool


def run_plan(
    plan: Plan,
    processes: Processes,
    root: Path | None,
    observer: Observer,
    now_ns: Callable[[], int],
) -> Ran:
    """Do every run of a plan. Rows of all ranks at process 0, of its own elsewhere.

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
            stopped = False
        rows += run.rows
        if stopped:
            return Ran(rows, errors, True)
    return Ran(rows, errors, False)


@dataclass(slots=True)
class _Run:
    """One run of a plan; ``rows`` is what was measured, whatever came then."""

    plan: Plan
    place: Place
    threads: int
    asked: Spec
    processes: Processes
    observer: Observer
    rows: list[RunRow] = field(default_factory=list)

    def do(self, root: Path | None, now_ns: int) -> bool:
        """Measure; True when an end was wanted. Raises IosondeError, after what was made is removed."""
        plan, place = self.plan, self.place
        ranks = self.threads * self.processes.size
        kept = read_kept(place, self.processes)
        spec = settled(self.asked, kept, ranks, plan.phases, place.name)
        if plan.samples is not None:
            spec = replace(spec, rows=min(_MOST_ROWS, spec.operations()))
        label = _label(replace(plan, threads=(self.threads,)), place, spec, self.processes, now_ns)
        recorder = Recorder(root, plan.samples, label, self.processes.number, self.observer)
        session = Session(spec, place, self.processes, self.threads, recorder)
        session.begin(making=bool({"precreate", "create"} & set(plan.phases)))
        tidy = plan.phases[-1] in ("cleanup", "delete")
        try:
            stopped = _phases(plan, session, spec, recorder)
            if stopped and tidy:
                self.observer.tidying()
                session.resume()
                self._tidy(session)
        except MeasureError:
            if tidy:
                self._tidy(session)
            raise
        finally:
            self.processes.together()
            if root is not None and self.processes.number == 0:
                runs.finish(root, label.run_id, now_ns)
            self.rows = _gathered(recorder.rows, self.processes)
        return stopped

    def _tidy(self, session: Session) -> None:
        """Remove what was made; where that cannot be done, say how it can later."""
        clean = False
        with contextlib.suppress(MeasureError):
            clean = session.cleaned(session.cleanup())
        if not clean:
            self.observer.note(
                f"objects are left in {self.place.name}; '--phases cleanup' removes them"
            )


def _phases(plan: Plan, session: Session, spec: Spec, recorder: Recorder) -> bool:
    """Do the phases; True when an end was wanted."""
    if spec.pattern == "bulk":
        return _bulk(plan, session)
    if "precreate" in plan.phases and session.precreate().stopped:
        return True
    if "benchmark" in plan.phases and plan.adaptive is not None:
        if _adaptive(plan.adaptive, session, spec, recorder):
            return True
    elif "benchmark" in plan.phases:
        for iteration in range(plan.rounds):
            if session.benchmark(iteration, plan.waiting_factor).stopped:
                return True
    return "cleanup" in plan.phases and session.cleanup().stopped


def _bulk(plan: Plan, session: Session) -> bool:
    counts: list[int] | None = None
    for iteration in range(plan.rounds):
        for op in BULK_OPS:
            if op.removeprefix("md_") not in plan.phases:
                continue
            result = session.bulk(op, iteration, counts)
            if result.stopped:
                return True
            if op == "md_create":
                counts = session.created(result)
    if "delete" in plan.phases:
        session.end()
    return False


def _adaptive(adaptive: Adaptive, session: Session, spec: Spec, recorder: Recorder) -> bool:
    """Every level once a repeat, in an order of its own; more repeats while they would decide."""
    order = random.Random(spec.seed)
    repeat, wanted = 0, adaptive.repeats
    while repeat < wanted:
        levels = list(adaptive.levels)
        order.shuffle(levels)
        for level in levels:
            if session.benchmark(repeat, level, repeat).stopped:
                return True
        repeat += 1
        if repeat == wanted:
            more = adaptive.more(recorder.rows, repeat) if session.first else 0
            wanted += session.first_says(more)
    return False


def _label(plan: Plan, place: Place, spec: Spec, processes: Processes, now_ns: int) -> Label:
    at = datetime.fromtimestamp(now_ns / 1e9, UTC)
    run_id = processes.first_says(f"metadata-{at:%Y%m%dT%H%M%S}-{now_ns % 1_000_000:06d}")
    ranks = plan.threads[0] * processes.size
    parameters = as_dict(spec) | {"ranks": ranks, "processes": processes.size}
    if plan.adaptive is not None:
        parameters["adaptive"] = True
    path = Path(place.name) if place.kind == "posix" else None
    return Label(
        run_id,
        platform.node(),
        place.name,
        place.kind,
        spec.pattern,
        ranks,
        parameters,
        describe(path) | {"machines": len(set(processes.all_of(platform.node())))},
    )


def _gathered(rows: list[RunRow], processes: Processes) -> list[RunRow]:
    """The rows of all ranks, and of all together."""
    mine = rows if processes.number == 0 else [row for row in rows if row.rank is not None]
    return [row for part in processes.all_of(mine) for row in part]
