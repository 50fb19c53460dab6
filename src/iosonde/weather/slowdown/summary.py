"""What a stretch of time amounts to: one row a series, all its samples pooled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iosonde.engine.contract import SERIES_KEY
from iosonde.model.frames import SeriesKey
from iosonde.weather.slowdown.slowdown import in_op_order
from iosonde.weather.store import Store

_STATISTICS = ("q50_ns", "q50_lower_ns", "q50_upper_ns", "q95_ns", "max_ns")


@dataclass(frozen=True)
class Pooled:
    """All samples of a series in a range. Latencies in ns of service; None = too few samples."""

    key: SeriesKey
    n_due: int
    n: int
    median_ns: float | None
    lower_ns: float | None
    upper_ns: float | None
    q95_ns: float | None
    max_ns: float | None


def pooled(
    store: Store,
    window_ns: int,
    since_ns: int,
    until_ns: int | None = None,
    *,
    host: str | None = None,
    targets: tuple[str, ...] | None = None,
) -> list[Pooled]:
    """Every series with samples in [since, until), widened to whole windows of ``window_ns``."""
    windows = in_op_order(
        store.windows(
            window_ns, host=host, since_ns=since_ns, until_ns=until_ns, statistics=("max_ns",)
        )
    )
    series = [
        (key, rows) for key, rows in windows.series() if targets is None or key.target in targets
    ]
    if not series:
        return []
    rows = np.concatenate([np.arange(where.start, where.stop) for _, where in series])
    tags = {name: windows[name][rows] for name in (*SERIES_KEY, "start_ns")}
    sizes = [where.stop - where.start for _, where in series]
    tags["tag"] = np.repeat(np.arange(len(series), dtype=np.int64), sizes)
    pools = store.pooled(tags, window_ns, _STATISTICS)
    found = {int(tag): row for row, tag in enumerate(pools["tag"])}
    return [
        Pooled(
            key,
            int(pools["n_due"][found[number]]),
            int(pools["n_seen"][found[number]]),
            *(_known(float(pools[name][found[number]])) for name in _STATISTICS),
        )
        for number, (key, _) in enumerate(series)
        if number in found
    ]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
