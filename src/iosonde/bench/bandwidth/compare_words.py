"""Sentences and cells about two bandwidth runs. A sentence has at most 25 words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from iosonde.bench.bandwidth.compare import BandwidthRatio, different_parameters
from iosonde.bench.bandwidth.words import format_bandwidth
from iosonde.bench.runs.described import parameter_words
from iosonde.model.runs import RunRow
from iosonde.weather.compare.ratios import ratio_text, short_ratio

HEAD = ("", "", "B is", "B / A", "A", "B", "n of A", "n of B")
_MAIN = "until the last rank"
"""The rate that a sentence is about: what a job that waits for all its data has."""
_MOST_NAMED = 6


def say_rates(found: Sequence[BandwidthRatio], margin: float) -> list[str]:
    """A sentence a direction."""
    main = [one for one in found if one.rate == _MAIN]
    return [_say(one, margin) for one in main or found]


def _say(one: BandwidthRatio, margin: float) -> str:
    what = f"{one.direction}s"
    if one.lower is None:
        few = "one repetition cannot tell that from chance"
        return f"{what}: B's rate {one.rate} is {short_ratio(one.ratio)} times A's; {few}"
    times = f"{ratio_text(one.ratio, one.lower, one.upper)} times A's"
    match one.verdict:
        case "same":
            return f"{what} are the same within {margin - 1:.0%}: B's rate is {times}"
        case "unknown":
            return f"{what}: the repetitions cannot tell; B's rate is {times}"
    return f"{what} are {one.verdict} in B: its rate {one.rate} is {times}"


def rate_cells(found: Sequence[BandwidthRatio]) -> list[tuple[str, ...]]:
    """A row a rate, under ``HEAD``."""
    return [
        (
            one.direction,
            one.rate,
            one.verdict,
            short_ratio(one.ratio)
            if one.lower is None
            else ratio_text(one.ratio, one.lower, one.upper),
            format_bandwidth(one.a),
            format_bandwidth(one.b),
            str(one.n_a),
            str(one.n_b),
        )
        for one in found
    ]


def say_differences(a: RunRow, b: RunRow) -> str:
    """What the runs were not asked for alike; empty for nothing."""
    found = different_parameters(a, b)
    named = [f"{name} {_one(name, x)} / {_one(name, y)}" for name, x, y in found[:_MOST_NAMED]]
    more = len(found) - _MOST_NAMED
    named += [f"and {more} more"] if more > 0 else []
    return f"the runs differ (A / B): {', '.join(named)}" if named else ""


def _one(name: str, value: Any) -> str:
    words = parameter_words({name: value}) if name not in ("ranks", "pattern") else []
    return words[0][1] if words else "none" if value is None else str(value)


def rates_json(found: Sequence[BandwidthRatio], margin: float) -> dict[str, Any]:
    """Plain data."""
    return {"rates": [asdict(one) for one in found], "sentences": say_rates(found, margin)}
