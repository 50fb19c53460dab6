"""Lookup of stored runs by name, where a target may be meant, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from iosonde.bench.compare.answers import StoredRun, read_runs
from iosonde.model.errors import UsageError
from iosonde.weather.selectors import runs_called, spellings
from iosonde.weather.store import Store

_PREFIX = "run:"


def run_named(
    store: Store, word: str | None, wanted: Callable[[StoredRun], bool] = lambda _: True
) -> StoredRun | None:
    """Run that ``word`` names (its id, or its prefix); None for a target or no run.

    ``run:ID`` names no target. Raises UsageError for several runs, StoreError.
    """
    return None if word is None else runs_named(store, [word], wanted)[0]


def runs_named(
    store: Store, words: Sequence[str], wanted: Callable[[StoredRun], bool]
) -> list[StoredRun | None]:
    """``run_named`` of several words; the runs are read once."""
    known = {ref.target for ref in store.targets()}
    asked = [word for word in words if word.startswith(_PREFIX) or not spellings(word) & known]
    every: dict[str, StoredRun] = {}
    if asked:
        every = {run.run_id: run for run in read_runs(store.root) if wanted(run)}
    return [_one(word.removeprefix(_PREFIX), every) if word in asked else None for word in words]


def _one(word: str, every: Mapping[str, StoredRun]) -> StoredRun | None:
    found = runs_called(word, list(every))
    if len(found) > 1:
        raise UsageError(
            f"{word!r} begins {len(found)} runs", expected="one of " + ", ".join(found[:5])
        )
    return every[found[0]] if found else None
