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
    from iosonde.model.arrays import Floats


LEAKS = 0.6
"""Rank correlation with the job's own activity above which a metric is no candidate."""
FEWEST_FOR_LEAK = 8
_EXTENSIVE = ("operations", "bytes", "node hours", "jobs", "nodes")
"""Units of amounts that add up during a job: a slow job has more because it is slow."""
_INTENSIVE = ("percent", "ratio", "hops", "servers", "OSTs", "°C")
"""Units that do not add up, like rates. For other units the slope decides, for unknown metrics."""
_PROPORTIONAL = (0.4, 2.5)
"""Slopes of the logarithm of a count on that of the run time: 1 if it adds up at a steady rate."""
_DIGITS = 9
"""Digits of the logarithm of a rate: an exactly steady one does not vary by rounding."""
STEADY = 3.0
"""Standard errors of a rank correlation within which a count's rate does not depend on the run time."""
SURE = 2.0
"""Rank correlations that chance hardly makes, times the root of the number of runs less 1."""
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
    names: Sequence[str], abouts: Sequence[About], x: Floats, seconds: Floats, speed: Floats
) -> list[str]:
    """Own activity that each metric follows; "" for none. The common judgement of explain, correlate and climate.

    ``x`` (n, p): the metrics ``names``; ``seconds`` (n,): run times; ``speed`` (n,): the performance that is explained,
    high is fast. A metric that changes over weeks follows nothing. Missing data: rows in which both are known count.
    """
    with_time, with_speed = rank_correlation(seconds, x), rank_correlation(speed, x)
    both = np.isfinite(speed)[:, None] & np.isfinite(x)
    told = []
    for i, about in enumerate(abouts):
        words = ""
        if about.role == "climate":
            pass
        elif abs(with_time[i]) > LEAKS and _adds_up(about, x[:, i], seconds):
            words = GROWS
        elif with_speed[i] > _rises(names[i], about, int(both[:, i].sum())):
            words = RISES
        told.append(words)
    return told


def speed_of(table: JobTable, performance: str) -> Floats:
    """(n,) ``performance``, high is fast; of another metric what the job moved a second; NaN where neither is known."""
    about = table.about(performance)
    if about.role == "performance" and performance in table.metrics:
        values = table.metrics[performance]
        return -values if about.good == "low" else values
    volume = table.metrics.get("own_bytes")
    if volume is None:
        return np.full(len(table), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(volume / seconds_of(table))


def seconds_of(table: JobTable) -> Floats:
    """(n,) run times in s: as the table gives them, else from begin to end; missing is NaN."""
    said = table.metrics.get("duration_s")
    return table.duration_s() if said is None else said


GROWS = "it grows with the job's run time"
RISES = "it rises with the job's own speed"


def _rises(name: str, about: About, n: int) -> float:
    """Rank correlation with speed, of ``n`` runs, above which a metric is the job's own work.

    A cause of which much is good rises with speed, and what others do is without the job's part. Where nobody says
    which side is bad, what falls with speed is work that was not done, whenever chance does not make it.
    """
    if name.partition("_")[0] in ("contention", "others"):
        return np.inf
    if about.good == "high" and about.role == "cause":
        return np.inf
    return LEAKS if about.good is not None else min(LEAKS, SURE / np.sqrt(max(n, 2) - 1))


def _adds_up(about: About, values: Floats, seconds: Floats) -> bool:
    """True if a metric that moves with the run time is a count over it: by its unit, or by proportional growth.

    A strong cause makes runs longer, so it moves with the run time too: a declared cause is believed, and of a count
    the rate does not depend on the run time, or falls where each run has some more.
    """
    amount = about.unit in _EXTENSIVE
    if about.unit in _INTENSIVE or about.unit.endswith("/s"):
        return False
    if about.role == "cause" and not amount:
        return False
    both = np.isfinite(values) & np.isfinite(seconds) & (values > 0) & (seconds > 0)
    n = int(both.sum())
    if n < FEWEST_FOR_LEAK:
        return amount
    x, y = np.log(seconds[both]), np.log(values[both])
    steady = np.round(y - x, _DIGITS)
    rate = float(rank_correlation(x, steady[:, None])[0]) * np.sqrt(n - 1)
    if amount:
        return bool(rate <= STEADY)
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread if spread > 0 else 0.0
    return _PROPORTIONAL[0] <= slope <= _PROPORTIONAL[1] and bool(abs(rate) <= STEADY)


def unleaked(x: Floats, told: Sequence[str]) -> Floats:
    """The metrics with leaking ones missing."""
    return np.where(np.array([bool(leak) for leak in told]), np.nan, x) if told else x
