"""Sheets of a benchmark of our own: how latencies are distributed, and when slow operations were."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.analysis.density import densities
from iosonde.analysis.figures import ABOVE_NS, SEED, SPARSE, runs_named
from iosonde.analysis.scatter import thinned
from iosonde.model.frames import SlowdownQuery
from iosonde.plots.sheet import Sheet
from iosonde.plots.sheets_density import density_sheet
from iosonde.plots.sheets_sparse import sparse_sheet
from iosonde.store.periods import runs
from iosonde.store.store import Store


def bench_sheets(store: Store, run_ids: Sequence[str]) -> tuple[Sheet | None, Sheet | None]:
    """Density and timeline of all phases of some runs; None where nothing was kept.

    Raises UsageError for a run without samples.
    """
    span = runs_named(run_ids, runs(store.root))
    query = SlowdownQuery(since_ns=span.since_ns, until_ns=span.until_ns, runs=span.run_ids)
    points = thinned(store, query, SPARSE, ABOVE_NS, SEED)
    return (
        density_sheet(densities(store, query)),
        sparse_sheet(points, span.since_ns, span.until_ns, ABOVE_NS, SEED),
    )
