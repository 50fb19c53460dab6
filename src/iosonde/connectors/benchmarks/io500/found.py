"""Contents of IO500 files: phases with their scores, and reasons for invalidity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PHASES = (
    *("ior-easy-write", "mdtest-easy-write", "mdworkbench-create", "find-easy", "ior-hard-write"),
    *("mdtest-hard-write", "find", "find-hard", "mdworkbench-bench", "ior-easy-read"),
    *("mdtest-easy-stat", "ior-hard-read", "mdtest-hard-stat", "mdworkbench-delete"),
    *("mdtest-easy-delete", "mdtest-hard-read", "mdtest-hard-delete", "ior-rnd4K-easy-read"),
    *("ior-rnd4K-write", "ior-rnd4K-read", "ior-rnd1MB-write", "ior-rnd1MB-read"),
    *("ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard", "mdworkbench"),
)
"""Names of phases; the last ones name files of several phases."""


@dataclass
class Io500Phase:
    """Phase of a run. None: not reported."""

    name: str
    score: float | None = None
    unit: str | None = None
    """``GiB/s`` or ``kIOPS``."""
    seconds: float | None = None
    """Including the setup around the measured part."""
    began: str | None = None
    ended: bool = True
    stonewall: float | None = None
    command: str | None = None
    values: dict[str, Any] = field(default_factory=dict)
    invalid: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def bandwidth(self) -> bool:
        """True if the score is a rate in bytes."""
        return self.name.startswith("ior")


@dataclass
class Io500:
    """A run, merged from any of its files."""

    version: str | None = None
    mode: str | None = None
    procs: int | None = None
    began: str | None = None
    config_hash: str | None = None
    phases: dict[str, Io500Phase] = field(default_factory=dict)
    scores: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By ``SCORE`` and ``SCOREX``: ``md_kiops``, ``bw_gib_per_s``, ``score``, ``invalid``, ``hash``."""
    invalid: list[str] = field(default_factory=list)
    """Reasons for which the whole run is invalid."""
    options: dict[str, Any] = field(default_factory=dict)

    def phase(self, name: str) -> Io500Phase:
        """Return a phase; create it if needed."""
        return self.phases.setdefault(name, Io500Phase(name))

    def join(self, other: Io500) -> None:
        """Merge another file of the same run; existing values win."""
        for name in ("version", "mode", "procs", "began", "config_hash"):
            if getattr(self, name) is None:
                setattr(self, name, getattr(other, name))
        for name, phase in other.phases.items():
            mine = self.phase(name)
            for of in ("score", "unit", "seconds", "began", "stonewall", "command"):
                if getattr(mine, of) is None:
                    setattr(mine, of, getattr(phase, of))
            mine.invalid = _both(mine.invalid, phase.invalid)
            mine.warnings = _both(mine.warnings, phase.warnings)
            mine.values = {**phase.values, **mine.values}
        for name, score in other.scores.items():
            own = self.scores.setdefault(name, {})
            invalid = own.get("invalid") or score.get("invalid")
            self.scores[name] = {**score, **own} | ({"invalid": True} if invalid else {})
        self.invalid = _both(self.invalid, other.invalid)
        self.options = {**other.options, **self.options}


def _both(one: list[str], other: list[str]) -> list[str]:
    """Reasons of both; the bare mark is dropped if a reason exists."""
    found = list(dict.fromkeys([*one, *other]))
    reasons = [text for text in found if text != "INVALID"]
    return reasons or found
