"""Reasons for slow storage, for data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.notebook.arguments import now_ns
from iosonde.notebook.columns import of_records
from iosonde.notebook.display import Answer
from iosonde.why.answers import WhyAnswer, WhyQuestion, why

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.notebook.columns import Columns


class WhyResult(Answer):
    """A row per link of the answer. ``data``: a ``WhyAnswer``; ``lines``: the sentence, then the evidence."""

    data: WhyAnswer

    def __init__(self, data: WhyAnswer) -> None:
        self.data = data
        self.lines = (data.sentence, *data.evidence())

    @property
    def columns(self) -> Columns:
        """``link standing evidence``; without slowness no link has evidence."""
        table = self.data.table()
        return of_records(table.rows, table.names)

    def _shown(self) -> Columns | None:
        return None


def explained(root: Path, question: WhyQuestion) -> WhyResult:
    """Ask why. Raises UsageError, NothingMeasuredError, StoreError."""
    return WhyResult(why(root, question, now_ns()))
