"""Causes of a slow event, for data frames."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.jobs import answers
from iosonde.notebook.arguments import now_ns
from iosonde.notebook.columns import of_records
from iosonde.notebook.display import Answer

if TYPE_CHECKING:
    from iosonde.jobs.blame.answers import BlameAnswer
    from iosonde.jobs.blame.ranking import Ranked
    from iosonde.notebook.columns import Columns

_COLUMNS = (
    *("who", "user", "account", "name", "start_ns", "nodes", "ops", "least", "most", "share"),
    *("bytes", "slowdown_share", "slowdown_lower", "slowdown_upper", "confidence"),
)


class BlameResult(Answer):
    """A row per job, user, account, name or node. ``data``: a ``BlameAnswer``; ``lines``: the verdict.

    ``ops``: operations in the interval, with bounds; ``share``: of all; ``slowdown_share``: of the slowdown.
    """

    data: BlameAnswer

    def __init__(self, found: answers.Blamed) -> None:
        self._found, self.data = found, found.answer
        first, *others = found.sentences
        self.lines, self.notes = (first,), tuple(others)

    @property
    def columns(self) -> Columns:
        """All of them; those that no load explains have no part of the slowdown."""
        return of_records([_row(one) for one in self._found.ranked], _COLUMNS)


def _row(one: Ranked) -> dict[str, object]:
    row: dict[str, object] = dict.fromkeys(_COLUMNS) | {"who": one.who, "bytes": one.bytes}
    if one.run is not None:
        row |= {"user": one.run.user, "account": one.run.account, "name": one.run.name}
        row["start_ns"] = one.run.began_ns
    if one.done is not None:
        row |= {
            name: getattr(one.done, name) for name in ("nodes", "ops", "least", "most", "share")
        }
    if one.load is not None:
        suspect = one.load.suspect
        row |= {"slowdown_share": suspect.share, "slowdown_lower": suspect.lower}
        row |= {"slowdown_upper": suspect.upper, "confidence": str(suspect.confidence)}
    return row


def blame(root: Path, question: answers.BlameQuestion) -> BlameResult:
    """Raises UsageError, NothingMeasuredError, StoreError."""
    return BlameResult(answers.blame(root, question, now_ns(), UTC))
