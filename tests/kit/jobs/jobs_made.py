"""Tables of jobs that a test knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from iosonde.jobs.environment.servers import environment_in
from iosonde.jobs.store.scan import Passing
from iosonde.model.frames import NULL_NS
from iosonde.model.job_metrics import About
from iosonde.model.jobs import JobTable

START_S = 1_791_676_800
"""Sunday 2026-10-11, 00:00 UTC."""
DAY = 86_400


def table(
    metrics: dict[str, list[float] | np.ndarray],
    *,
    motif: str | list[str] = "app shared write",
    file_system: str | list[str] = "fs1",
    step: list[str] | None = None,
    job_id: list[str] | None = None,
    start_s: list[float] | None = None,
    abouts: dict[str, About] | None = None,
    flags: dict[tuple[int, str], tuple[str, ...]] | None = None,
) -> JobTable:
    """Jobs ``1``, ``2``, ... a day apart; NaN in ``start_s``: not known."""
    n = len(next(iter(metrics.values())))
    begins = start_s or [START_S + i * DAY for i in range(n)]
    start = np.array([NULL_NS if np.isnan(s) else int(s * 1e9) for s in begins], dtype=np.int64)

    def names(value: str | list[str] | None) -> np.ndarray:
        return np.array([value or ""] * n if isinstance(value, str | None) else value, dtype=object)

    return JobTable(
        job_id=names(job_id or [str(i + 1) for i in range(n)]),
        step=names(step),
        start_ns=start,
        end_ns=np.where(start == NULL_NS, NULL_NS, start + 120 * 10**9),
        file_system=names(file_system),
        motif=names(motif),
        metrics={name: np.array(column, dtype=np.float64) for name, column in metrics.items()},
        abouts=abouts or {},
        flags=flags or {},
        source="made",
    )


def simulated(n: int = 30, seed: int = 7) -> JobTable:
    """``n`` runs; the last one while others moved much data and the metadata server was busy (simulated)."""
    rng = np.random.default_rng(seed)

    def around(middle: float, spread: float, last: float) -> np.ndarray:
        values = middle * np.exp(spread * rng.standard_normal(n))
        values[-1] = last
        return values

    full = np.linspace(61.0, 68.5, n) + 0.3 * rng.standard_normal(n)
    return table(
        {
            "fraction_of_peak_ratio": np.minimum(1.0, around(0.86, 0.07, 0.42)),
            "cf_bandwidth_ratio": np.minimum(1.02, around(0.97, 0.015, 0.68)),
            "cf_opens_ratio": np.minimum(1.0, around(0.6, 0.2, 0.11)),
            "cf_ops_ratio": np.minimum(1.0, around(0.9, 0.04, 0.91)),
            "mds_cpu_mean_percent": around(2.0, 0.3, 11.5),
            "oss_cpu_max_percent": around(30.0, 0.2, 36.0),
            "fullest_ost_percent": full,
            "overloaded_oss": np.where(np.arange(n) == n // 3, 1.0, 0.0),
            "radius_max_hops": around(7.0, 0.2, 5.0),
        },
        file_system="work",
        motif="ior shared write",
    )


def environment(root: Path, job: Any) -> Any:
    """What a store's records say of one job."""
    with Passing(root) as store:
        return environment_in(store, job)
