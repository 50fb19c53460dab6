"""Runs of the table ``runs`` as people name them, where a target may be meant, too."""

from __future__ import annotations

from collections.abc import Callable

from iosonde.bench.runs.store import StoredRun, read_runs
from iosonde.model.errors import UsageError
from iosonde.weather.selectors import runs_called, spellings
from iosonde.weather.store import Store

_PREFIX = "run:"


def run_named(
    store: Store, word: str | None, wanted: Callable[[StoredRun], bool] = lambda _: True
) -> StoredRun | None:
    """The run that ``word`` names (its id, or how it begins); None where it names a target or no run.

    ``run:ID`` names no target. Raises UsageError for several runs, StoreError.
    """
    if word is None:
        return None
    known = {ref.target for ref in store.targets()}
    if not word.startswith(_PREFIX) and spellings(word) & known:
        return None
    every = {run.run_id: run for run in read_runs(store.root) if wanted(run)}
    found = runs_called(word.removeprefix(_PREFIX), list(every))
    if len(found) > 1:
        raise UsageError(
            f"{word!r} begins {len(found)} runs", expected="one of " + ", ".join(found[:5])
        )
    return every[found[0]] if found else None
