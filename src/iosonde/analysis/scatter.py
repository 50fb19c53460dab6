"""Samples for a picture: each one while they are few, exact counts on a grid when they are many."""

from __future__ import annotations

import numpy as np

from iosonde.model.frames import Frame, SeriesKey, SlowdownResult
from iosonde.store.columns import SERIES_KEY
from iosonde.store.store import Store

MANY = 20_000
"""Samples of a series from which on they are counted on a grid."""
COLUMNS, PER_DECADE = 600, 24
"""Cells across, and cells a decade of latency."""


def scatter(store: Store, result: SlowdownResult) -> dict[SeriesKey, Frame]:
    """For every series of ``result`` its samples, or their counts.

    Few: ``due_ns service_ns felt_ns outcome``. Many: ``start_ns bin_ns kind level n`` as
    ``Store.cells`` gives them, ``COLUMNS`` bins across and ``PER_DECADE`` levels a decade.
    """
    windows = result.windows
    if len(windows) == 0:
        return {}
    query = result.query
    since = int(windows["start_ns"].min())
    until = int((windows["start_ns"] + windows["window_ns"]).max())
    since = since if query.since_ns is None else max(since, query.since_ns)
    until = until if query.until_ns is None else min(until, query.until_ns)
    many = any(int(windows["n_due"][rows].sum()) > MANY for _, rows in windows.series())
    if many:
        got = store.cells(
            max(1, -(-(until - since) // COLUMNS)),
            PER_DECADE,
            target=query.target,
            host=query.host,
            ops=query.ops,
            since_ns=since,
            until_ns=until,
        )
    else:
        got = store.samples(
            (*SERIES_KEY, "due_ns", "service_ns", "felt_ns", "outcome"),
            target=query.target,
            host=query.host,
            ops=query.ops,
            since_ns=since,
            until_ns=until,
        )
        order = np.lexsort([got[name] for name in ("due_ns", *reversed(SERIES_KEY))])
        got = got.take(order)
    return {key: got.take(rows) for key, rows in got.series()}
