"""What a known load did to storage: each op during the load against its baseline before it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from iosonde.engine.contract import SERIES_KEY
from iosonde.model.frames import Frame, SeriesKey, SlowdownQuery, SlowdownResult, SlowSpan
from iosonde.weather.slowdown import rules as verdict
from iosonde.weather.slowdown.runs import runs_of
from iosonde.weather.slowdown.slowdown import analyse
from iosonde.weather.slowdown.spans import spans_of
from iosonde.weather.store import Store

_STATISTICS = ("q50_ns", "q50_lower_ns", "q50_upper_ns")


@dataclass(frozen=True)
class Effect:
    """One op under a load. Latencies in ns of service, ratios with their 95% interval.

    ``usual_ns`` is the baseline when the load began; ``n`` ok samples lie in windows inside the load.
    ``span`` is the slow stretch found that overlaps the load, without knowing of it: then the median
    and the slowdown are its, as every door tells them, else those of the ``n`` samples. ``late_ns``:
    how long after the load's begin its first slow sample was due (negative: before it). None where
    there is no number.
    """

    key: SeriesKey
    usual_ns: float | None
    median_ns: float | None
    slowdown: float | None
    lower: float | None
    upper: float | None
    n: int
    span: SlowSpan | None
    late_ns: int | None

    @property
    def cause(self) -> str:
        """``storage``, ``host`` (this host was busy), ``none`` (not slow) or ``unknown``."""
        if self.span is None:
            return "unknown" if self.slowdown is None else "none"
        return "host" if self.span.host_busy else "storage"


def effects(
    store: Store, began_ns: int, ended_ns: int, window_ns: int, target: str | None = None
) -> list[Effect]:
    """Every series during [began, ended), in the order of ops."""
    result = analyse(store, SlowdownQuery(target=target, window_ns=window_ns))
    windows = result.windows
    inside = (windows["start_ns"] >= began_ns) & (windows["start_ns"] + window_ns <= ended_ns)
    series = list(windows.series())
    number = np.empty(len(windows), dtype=np.int64)
    for tag, (_, rows) in enumerate(series):
        number[rows] = tag
    tags = {name: windows[name][inside] for name in (*SERIES_KEY, "start_ns")}
    pools = store.pooled({**tags, "tag": number[inside]}, window_ns, _STATISTICS)
    found = {int(tag): row for row, tag in enumerate(pools["tag"])}
    return [
        _effect(
            key,
            _baseline_before(windows.take(rows), began_ns),
            pools.take(slice(found[tag], found[tag] + 1)) if tag in found else None,
            _overlapping(result.spans, key, (began_ns, ended_ns)),
            began_ns,
        )
        for tag, (key, rows) in enumerate(series)
    ]


def _effect(
    key: SeriesKey,
    usual_ns: float | None,
    pool: Frame | None,
    span: SlowSpan | None,
    began_ns: int,
) -> Effect:
    values = [np.nan if pool is None else float(pool[name][0]) for name in _STATISTICS]
    median, lower, upper = (None if np.isnan(value) else value for value in values)

    def ratio(value: float | None) -> float | None:
        return None if value is None or usual_ns is None else value / usual_ns

    factors = ratio(median), ratio(lower), ratio(upper)
    if span is not None and span.slowdown is not None and usual_ns is not None:
        factors = span.slowdown, span.lower, span.upper
        median = span.slowdown * usual_ns
    return Effect(
        key,
        usual_ns,
        median,
        *factors,
        0 if pool is None else int(pool["n_seen"][0]),
        span,
        None if span is None else span.start_ns - began_ns,
    )


def _baseline_before(windows: Frame, began_ns: int) -> float | None:
    """The last known baseline of a window that began before the load."""
    known = windows["baseline_ns"][windows["start_ns"] <= began_ns]
    known = known[~np.isnan(known)]
    return float(known[-1]) if len(known) else None


def _overlapping(spans: list[SlowSpan], key: SeriesKey, load: tuple[int, int]) -> SlowSpan | None:
    """The longest slow stretch of a series that overlaps the load."""
    began, ended = load
    touching = [s for s in spans if s.key == key and s.start_ns < ended and s.end_ns > began]
    return max(touching, key=lambda span: span.windows, default=None)


def held(store: Store, result: SlowdownResult, began_ns: int) -> SlowdownResult:
    """The same with each baseline from ``began_ns`` on as it was then: a sliding one would learn the load.

    Windows whose baseline was not known by then keep theirs. Raises StoreError.
    """
    windows = result.windows
    names = ("slowdown", "slowdown_lower", "slowdown_upper")
    columns = {name: windows[name].copy() for name in ("baseline_ns", "slow", *names)}
    for _, rows in windows.series():
        usual = _baseline_before(windows.take(rows), began_ns)
        if usual is None:
            continue
        mine = np.arange(rows.start, rows.stop)
        later = mine[windows["start_ns"][rows] >= began_ns]
        columns["baseline_ns"][later] = usual
        for name, measured in zip(names, _STATISTICS, strict=True):
            columns[name][later] = windows[measured][later] / usual
        columns["slow"][later] = verdict.slow(
            windows["q50_ns"][later], windows["q50_lower_ns"][later], np.full(len(later), usual)
        )
    columns["host_busy"] = windows["host_busy"] & columns["slow"]
    windows = windows.with_columns(columns)
    spans = spans_of(store, windows, list(runs_of(windows, None)))
    return replace(result, windows=windows, spans=spans)
