"""Reasons for slow storage, for data frames."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from iosonde.notebook.arguments import now_ns
from iosonde.notebook.columns import of_records
from iosonde.notebook.display import Answer
from iosonde.why.answers import why
from iosonde.why.data import NAMES
from iosonde.why.evidence import lines
from iosonde.why.links import Why
from iosonde.why.words import say

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.notebook.columns import Columns
    from iosonde.why.question import WhyQuestion


class WhyResult(Answer):
    """A row per link of the answer. ``data``: a ``Why``; ``lines``: the sentence, then the evidence."""

    data: Why

    def __init__(self, data: Why) -> None:
        now = now_ns()
        self.data = data
        self._evidence = lines(data, now, UTC)
        self.lines = (say(data, now, UTC), *self._evidence)

    @property
    def columns(self) -> Columns:
        """``link standing evidence``; without slowness no link has evidence."""
        texts = {text.partition(":")[0]: text.partition(": ")[2] for text in self._evidence}
        rows = [
            {
                "link": name,
                "standing": str(getattr(self.data.links, name).standing),
                "evidence": texts.get(name, ""),
            }
            for name in NAMES
        ]
        return of_records(rows, ("link", "standing", "evidence"))

    def _shown(self) -> Columns | None:
        return None


def explained(root: Path, question: WhyQuestion) -> WhyResult:
    """Ask why. Raises UsageError, NothingMeasuredError, StoreError."""
    return WhyResult(why(root, question, now_ns()))
