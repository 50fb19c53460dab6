"""Two sides of benchmark runs, a run or several each: faster, slower, same, or not enough data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iosonde.bench.compare import words
from iosonde.bench.compare.sides import RunComparison
from iosonde.bench.compare.sides import compare_runs as compared
from iosonde.bench.runs.store import StoredRun, read_runs
from iosonde.model.answer import Block, Prose, TableBlock
from iosonde.model.frames import Frame

__all__ = ["RunComparisonAnswer", "StoredRun", "compare_runs", "read_runs"]
SCHEMA_VERSION = 2


class RunComparisonAnswer(NamedTuple):
    """A verdict a subject."""

    found: RunComparison

    def shown(self) -> list[Block]:
        """Both sides, a sentence a subject, the table, notes."""
        found = self.found
        sides = (("A", found.a), ("B", found.b))
        blocks: list[Block] = [Prose(words.say_side(side), f"{name}: ") for name, side in sides]
        blocks += ["", *(Prose(text, "", "  ") for text in words.say_runs(found)), ""]
        blocks.append(TableBlock(words.HEAD, words.run_cells(found), 3, ("A", "B")))
        notes = [Prose(note, "note: ", "  ") for note in words.say_notes(found)]
        return [*blocks, *([""] * bool(notes)), *notes]

    def data(self) -> dict[str, Any]:
        """Sides and verdicts with all their measures."""
        return {"schema_version": SCHEMA_VERSION, **words.runs_json(self.found)}

    def table(self) -> Frame:
        """A row a subject and measure."""
        rows = [(one, ratio) for one in self.found.verdicts for ratio in one.measures]
        columns = {
            "phase": [one.subject.phase for one, _ in rows],
            "op": [one.subject.op for one, _ in rows],
            "verdict": [one.verdict for one, _ in rows],
            "measure": [ratio.measure.column for _, ratio in rows],
        }
        frame = {name: np.array(values, dtype=object) for name, values in columns.items()}
        numbers = ("a", "b", "ratio", "lower", "upper", "p_value", "smallest")
        frame |= {name: np.array([getattr(ratio, name) for _, ratio in rows]) for name in numbers}
        return Frame(frame)


def compare_runs(
    root: Path,
    sides: tuple[Sequence[StoredRun], Sequence[StoredRun]],
    margin: float,
    ops: Collection[str] | None = None,
) -> RunComparisonAnswer:
    """The verdicts; ``ops``: of these operations only.

    Raises UsageError for what cannot be compared, NothingMeasuredError, StoreError.
    """
    return RunComparisonAnswer(compared(root, *sides, margin, ops))
