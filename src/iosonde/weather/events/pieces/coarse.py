"""Series that are judged in windows of an hour and more: all of their time at once, from roll-ups.

Their windows reach over the spans that others are searched in, and their operations are few. Operations are read only
where windows show something: slow, or lost operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.model.frames import SeriesKey
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.weather.events.pieces.judged import Search, judged_in
from iosonde.weather.events.pieces.series import JudgedSeries
from iosonde.weather.events.pieces.span_pieces import with_pieces
from iosonde.weather.events.pieces.spans import Span
from iosonde.weather.events.slow_intervals import spells
from iosonde.weather.samples.operations import Operations
from iosonde.weather.slowdown.window_length import by_window
from iosonde.weather.store import Store

_AROUND = 3
"""Windows around what windows show in which its first and last operation may lie."""


def judged_coarse(search: Search, span_ns: tuple[int, int]) -> dict[SeriesKey, JudgedSeries]:
    """Every series that is judged in longer windows than ten minutes. Raises StoreError."""
    known = search.known
    coarse = {key: length for key, length in search.windows.items() if length > INTERVAL_NS}
    series: dict[SeriesKey, JudgedSeries] = {}
    for window_ns, keys in by_window(coarse):
        begin = span_ns[0] // window_ns * window_ns
        series |= judged_in(search, keys, window_ns, (begin, span_ns[1]))
    rows = _operations(search.store, series)
    found = {}
    for key, one in series.items():
        starts = one.windows.start_ns
        span = Span(int(starts[0]), int(starts[-1]) + one.windows.window_ns)
        whole = with_pieces(key, span, one, rows.get(key), known.baselines.get(key))
        number = known.past[key].number
        last = min(span_ns[1], (int(number[-1]) + 1) * INTERVAL_NS)
        found[key] = whole._replace(first_ns=int(starts[0]), last_ns=last)
    return found


def _operations(
    store: Store, series: Mapping[SeriesKey, JudgedSeries]
) -> dict[SeriesKey, Operations]:
    """Operations around what windows show."""
    shown = {key: ends for key, one in series.items() if (ends := _shown(one)) is not None}
    if not shown:
        return {}
    begin = min(first for first, _ in shown.values())
    return store.operations(list(shown), begin, max(last for _, last in shown.values()))


def _shown(series: JudgedSeries) -> tuple[int, int] | None:
    """Begin of the first and end of the last window that shows something, with a few around; None: none does."""
    windows = series.windows
    found = spells(windows, series.rule)
    ends = [end for piece in found for end in (piece.begin_ns, piece.end_ns)]
    lossy: Sequence[int] = windows.start_ns[np.nan_to_num(windows.lost) > 0].tolist()
    ends += lossy
    if not ends:
        return None
    around = _AROUND * windows.window_ns
    return min(ends) - around, max(ends) + around
