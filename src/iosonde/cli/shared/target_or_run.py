"""Lookup of stored runs by name, where a target may be meant, too."""

from __future__ import annotations

from pathlib import Path

from iosonde.bench.compare.answers import StoredRun, read_runs
from iosonde.model.errors import UsageError
from iosonde.model.names import runs_called, spellings
from iosonde.weather.stored.answers import target_names

_PREFIX = "run:"


def run_named(root: Path, word: str | None) -> StoredRun | None:
    """Run that ``word`` names (its id, or its prefix); None for a target or no run.

    ``run:ID`` names no target. Raises UsageError for several runs, StoreError.
    """
    if word is None or (not word.startswith(_PREFIX) and spellings(word) & {*target_names(root)}):
        return None
    every = {run.run_id: run for run in read_runs(root)}
    found = runs_called(word.removeprefix(_PREFIX), list(every))
    if len(found) > 1:
        raise UsageError(
            f"{word.removeprefix(_PREFIX)!r} begins {len(found)} runs",
            expected="one of " + ", ".join(found[:5]),
        )
    return every[found[0]] if found else None
