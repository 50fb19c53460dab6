"""Sentences about a fit and its predictions. A sentence has at most 25 words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.units import format_duration
from iosonde.queue.what_if import WaitEstimate, estimate

if TYPE_CHECKING:
    from iosonde.queue.fit import QueueFit
    from iosonde.queue.what_if import WhatIf

_PLACES = ("fastest tenth", "fastest quarter", "median", "slowest quarter", "slowest tenth")
_FAMILY = {
    "slots": "at the ticks of a clock",
    "constant": "always the same time",
    "exponential": "exponential times",
}
_LIKE = "Service times that depend on load, several servers, a cache or bursts look like that."


def say_fit(found: QueueFit) -> list[str]:
    """N, M, and the goodness of fit; or the place where the model fails."""
    if not found.explained:
        return [_refusal(found), _LIKE]
    service = estimate(found, lambda model: model.service_s)
    family = _FAMILY[found.model.family]
    lines = [f"One operation takes N = {_time(service)}, {family}."]
    if found.full:
        queue = estimate(found, lambda model: model.queue)
        ends = f" ({queue.lower:.0f}-{queue.upper:.0f})" if np.isfinite(queue.lower) else ""
        lines.append(f"The queue holds M = {queue.value:.0f}{ends} operations.")
    else:
        lines.append("The reads never met a full queue, so iosonde cannot tell M.")
    base = format_duration(found.model.base_s * 1e9)
    lines.append(f"The way to the storage takes {base}.")
    off = np.median([np.median(np.abs(row)) for row in differences(found)])
    lines.append(
        f"The model fits: its quantiles are off by {off:.1%} in the median, over {len(found.groups)} loads."
    )
    return lines


def differences(found: QueueFit) -> np.ndarray:
    """Logarithms of measured over fitted quantiles, (groups, quantiles)."""
    return np.array(
        [
            np.log(group.quantile_s) - np.log(found.model.quantiles_s(group.load_per_s))
            for group in found.groups
        ]
    )


def _refusal(found: QueueFit) -> str:
    group, place = found.worst
    one = found.groups[group]
    measured = format_duration(float(one.quantile_s[place]) * 1e9)
    model = format_duration(float(found.model.quantiles_s(one.load_per_s)[place]) * 1e9)
    which = _PLACES[place]
    return (
        f"This model does not explain the reads, because at {one.load_per_s:.0f} operations/s "
        f"the {which} took {measured}; the model says {model}."
    )


def say_what_if(answer: WhatIf, found: QueueFit) -> str:
    """``With a queue of 5 instead of 500, the median read at 700 operations/s would take 21 ms (20 ms-22 ms) ...``."""
    instead = f" instead of {found.model.queue:.0f}" if found.full else ""
    then, now = _time(answer.then_median_s), format_duration(answer.median_s.value * 1e9)
    return (
        f"With a queue of {answer.queue}{instead}, the median read at {answer.load_per_s:.0f} "
        f"operations/s would take {then} instead of {now}."
    )


def _time(one: WaitEstimate) -> str:
    text = format_duration(one.value * 1e9)
    if not np.isfinite(one.lower):
        return text
    return f"{text} ({format_duration(one.lower * 1e9)}-{format_duration(one.upper * 1e9)})"


HEAD = ("load", "reads", "median", "model", "slowest tenth", "model")


def fit_rows(found: QueueFit) -> list[tuple[str, ...]]:
    """A row per group: measured and fitted quantiles, of ``HEAD``."""
    rows = []
    for group in found.groups:
        model = found.model.quantiles_s(group.load_per_s)
        pairs = [(group.quantile_s[place], model[place]) for place in (2, 4)]
        cells = [format_duration(float(value) * 1e9) for pair in pairs for value in pair]
        rows.append((f"{group.load_per_s:.1f}/s", str(group.reads), *cells))
    return rows


def fit_json(found: QueueFit, answer: WhatIf | None) -> dict[str, Any]:
    """The fit and the answer; a missing number is null."""

    def plain(one: WaitEstimate) -> dict[str, float | None]:
        return {name: float(v) if np.isfinite(v) else None for name, v in vars(one).items()}

    document: dict[str, Any] = {
        "explained": found.explained,
        "distance": found.distance,
        "usual_distance": found.usual,
        "service": found.model.family,
        "service_s": plain(estimate(found, lambda model: model.service_s)),
        "queue": plain(estimate(found, lambda model: model.queue)) if found.full else None,
        "base_s": found.model.base_s,
        "sentences": say_fit(found) + ([say_what_if(answer, found)] if answer else []),
        "groups": [
            {
                "load_per_s": group.load_per_s,
                "reads": group.reads,
                "quantile_s": group.quantile_s.tolist(),
                "model_quantile_s": found.model.quantiles_s(group.load_per_s).tolist(),
            }
            for group in found.groups
        ],
    }
    if answer:
        quantiles = ("median_s", "q90_s", "then_median_s", "then_q90_s")
        document["what_if"] = {"load_per_s": answer.load_per_s, "queue": answer.queue} | {
            name: plain(getattr(answer, name)) for name in quantiles
        }
    return document
