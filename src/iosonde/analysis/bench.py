"""A metadata benchmark from beginning to end: places and parameters in, rows out and into the store.

Rows go into the store as each phase ends, and every few seconds within one, so that a run that dies is readable.
"""

from __future__ import annotations

import platform
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from iosonde.measure.machine import describe
from iosonde.measure.metadata.crew import read_kept
from iosonde.measure.metadata.result import PhaseResult
from iosonde.measure.metadata.rows import Label, rank_rows, total_rows
from iosonde.measure.metadata.session import Session
from iosonde.measure.metadata.spec import BULK_OPS, Spec, as_dict, settled
from iosonde.measure.places import Place
from iosonde.measure.ranks import Processes
from iosonde.model.runs import RunRow
from iosonde.store import runs

LEVELS = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0)
"""Waiting factors of adaptive mode."""


@dataclass(frozen=True, slots=True)
class Adaptive:
    """How often every waiting factor is measured; ``more`` says after that how many repeats it would take."""

    repeats: int
    most: int
    more: Callable[[Sequence[RunRow]], int]
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

    def begins(self, place: str, ranks: int, spec: Spec, number: int, of: int) -> None:
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
        self, root: Path | None, label: Label, process: int, observer: Observer
    ) -> None:
        self._root, self._label, self._process, self._observer = root, label, process, observer
        self.rows: list[RunRow] = []
        self.problems: dict[str, str] = {}

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
        if result.total is not None:
            self._tell(result.phase, result.total.problems)
            if result.total.rows_left_out:
                self.note(
                    f"{result.total.rows_left_out} operations of {result.phase} found no room among the kept samples"
                )
        self._observer.ended(totals)

    def _tell(self, phase: str, problems: dict[str, str]) -> None:
        for outcome, words in problems.items():
            if outcome not in self.problems:
                self.problems[outcome] = words
                self.note(f"{phase}: {outcome}" + (f": {words}" if words else ""))


def run_plan(
    plan: Plan, processes: Processes, root: Path | None, observer: Observer, now_ns: Callable[[], int]
) -> list[RunRow]:
    """Do every run of a plan. Rows of all ranks at process 0, of its own elsewhere.

    Ends early, with the rows so far, when the observer wants it. Raises MeasureError, UsageError, StoreError.
    """
    rows: list[RunRow] = []
    for number, (place, threads, spec) in enumerate(plan.each(), 1):
        observer.begins(place.name, threads * processes.size, spec, number, len(plan))
        more, stopped = _run(plan, place, threads, spec, processes, root, observer, now_ns())
        rows += more
        if stopped:
            break
    return rows


def _run(
    plan: Plan,
    place: Place,
    threads: int,
    asked: Spec,
    processes: Processes,
    root: Path | None,
    observer: Observer,
    now_ns: int,
) -> tuple[list[RunRow], bool]:
    ranks = threads * processes.size
    spec = settled(asked, read_kept(place, processes), ranks, plan.phases, place.name)
    label = _label(plan, place, spec, ranks, processes, now_ns)
    recorder = Recorder(root, label, processes.number, observer)
    session = Session(spec, place, processes, threads, recorder)
    session.begin(making=bool({"precreate", "create"} & set(plan.phases)))
    try:
        stopped = _phases(plan, session, spec, recorder)
        if stopped and plan.phases[-1] in ("cleanup", "delete"):
            observer.tidying()
            session.resume()
            stopped = session.cleanup().stopped or stopped
    finally:
        _finish(root, label.run_id, recorder, processes, now_ns)
    return _gathered(recorder.rows, processes), stopped


def _phases(plan: Plan, session: Session, spec: Spec, recorder: Recorder) -> bool:
    """Do the phases; True when an end was wanted."""
    if spec.pattern == "bulk":
        return _bulk(plan, session)
    if "precreate" in plan.phases and session.precreate().stopped:
        return True
    if "benchmark" in plan.phases:
        if plan.adaptive is not None:
            if _adaptive(plan.adaptive, session, spec, recorder):
                return True
        else:
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
        if repeat == wanted and wanted < adaptive.most:
            more = adaptive.more(recorder.rows) if session.first else 0
            wanted = min(adaptive.most, wanted + session.first_says(more))
    return False


def _label(
    plan: Plan, place: Place, spec: Spec, ranks: int, processes: Processes, now_ns: int
) -> Label:
    at = datetime.fromtimestamp(now_ns / 1e9, UTC)
    run_id = processes.first_says(f"metadata-{at:%Y%m%dT%H%M%S}-{now_ns % 1_000_000:06d}")
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
        describe(path),
    )


def _finish(
    root: Path | None, run_id: str, recorder: Recorder, processes: Processes, now_ns: int
) -> None:
    """Every process's part is there before the first writes them as one."""
    del recorder
    processes.together()
    if root is not None and processes.number == 0:
        runs.finish(root, run_id, now_ns)


def _gathered(rows: list[RunRow], processes: Processes) -> list[RunRow]:
    """The rows of all ranks, and of all together."""
    mine = rows if processes.number == 0 else [row for row in rows if row.rank is not None]
    return [row for part in processes.all_of(mine) for row in part]


def with_seed(spec: Spec, seed: int) -> Spec:
    """The spec with the seed of contents and orders."""
    return replace(spec, seed=seed)
