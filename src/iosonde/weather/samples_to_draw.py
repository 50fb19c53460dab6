"""Samples for a picture: single ones if few, exact counts on a grid if many."""

from __future__ import annotations

import numpy as np

from iosonde.engine.contract import SERIES_KEY
from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery, SlowdownResult, WhichSamples
from iosonde.weather.store import Store

MANY = 20_000
"""Number of samples of a series from which on they are counted on a grid ..."""
MANY_IN_ALL = 200_000
"""... and number over all series together."""
COLUMNS, PER_DECADE = 600, 24
"""Cells across, and cells per decade of latency."""


def scatter(store: Store, result: SlowdownResult) -> dict[SeriesKey, Frame]:
    """Samples of the windows of ``result``: see ``gather``."""
    windows = result.windows
    if len(windows) == 0:
        return {}
    query = result.query
    since = int(windows["start_ns"].min())
    until = int((windows["start_ns"] + windows["window_ns"]).max())
    since = since if query.since_ns is None else max(since, query.since_ns)
    until = until if query.until_ns is None else min(until, query.until_ns)
    many = any(int(windows["n_due"][rows].sum()) > MANY for _, rows in windows.series())
    return gather(store, query, since, until, many=many)


def thinned(
    store: Store, query: SlowdownQuery, wanted: int, above_ns: int, seed: int
) -> dict[SeriesKey, Frame]:
    """Random samples, about ``wanted`` per op and target, and all above ``above_ns``.

    Columns: ``due_ns service_ns response_ns outcome of_all``. Hosts (ranks) and periods are pooled: the keys have no
    host. Which samples are taken follows from ``seed``. What did not end ok is all there.
    """
    found = store.sparse(
        wanted,
        above_ns,
        seed,
        **query.which_samples(),
    )
    n = len(found)
    pooled = {
        "host": np.full(n, "", dtype=object),
        "period_ns": np.zeros(n, dtype=np.int64),
    }
    return {key: found.take(rows) for key, rows in found.with_columns(pooled).series()}


def gather(
    store: Store, query: SlowdownQuery, since_ns: int, until_ns: int, *, many: bool | None = None
) -> dict[SeriesKey, Frame]:
    """Samples due in [since, until), or their counts, for every series; shed ones do not count.

    Few: ``due_ns service_ns response_ns outcome``. Many: ``start_ns bin_ns kind level n`` as
    ``Store.cells`` gives them, ``COLUMNS`` bins across and ``PER_DECADE`` levels a decade. ``many``
    None: as ``MANY_IN_ALL`` says. The answer is all of one form.
    """
    which: WhichSamples = {**query.which_samples(), "since_ns": since_ns, "until_ns": until_ns}
    if many is None:
        n = store.count(**which)
        many = n > MANY_IN_ALL
    if many:
        got = store.cells(max(1, -(-(until_ns - since_ns) // COLUMNS)), PER_DECADE, **which)
    else:
        got = store.samples(
            (*SERIES_KEY, "due_ns", "service_ns", "response_ns", "outcome"), **which
        )
        got = got.take(got["outcome"] != "shed")
        order = np.lexsort([got[name] for name in ("due_ns", *reversed(SERIES_KEY))])
        got = got.take(order)
    return {key: got.take(rows) for key, rows in got.series()}
