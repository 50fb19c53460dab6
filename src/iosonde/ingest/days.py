"""Limit on days: each has its own files in the store, so a row per day costs more than a million rows a day."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.errors import InputFileError
from iosonde.model.units import DAY_NS

if TYPE_CHECKING:
    from iosonde.model.arrays import Instants

MOST_DAYS = 3_700
"""Ten years, in one file or in several of a kind that are read together."""


class Days:
    """Days that rows of a file lie on."""

    def __init__(self, name: str | Path) -> None:
        self._name = name
        self._seen: set[int] = set()

    def room(self, time_ns: Instants) -> int:
        """Number of leading rows on the first ``MOST_DAYS`` distinct days."""
        days, places = np.unique(time_ns // DAY_NS, return_index=True)
        new = [(place, day) for day, place in zip(days.tolist(), places.tolist(), strict=True)
               if day not in self._seen]  # fmt: skip
        new.sort()
        left = MOST_DAYS - len(self._seen)
        self._seen.update(day for _, day in new[:left])
        return len(time_ns) if len(new) <= left else new[left][0]

    def knows(self, time_ns: int) -> bool:
        """True if a row is on one of these days."""
        return time_ns // DAY_NS in self._seen

    def refusal(self) -> InputFileError:
        """Error about the rows beyond the limit."""
        what = (
            f"{self._name} has rows of more than {MOST_DAYS} days; those of the first were imported"
        )
        return InputFileError(what, expected="ten years or less", hint="parts of it")
