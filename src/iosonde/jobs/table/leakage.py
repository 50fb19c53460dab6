"""What can be asked who slowed a job: rates instead of amounts, without what the job itself did, and what it moves.

A metric whose window is the job's own run is contaminated: totals grow with the run time, and a fast job raises
rates at the servers itself. Source: docs/methods/umami.md, leakage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.table.coverage import others, per_second
from iosonde.model.job_metrics import About, job_metrics
from iosonde.model.jobs import JobTable
from iosonde.stats.midranks import midranks

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places


LEAKS = 0.6
"""A metric whose rank correlation with what the job itself did is above this is not asked who did it."""
FEWEST_FOR_LEAK = 8
_EXTENSIVE = ("operations", "bytes", "node hours")
"""Units of what adds up while a job runs: a slow job has more of it because it is slow."""
_OWN = {
    "server_opens": ("own_opens", "others_opens_per_s"),
    "server_getattrs": ("own_stats", "others_getattrs_per_s"),
    "server_read_ops": ("own_reads", "others_read_ops_per_s"),
    "server_write_ops": ("own_writes", "others_write_ops_per_s"),
}
"""What of servers' operations was the job's own, and what is left of them called."""
_TRAFFIC = ("server_bytes", "server_read_bytes", "server_written_bytes")


def judged(table: JobTable) -> JobTable:
    """The table with the metrics as they are judged: rates beside what adds up."""
    more = candidates(table)
    abouts = {name: about_of(table, name) for name in more if name not in table.abouts}
    return replace(table.with_metrics(more), abouts={**abouts, **table.abouts})


def candidates(table: JobTable) -> dict[str, Floats]:
    """What can be asked who did it: no own doing, nothing undescribed, and rates of what adds up while a job runs.

    A column that neither ``model.job_metrics`` nor the table describes may be an id. Of a metric that the table
    also has as a rate only the rate is kept; where the job's own share of it is known, that of others. Shapes (n,),
    missing is NaN.
    """
    seconds = table.duration_s()
    found: dict[str, Floats] = {}
    for name, column in table.metrics.items():
        about = table.about(name)
        if (
            about.role in ("performance", "own")
            or name == "duration_s"
            or name in undescribed(table)
        ):
            continue
        if about.unit in ("operations", "bytes"):
            found |= _as_rate(table, name, column, seconds)
        elif name not in _without_own(table):
            found[name] = column
    return _without_mirrors(found)


def _as_rate(table: JobTable, name: str, column: Floats, seconds: Floats) -> dict[str, Floats]:
    """What adds up, a second: of others where the job's own share is known, else of all."""
    if name in _TRAFFIC and "others_bytes_per_s" in table.metrics:
        return {}
    if f"{name}_per_s" in _without_own(table):
        own, left = _OWN[name]
        return {left: per_second(others(table.metrics[own], column), seconds)}
    return (
        {} if f"{name}_per_s" in table.metrics else {f"{name}_per_s": per_second(column, seconds)}
    )


def _without_own(table: JobTable) -> set[str]:
    """Rates at the servers that are given as those of others."""
    return {
        f"{name}_per_s"
        for name, (own, _) in _OWN.items()
        if name in table.metrics and own in table.metrics
    }


def _without_mirrors(found: dict[str, Floats]) -> dict[str, Floats]:
    """Contention is 1 - coverage: one of the two is enough."""
    return {
        name: column
        for name, column in found.items()
        if not (name.startswith("contention_") and name.replace("contention_", "cf_") in found)
    }


def about_of(table: JobTable, name: str) -> About:
    """Of a rate made here, what the amount is."""
    known = table.about(name)
    if known.unit or not name.endswith("_per_s"):
        return known
    amount = table.about(name.removesuffix("_per_s"))
    return amount._replace(unit=f"{amount.unit}/s", label=f"{amount.label} a second")


def undescribed(table: JobTable) -> list[str]:
    """Columns of which nothing but the name is known."""
    return [
        name for name in table.metrics if name not in job_metrics() and name not in table.abouts
    ]


def leaks(
    table: JobTable,
    rows: Places,
    names: Sequence[str],
    x: Floats,
    abouts: Sequence[About],
) -> list[str]:
    """Per metric, what of the job's own doing it follows; "" for none."""
    seconds = table.duration_s()[rows]
    volume = table.metrics.get("own_bytes")
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = None if volume is None else volume[rows] / seconds
    told = []
    for i, about in enumerate(abouts):
        words = ""
        if about.unit in _EXTENSIVE and abs(_rank_r(x[:, i], seconds)) > LEAKS:
            words = "it grows with the job's run time"
        elif (
            speed is not None
            and names[i].partition("_")[0] not in ("cf", "contention", "others")
            and _rank_r(x[:, i], speed) > LEAKS
        ):
            words = "it rises with the job's own speed"
        told.append(words)
    return told


def _rank_r(one: Floats, other: Floats) -> float:
    """Spearman of two columns; 0 where too few are known."""
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < FEWEST_FOR_LEAK:
        return 0.0
    a, b = (midranks(column[both][:, None])[:, 0] for column in (one, other))
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0


def unleaked(x: Floats, told: Sequence[str]) -> Floats:
    """The metrics with those that leak taken out (all missing)."""
    return np.where(np.array([bool(leak) for leak in told]), np.nan, x) if told else x
