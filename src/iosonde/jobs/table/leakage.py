"""Selection of candidate causes: rates instead of amounts, without the job's own activity and its effects.

A metric whose window is the job's own run is contaminated: totals grow with the run time, and a fast job raises
rates at the servers itself. Source: docs/methods/umami.md, leakage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.table.coverage import others_seen, per_second
from iosonde.model.job_metrics import About, job_metrics
from iosonde.model.jobs import JobTable
from iosonde.stats.midranks import rank_correlation

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places


LEAKS = 0.6
"""Rank correlation with the job's own activity above which a metric is no candidate."""
FEWEST_FOR_LEAK = 8
_EXTENSIVE = ("operations", "bytes", "node hours", "jobs", "nodes")
"""Units of amounts that add up during a job: a slow job has more because it is slow."""
_INTENSIVE = ("percent", "ratio", "hops", "servers", "OSTs", "°C")
"""Units that do not add up, like rates. For other units the slope decides, for unknown metrics."""
_PROPORTIONAL = (0.4, 2.5)
"""Slopes of the logarithm of a count on that of the run time: 1 if it adds up at a steady rate."""
_OWN = {
    "server_opens": ("own_opens", "others_opens_per_s"),
    "server_getattrs": ("own_stats", "others_getattrs_per_s"),
    "server_read_ops": ("own_reads", "others_read_ops_per_s"),
    "server_write_ops": ("own_writes", "others_write_ops_per_s"),
}
"""Server operations -> the job's own part, and the name of the rest."""
_TRAFFIC = ("server_bytes", "server_read_bytes", "server_written_bytes")


def judged(table: JobTable) -> JobTable:
    """The table with metrics as they are judged: rates beside amounts."""
    more = candidates(table)
    abouts = {name: about_of(table, name) for name in more if name not in table.abouts}
    flags = dict(table.flags)
    for (row, name), told in table.flags.items():
        for made in _made_of(name):
            if made in more and made not in table.metrics:
                flags[row, made] = tuple(dict.fromkeys((*flags.get((row, made), ()), *told)))
    return replace(table.with_metrics(more), abouts={**abouts, **table.abouts}, flags=flags)


def _made_of(amount: str) -> tuple[str, ...]:
    """Rates derived from an amount."""
    return (f"{amount}_per_s", *(_OWN[amount][1:] if amount in _OWN else ()))


def candidates(table: JobTable) -> dict[str, Floats]:
    """Candidate causes: no own activity, nothing undescribed, and rates for amounts that add up during a job.

    A column that neither ``model.job_metrics`` nor the table describes may be an id. Of a metric that the table
    also has as a rate only the rate is kept; where the job's own share of it is known, that of others. Shapes (n,),
    missing is NaN.
    """
    seconds = table.duration_s()
    found: dict[str, Floats] = {}
    unknown, others_known = set(undescribed(table)), _without_own(table)
    for name, column in table.metrics.items():
        about = table.about(name)
        if about.role in ("performance", "own") or name == "duration_s" or name in unknown:
            continue
        if about.unit in ("operations", "bytes"):
            found |= _as_rate(table, name, _fitting(table, name, column), seconds)
        elif name not in others_known:
            found[name] = column
    return _without_mirrors(found)


def _as_rate(table: JobTable, name: str, column: Floats, seconds: Floats) -> dict[str, Floats]:
    """Rate of an amount: of others if the job's own part is known, else of all."""
    if name in _TRAFFIC and "others_bytes_per_s" in table.metrics:
        return {}
    if f"{name}_per_s" in _without_own(table):
        own, left = _OWN[name]
        return {left: per_second(others_seen(table.metrics[own], column), seconds)}
    return (
        {} if f"{name}_per_s" in table.metrics else {f"{name}_per_s": per_second(column, seconds)}
    )


def _fitting(table: JobTable, name: str, column: Floats) -> Floats:
    """An amount, missing in rows in which the servers saw less than the job did itself."""
    if name not in _TRAFFIC:
        return column
    rows = [
        row for row, one in table.flags if one == name and "over-covered" in table.flags[row, one]
    ]
    if not rows:
        return column
    known = column.copy()
    known[rows] = np.nan
    return known


def _without_own(table: JobTable) -> set[str]:
    """Rates at the servers that are replaced by those of others."""
    return {
        f"{name}_per_s"
        for name, (own, _) in _OWN.items()
        if name in table.metrics and own in table.metrics
    }


def _without_mirrors(found: dict[str, Floats]) -> dict[str, Floats]:
    """Candidates without contention if coverage is present: it is 1 - coverage."""
    return {
        name: column
        for name, column in found.items()
        if not (name.startswith("contention_") and name.replace("contention_", "cf_") in found)
    }


def about_of(table: JobTable, name: str) -> About:
    """Description of a metric; a rate computed here takes that of its amount."""
    known = table.about(name)
    if known.unit or not name.endswith("_per_s"):
        return known
    amount = table.about(name.removesuffix("_per_s"))
    return amount._replace(unit=f"{amount.unit}/s", label=f"{amount.label} a second")


def undescribed(table: JobTable) -> list[str]:
    """Columns known only by name."""
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
    """Own activity that each metric follows; "" for none. The common judgement of explain and correlate.

    ``x`` (n, p): the metrics ``names`` in ``rows``. A metric that changes over weeks follows nothing.
    """
    said = table.metrics.get("duration_s")
    seconds = (table.duration_s() if said is None else said)[rows]
    volume = table.metrics.get("own_bytes")
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = None if volume is None else volume[rows] / seconds
    with_time = rank_correlation(seconds, x)
    with_speed = np.zeros(len(names)) if speed is None else rank_correlation(speed, x)
    told = []
    for i, about in enumerate(abouts):
        words = ""
        if about.role == "climate":
            pass
        elif abs(with_time[i]) > LEAKS and _adds_up(names[i], about, x[:, i], seconds):
            words = GROWS
        elif (
            names[i].partition("_")[0] not in ("cf", "contention", "others")
            and with_speed[i] > LEAKS
        ):
            words = "it rises with the job's own speed"
        told.append(words)
    return told


GROWS = "it grows with the job's run time"


def _adds_up(name: str, about: About, values: Floats, seconds: Floats) -> bool:
    """True if a metric that moves with the run time is a count over it: by its unit, or by proportional growth."""
    if about.unit in _EXTENSIVE:
        return True
    if about.unit in _INTENSIVE or about.unit.endswith("/s") or name in job_metrics():
        return False
    both = np.isfinite(values) & np.isfinite(seconds) & (values > 0) & (seconds > 0)
    if both.sum() < FEWEST_FOR_LEAK:
        return False
    x, y = np.log(seconds[both]), np.log(values[both])
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread if spread > 0 else 0.0
    return _PROPORTIONAL[0] <= slope <= _PROPORTIONAL[1]


def unleaked(x: Floats, told: Sequence[str]) -> Floats:
    """The metrics with leaking ones missing."""
    return np.where(np.array([bool(leak) for leak in told]), np.nan, x) if told else x
