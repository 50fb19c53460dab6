"""Statistics of regular intervals: one row for every interval of the range, NaN if unknown."""

from __future__ import annotations

import numpy as np

from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery
from iosonde.model.ops import OF_WINDOW, op_order
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.weather.figures.distributions import column
from iosonde.weather.store import Store


def intervals(store: Store, query: SlowdownQuery) -> dict[SeriesKey, Frame]:
    """Every series' statistics in intervals of ``query.window_ns``, in the order of ops.

    Columns: ``start_ns n_due n_seen`` and ``mean_ns q25_ns q50_ns q75_ns q90_ns q95_ns q99_ns max_ns``.
    All series have the same rows, from the first interval to the last one in which any has samples;
    an interval without samples has counts of 0 and NaN. Sources: paper, section 3.2 and figures 4, 5.
    """
    rolled = query.rolled and query.window_ns % INTERVAL_NS == 0
    windows = (store.rolled_windows if rolled else store.windows)(
        query.window_ns,
        **query.which(),
        statistics=[f"{column(name)}_ns" for name in OF_WINDOW],
    )
    if len(windows) == 0:
        return {}
    found = {key: windows.take(rows) for key, rows in windows.series()}
    first, last = int(windows["start_ns"].min()), int(windows["start_ns"].max())
    whole = {key: on_grid(part, first, last, query.window_ns) for key, part in found.items()}
    return dict(sorted(whole.items(), key=lambda item: (op_order(item[0].op), item[0])))


def on_grid(windows: Frame, first_ns: int, last_ns: int, window_ns: int) -> Frame:
    """Rows for every interval from ``first_ns`` to ``last_ns``: missing ones have NaN, counts 0.

    ``windows``: of one series, sorted by start. Columns that are neither float nor counts are left
    out; truth values are False where nothing is known.
    """
    start = np.arange(first_ns, last_ns + 1, window_ns, dtype=np.int64)
    place = (windows["start_ns"] - first_ns) // window_ns
    inside = (place >= 0) & (place < len(start))
    columns = {"start_ns": start}
    for name, values in windows.columns.items():
        if values.dtype.kind not in "fb" and name not in ("n_due", "n_seen"):
            continue
        empty = np.full(len(start), np.nan if values.dtype.kind == "f" else 0, dtype=values.dtype)
        empty[place[inside]] = values[inside]
        columns[name] = empty
    return Frame(columns)
