"""Phases of a benchmark as rows: the recorder keeps them in memory and in the store, and passes them to an observer."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from iosonde.bench.metadata.operations import RankOperations, write_operations
from iosonde.bench.runs import store as runs
from iosonde.bench.runtime.result import PhaseResult
from iosonde.bench.runtime.rows import Label, rank_rows, total_rows
from iosonde.bench.runtime.tallies import PhaseTally
from iosonde.model.errors import StoreError
from iosonde.model.names import rank_host
from iosonde.model.ops import op_word
from iosonde.model.runs import RunRow


class Observer(Protocol):
    """What a run reports to, and asks whether to end."""

    def begins(self, place: str, ranks: int, number: int, of: int) -> None:
        """A run begins."""

    def progress(self, phase: str, ended: int, planned: int, failed: int) -> None:
        """How far a phase is, over the ranks of this process."""

    def note(self, text: str) -> None:
        """A message for people."""

    def ended(self, rows: Sequence[RunRow]) -> None:
        """Rows of a phase, all ranks together."""

    def wanted(self) -> bool:
        """Whether a user wants an end."""

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
        self._samples = samples
        self._root, self._label, self._process, self._observer = root, label, process, observer
        self.rows: list[RunRow] = []
        self.problem: StoreError | None = None
        self._noted: set[tuple[str, str]] = set()

    def progress(self, phase: str, ended: int, planned: int, failed: int) -> None:
        """To the observer."""
        self._observer.progress(phase, ended, planned, failed)

    def wanted(self) -> bool:
        """To the observer."""
        return self._observer.wanted()

    def note(self, text: str) -> None:
        """To the observer."""
        self._observer.note(text)

    def result(self, result: PhaseResult) -> None:
        """Keep the rows of a phase; of a snapshot only in the store."""
        totals = total_rows(self._label, result)
        rows = [*totals, *rank_rows(self._label, result)]
        root, run_id = self._root, self._label.run_id
        if root is not None:
            self._put(lambda: runs.append_part(root, run_id, self._process, rows))
        if result.snapshot:
            return
        self.rows += rows
        samples = self._samples
        if samples is not None:
            self._put(lambda: self._keep(samples, result))
        if result.total is not None:
            self._note_failures(result.key.name, result.total)
            if result.total.rows_left_out:
                self.note(
                    f"{result.total.rows_left_out} operations of {result.key.name} found no room among the kept samples"
                )
        self._observer.ended(totals)

    def finish(self, now_ns: int) -> None:
        """Write the run whole."""
        root, run_id = self._root, self._label.run_id
        if root is not None:
            self._put(lambda: runs.finish(root, run_id, now_ns))

    def _put(self, call: Callable[[], object]) -> None:
        """A store that fails meanwhile does not end the measurement, of which others are a part."""
        if self.problem is not None:
            return
        try:
            call()
        except StoreError as error:
            self.problem = error

    def _keep(self, root: Path, result: PhaseResult) -> None:
        """Every operation, as samples of a run of its own: a phase, with one waiting factor."""
        label, parts = self._label, [self._label.run_id, result.key.name]
        if result.key.waiting_factor:
            parts.append(f"T{result.key.waiting_factor:g}")
        for number, (rank, began_ns, columns) in enumerate(result.records):
            write_operations(
                root,
                RankOperations(
                    rank_host(label.host, rank),
                    label.target,
                    "-".join(parts),
                    f"{result.key.repetition}-{number}",
                    began_ns,
                    int(label.parameters["size_bytes"]),
                    int(label.parameters["seed"]),
                    columns,
                ),
            )

    def _note_failures(self, phase: str, total: PhaseTally) -> None:
        """Each kind of failure, the first time it comes."""
        for op in total.ops.values():
            for outcome, count in op.failed.items():
                if (op.op, outcome) not in self._noted:
                    self._noted.add((op.op, outcome))
                    words = total.problems.get(outcome) or failure_words(outcome)
                    self.note(f"{phase}: {count} {op_word(op.op)} ended with {outcome}: {words}")
        if "failing" in total.ends:
            self.note(
                f"{phase}: {total.ends['failing']} of {total.ranks} ranks gave up: nothing but failures"
            )


_WORDS = {"short": "fewer bytes than were written", "corrupt": "not what was written"}


def failure_words(outcome: str) -> str:
    """An outcome other than ok in words."""
    number = getattr(errno, outcome, None)
    return os.strerror(number) if isinstance(number, int) else _WORDS.get(outcome, outcome)
