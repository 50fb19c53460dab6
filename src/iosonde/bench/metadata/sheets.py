"""Sheets of a benchmark of our own: how latencies are distributed, and when slow operations were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from iosonde.drawing.sheet import Sheet
from iosonde.model.frames import SlowdownQuery
from iosonde.weather.figures.densities import densities
from iosonde.weather.figures.density import density_sheet
from iosonde.weather.figures.request import ABOVE_NS, SEED, SPARSE, runs_named
from iosonde.weather.figures.sparse import sparse_sheet
from iosonde.weather.samples.periods import runs
from iosonde.weather.samples_to_draw import thinned
from iosonde.weather.store import Store


def bench_sheets(store: Store, targets: Mapping[str, str]) -> tuple[Sheet | None, Sheet | None]:
    """Density and timeline of all phases of some runs, by id with their targets; None without operations.

    Raises UsageError for a run without samples.
    """
    span = runs_named(list(targets), runs(store.root))
    query = SlowdownQuery(since_ns=span.since_ns, until_ns=span.until_ns, runs=span.run_ids)
    points = thinned(store, query, SPARSE, ABOVE_NS, SEED)
    named = [
        replace(one, name=_name(one.name, targets))
        for one in densities(store, query)
        if not one.name.endswith("-cleanup")
    ]
    return (
        density_sheet(named),
        sparse_sheet(points, span.since_ns, span.until_ns, ABOVE_NS, SEED),
    )


def _name(run_id: str, targets: Mapping[str, str]) -> str:
    """The phase of a sample's run, and its target where there are several."""
    for run, target in targets.items():
        if run_id.startswith(f"{run}-"):
            phase = run_id[len(run) + 1 :]
            return phase if len(set(targets.values())) == 1 else f"{phase}, {target}"
    return run_id
