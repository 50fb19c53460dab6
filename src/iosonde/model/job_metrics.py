"""What numbers about a job mean: unit, which way is good, what they can be (``job_metrics.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

Good = Literal["high", "low"] | None
Role = Literal["performance", "cause", "effect", "own", "climate"]
"""``performance``: what is explained. ``cause``: can slow a job. ``effect``: a fast job itself raises or lowers it.
``own``: what the job itself did. ``climate``: changes over weeks, not from job to job."""


class About(NamedTuple):
    """What a metric of a job is."""

    unit: str
    label: str
    """For axes and sentences, without the unit."""
    good: Good = None
    """Which way is good for the job; None: neither (neutral), or not known."""
    role: Role = "cause"
    group: str = ""
    """Metrics of one group say nearly the same."""


@cache
def job_metrics() -> Mapping[str, About]:
    """Name -> what it is, as ``job_metrics.toml`` beside this file has it; the unit is the name's last word."""
    text = files("iosonde.model").joinpath("job_metrics.toml").read_text()
    return {one.pop("name"): About(**one) for one in tomllib.loads(text)["metric"]}


def about(metric: str) -> About:
    """What a metric is; one that nobody has described has no good way. Features of a job's own doing are its own."""
    if metric.startswith("feature_"):
        unit = metric.rpartition("_")[2]
        return About(unit, metric.removesuffix(f"_{unit}").replace("_", " "), None, "own")
    return job_metrics().get(metric) or About("", metric.replace("_", " "), None, "cause")
