"""Causes of a slow event, for data frames."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.jobs.blame.answers import BlameAnswer, blamed
from iosonde.jobs.blame.interval import BlameQuestion
from iosonde.jobs.blame.ranking import Ranked, ranked
from iosonde.jobs.blame.words import sentences
from iosonde.notebook.arguments import now_ns
from iosonde.notebook.columns import of_records
from iosonde.notebook.display import Answer

if TYPE_CHECKING:
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

    def __init__(self, data: BlameAnswer) -> None:
        self.data = data
        first, *others = sentences(data, now_ns(), UTC)
        self.lines, self.notes = (first,), tuple(others)

    @property
    def columns(self) -> Columns:
        """All rows; loads that explain nothing have no share of the slowdown."""
        return of_records([_row(one) for one in ranked(self.data)], _COLUMNS)


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


def blame(root: Path, question: BlameQuestion) -> BlameResult:
    """Ask for causes. Raises UsageError, NothingMeasuredError, StoreError."""
    return BlameResult(blamed(root, question, now_ns()))
