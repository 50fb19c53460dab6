"""Phases of a benchmark as rows: the recorder keeps them in memory and in the store, and passes them to an observer.

What every benchmark of our own does with its rows: see also ``PlanOutcome``, ``check_store`` and ``gathered_rows``.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from iosonde.bench.runs import store as runs
from iosonde.bench.runtime.result import PhaseResult
from iosonde.bench.runtime.rows import Label, rank_rows, total_rows
from iosonde.bench.runtime.tallies import PhaseTally
from iosonde.engine.atomic import make_folder
from iosonde.host.processes import Processes
from iosonde.model.errors import IosondeError, StoreError
from iosonde.model.ops import op_word
from iosonde.model.runs import RunRow


class Observer(Protocol):
    """Receiver of a run's progress, which may end it."""

    def begins(self, place: str, ranks: int, number: int, of: int) -> None:
        """Report the start of a run."""

    def progress(self, phase: str, ended: int, planned: int, failed: int) -> None:
        """Report progress of a phase, over the ranks of this process."""

    def note(self, text: str) -> None:
        """Show a message."""

    def ended(self, rows: Sequence[RunRow]) -> None:
        """Report rows of a phase, all ranks together."""

    def wanted(self) -> bool:
        """True if the user wants to end."""

    def tidying(self) -> None:
        """Report that objects are being removed after the user's end; a second one leaves them."""


class Recorder:
    """Receives phases, keeps their rows, and writes them into the store."""

    def __init__(
        self,
        root: Path | None,
        label: Label,
        process: int,
        observer: Observer,
    ) -> None:
        self.root, self.label, self.process, self._observer = root, label, process, observer
        self.rows: list[RunRow] = []
        self.problem: StoreError | None = None
        self._noted: set[tuple[str, str]] = set()

    def progress(self, phase: str, ended: int, planned: int, failed: int) -> None:
        """Pass on to the observer."""
        self._observer.progress(phase, ended, planned, failed)

    def wanted(self) -> bool:
        """Pass on to the observer."""
        return self._observer.wanted()

    def note(self, text: str) -> None:
        """Pass on to the observer."""
        self._observer.note(text)

    def result(self, result: PhaseResult) -> None:
        """Keep the rows of a phase; of a snapshot only in the store."""
        totals = self.totals(result)
        rows = [*totals, *rank_rows(self.label, result)]
        root, run_id = self.root, self.label.run_id
        if root is not None:
            self.put(lambda: runs.append_part(root, run_id, self.process, rows))
        if result.snapshot:
            return
        self.rows += rows
        self.keep(result)
        if result.total is not None:
            self._note_failures(result.key.name, result.total)
            if result.total.rows_left_out:
                self.note(
                    f"{result.total.rows_left_out} operations of {result.key.name} found no room among the kept samples"
                )
        self._observer.ended(totals)

    def totals(self, result: PhaseResult) -> list[RunRow]:
        """Rows of all ranks together."""
        return total_rows(self.label, result)

    def keep(self, result: PhaseResult) -> None:
        """Store data of a phase other than its rows."""

    def finish(self, now_ns: int) -> None:
        """Write the whole run."""
        root, run_id = self.root, self.label.run_id
        if root is not None:
            self.put(lambda: runs.finish(root, run_id, now_ns))

    def put(self, call: Callable[[], object]) -> None:
        """Write into the store; a failing store does not end the measurement, in which others take part."""
        if self.problem is not None:
            return
        try:
            call()
        except StoreError as error:
            self.problem = error

    def _note_failures(self, phase: str, total: PhaseTally) -> None:
        """Report each kind of failure on its first occurrence."""
        for op in total.ops.values():
            for outcome, count in op.failed.items():
                if (op.op, outcome) not in self._noted:
                    self._noted.add((op.op, outcome))
                    words = total.problems.get(outcome) or failure_words(outcome)
                    self.note(f"{phase}: {count} {op_word(op.op)} ended with {outcome}: {words}")
        if "failing" in total.ends:
            self.note(
                f"{phase}: {total.ends['failing']} of {total.ranks} ranks gave up: every operation failed"
            )


_WORDS = {"short": "fewer bytes than were written", "corrupt": "not what was written"}


def failure_words(outcome: str) -> str:
    """An outcome other than ok in words."""
    number = getattr(errno, outcome, None)
    return os.strerror(number) if isinstance(number, int) else _WORDS.get(outcome, outcome)


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """Rows of a plan, errors, and True if the user ended it."""

    rows: list[RunRow]
    errors: list[IosondeError]
    stopped: bool


def check_store(root: Path, processes: Processes) -> None:
    """Check before the measurement that the store is writable. Raises StoreError in every process."""
    error: StoreError | None = None
    try:
        folder = root / "runs"
        make_folder(folder)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as wrong:
        error = StoreError(
            f"cannot write in the store {root}: {wrong.strerror}",
            expected="room and the right to write there",
            hint="--store, or --no-store",
        )
    for each in processes.all_gather(error):
        if each is not None:
            raise each


def gathered_rows(rows: list[RunRow], processes: Processes) -> list[RunRow]:
    """Rows of all ranks and totals at process 0, of its own ranks elsewhere."""
    own = rows if processes.number == 0 else [row for row in rows if row.rank is not None]
    return [row for part in processes.gather(own) for row in part]
