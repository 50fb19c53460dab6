"""A finding of the doctor: observation, reason, advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.doctor.checks import CHECKS
from iosonde.model.text import clean_text

LEVELS = ("ok", "note", "warning", "problem")
"""From good to bad. A note is information; a warning or a problem needs action."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """``found`` holds the numbers behind ``says``, with the unit as the last word of each name."""

    id: str
    subject: str
    level: str
    says: str
    found: dict[str, Any]

    @property
    def why(self) -> str:
        """Reason for the check, in one sentence."""
        return CHECKS[self.id].why

    @property
    def advice(self) -> str | None:
        """Advice; None for a good result."""
        return None if self.level == "ok" else CHECKS[self.id].advice

    def to_json(self) -> dict[str, Any]:
        """Plain data, in the order in which people read it."""
        return {
            "id": self.id,
            "subject": self.subject,
            "level": self.level,
            "says": self.says,
            "found": self.found,
            "why": self.why,
            "advice": self.advice,
        }


class Findings:
    """Collects findings on one subject."""

    def __init__(self, subject: str) -> None:
        self.subject = clean_text(subject)
        self.all: list[Diagnosis] = []

    def add(self, id: str, level: str, says: str, **found: Any) -> None:
        """``id`` must be one of CHECKS, ``level`` one of LEVELS."""
        if id not in CHECKS or level not in LEVELS:
            raise KeyError(f"{id} {level}")
        self.all.append(Diagnosis(id, self.subject, level, clean_text(says), found))


def worst(findings: Sequence[Diagnosis]) -> str:
    """The worst level; ok for none."""
    return max((finding.level for finding in findings), key=LEVELS.index, default="ok")


def size(value: float) -> str:
    """``1.5 GiB``: bytes for people."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            return (
                f"{value:.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.3g} {unit}"
            )
        value /= 1024
    return f"{value:.0f} PiB" if value >= 100 else f"{value:.3g} PiB"
