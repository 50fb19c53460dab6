"""Meaning of numbers about a job: unit, good direction, role (``job_metrics.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

Good = Literal["high", "low"] | None
Role = Literal["performance", "cause", "effect", "own", "climate", ""]
"""``performance``: explained. ``cause``: can slow a job. ``effect``: a fast job itself raises or lowers it.
``own``: what the job itself did. ``climate``: changes over weeks, not from job to job. "": nobody says; it may be a
cause, or a count that adds up while a job runs."""
ROLES: tuple[str, ...] = tuple(role for role in get_args(Role) if role)
"""Roles that can be declared."""


class About(NamedTuple):
    """Description of a metric of a job."""

    unit: str
    label: str
    """For axes and sentences, without the unit."""
    good: Good = None
    """Good direction for the job; None: neutral or unknown."""
    role: Role = ""
    group: str = ""
    """Group of metrics with nearly the same meaning."""


@cache
def job_metrics() -> Mapping[str, About]:
    """Name -> description, from ``job_metrics.toml`` beside this file; the unit is the name's last word."""
    text = files("iosonde.model").joinpath("job_metrics.toml").read_text()
    return {one.pop("name"): About(**one) for one in tomllib.loads(text)["metric"]}


def about(metric: str) -> About:
    """Description of a metric; an undescribed one has no good direction. Features of a job's I/O are its own."""
    if metric.startswith("feature_"):
        unit = metric.rpartition("_")[2]
        return About(unit, metric.removesuffix(f"_{unit}").replace("_", " "), None, "own")
    return job_metrics().get(metric) or About("", metric.replace("_", " "))
