"""Windows as events are found in: what is not known of a window is NaN, and nothing stands in for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from iosonde.model.arrays import Flags, Floats
from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery
from iosonde.model.ops import DEFAULT_TRAILING_NS
from iosonde.model.slowdown import INTERVAL_NS, NULL_RATES
from iosonde.model.units import HOUR_NS
from iosonde.weather.events.events import COLUMNS
from iosonde.weather.events.pieces.alarms import with_rates
from iosonde.weather.events.pieces.series import JudgedSeries
from iosonde.weather.events.slow_intervals import RULE, OpWindows, sure_tail
from iosonde.weather.slowdown.baseline import LearntBaselines
from iosonde.weather.slowdown.guarded import STAGES
from iosonde.weather.slowdown.slowdown import judged_windows
from iosonde.weather.slowdown.window_length import MINUTE_NS
from iosonde.weather.slowdown.young import learnt_from
from iosonde.weather.store import Store

_YOUNG = {
    "typ": "slowdown",
    "typ_lower": "slowdown_lower",
    "typ_upper": "slowdown_upper",
}
"""What stands in for the typical slowdown in the first hour."""


_LEAST_ERRORS = 4.0
_INTERVAL_ERRORS = 3.92
"""Standard errors: as the detectors ask of a minute (docs/methods/alarms.md), and in a 95 % interval."""


def unrated(windows: Frame, known: LearntBaselines) -> Flags:
    """Which windows no detector looks at: it is not known yet how often operations are slow on an ordinary day."""
    found = np.zeros(len(windows), bool)
    for key, rows in windows.series():
        baseline = known.baselines.get(key)
        if baseline is not None and len(baseline.from_ns):
            missing = np.isnan(with_rates(baseline.numbers)[:, NULL_RATES])
            at = baseline.at(windows["start_ns"][rows])
            found[rows] = (at >= 0) & missing[at]
    return found


def for_events(windows: Frame, known: LearntBaselines) -> Frame:
    """Windows that ``judged_windows`` gives, with the columns that events need and ``learning``.

    While a baseline is learnt ``typ`` is the median over ``usual_ns``, that of the windows so far; there is no
    ``tail``, and ``lost`` only where its interval leaves no doubt. Of windows that the probing host explains nothing is
    known but what was lost. ``certain``: slow windows which no detector looks
    at: in the first hour and the first day, and windows of an hour and more.
    """
    if len(windows) == 0:
        return windows
    learning = windows["stage"].astype(str) == STAGES[0]
    busy = windows["host_busy"]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.log(windows["typ_upper"] / windows["typ_lower"]) / _INTERVAL_ERRORS
        alone = unrated(windows, known) | (windows["window_ns"] >= HOUR_NS)
        alone &= np.log(windows["typ"]) >= _LEAST_ERRORS * error
    tail = sure_tail(windows["tail"], windows["tail_lower"])
    lost, lower = windows["lost"], windows["lost_lower"]
    unsure = learning & (lost >= RULE.hot_lost) & ~(lower >= RULE.hot_lost)
    innocent = busy & ~(lost >= RULE.hot_lost)
    # Of few operations in ten minutes an early baseline is too quick (``young.judged_from``).
    early = (windows["window_ns"] > INTERVAL_NS) & (windows["stage"].astype(str) != STAGES[-1])
    unknown = busy | early
    typ = {
        name: np.where(unknown, np.nan, np.where(learning, windows[young], windows[name]))
        for name, young in _YOUNG.items()
    }
    columns = {name: windows[name] for name in (*COLUMNS, "period_ns", "host_busy")}
    return Frame(
        {
            **columns,
            **typ,
            "tail": np.where(unknown | learning, np.nan, tail),
            "lost": np.where(unsure | innocent, np.nan, lost),
            "learning": learning | early,
            "certain": (learning | alone) & windows["slow"] & ~unknown,
            "usual_ns": np.where(learning, windows["baseline_ns"], np.nan),
        }
    )


class Search(NamedTuple):
    """A query of a store, the baselines of its series and the lengths of their windows."""

    store: Store
    query: SlowdownQuery
    known: LearntBaselines
    windows: Mapping[SeriesKey, int]


def judged_in(
    search: Search, keys: Sequence[SeriesKey], window_ns: int, span_ns: tuple[int, int]
) -> dict[SeriesKey, JudgedSeries]:
    """Windows of ``keys`` that begin in [since, until) of a span, as events are found in them. Raises StoreError."""
    known, (since_ns, until_ns) = search.known, span_ns
    asked = replace(
        search.query,
        since_ns=_read_from(known, keys, since_ns) + DEFAULT_TRAILING_NS,
        until_ns=until_ns,
        window_ns=window_ns,
        statistic="typ",
        trailing_ns=DEFAULT_TRAILING_NS,
        rolled=window_ns > INTERVAL_NS,
    )
    wanted = set(keys)
    found: dict[SeriesKey, JudgedSeries] = {}
    for part in _parts(asked, keys):
        windows = judged_windows(search.store, part, known)
        rows = windows["start_ns"] >= since_ns
        mine = np.zeros(len(windows), dtype=bool)
        for key, of in windows.series():
            mine[of] = key in wanted
        if (rows & mine).any():
            found |= _judged_series(for_events(windows.take(rows & mine), known))
    return found


def _parts(query: SlowdownQuery, keys: Sequence[SeriesKey]) -> list[SlowdownQuery]:
    """A query for all series; of windows below a minute, which are many, one for each target that has them."""
    if query.window_ns >= MINUTE_NS:
        return [query]
    places = dict.fromkeys((key.host, key.target) for key in keys)
    return [replace(query, host=host, target=target) for host, target in places]


def _read_from(known: LearntBaselines, keys: Sequence[SeriesKey], at_ns: int) -> int:
    """From when on windows are read: from the first one of a series of which nothing was expected yet at an instant."""
    begins = [
        int(known.past[key].number[0]) * INTERVAL_NS
        for key in keys
        if len(known.past[key].number)
        and ((first := learnt_from(known, key)) is None or first > at_ns)
    ]
    return min(at_ns, max(min(begins, default=at_ns), at_ns - DEFAULT_TRAILING_NS))


def _judged_series(windows: Frame) -> dict[SeriesKey, JudgedSeries]:
    """Every series of a frame of ``for_events``."""
    found = {}
    for key, rows in windows.series():
        typ, tail, lost = (_rounded(windows[name][rows]) for name in ("typ", "tail", "lost"))
        part = OpWindows(
            windows["start_ns"][rows],
            typ,
            tail,
            lost,
            windows["n_due"][rows].astype(np.int64),
            int(windows["window_ns"][rows.start]),
            windows["learning"][rows],
            windows["certain"][rows].astype(np.bool_),
            *(_rounded(windows[name][rows]) for name in ("typ_lower", "typ_upper", "usual_ns")),
        )
        found[key] = JudgedSeries(part, windows["host_busy"][rows].astype(np.bool_))
    return found


def _rounded(values: Floats) -> Floats:
    """To single precision, as results of days that are over are kept."""
    return values.astype(np.float32).astype(np.float64)
