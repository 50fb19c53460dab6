"""Sentences about a sweep."""

from __future__ import annotations

import math

from iosonde.bench.nfs.knee import POOR_FIT, Knee
from iosonde.bench.nfs.points import SweepPoint
from iosonde.bench.nfs.sweep import Sweep
from iosonde.model.units import format_duration

HELD_SHARE = 0.01
"""Share of due but unsent writes above which the words mention it."""
LAG_NS = 20_000_000
"""Lateness of a read above which the words mention it."""


def latency_word(ns: float) -> str:
    """A latency; ``n/a`` if unknown."""
    return "n/a" if math.isnan(ns) else format_duration(ns)


def rate_word(per_s: float) -> str:
    """``1,500``."""
    return f"{per_s:,.0f}" if per_s >= 10 else f"{per_s:.3g}"


def say_sweep(sweep: Sweep) -> list[str]:
    """Result of a sweep, a sentence per line."""
    found = [_say_knee(sweep)]
    knee = sweep.knee
    if knee is not None:
        if knee.plateau_ns is not None:
            found.append(f"With a full queue, a median read waits {latency_word(knee.plateau_ns)}.")
        if knee.misfit > POOR_FIT:
            found.append(
                "One queue does not explain these latencies well: "
                f"points lie a factor {10**knee.misfit:.2g} off the fit."
            )
    if sweep.ended:
        found.append(f"No higher rate was measured: {sweep.ended}.")
    return found


def _say_knee(sweep: Sweep) -> str:
    knee, rates = sweep.knee, [p.rate_per_s for p in sweep.points if p.rate_per_s > 0]
    if not rates:
        return "Nothing was measured under load."
    if knee is None:
        raised = sweep.points[0].quantile_ns(0.5)
        if math.isnan(raised):
            return "No read was answered without load: no reference for the load."
        first = min(rates)
        quick = _quick_everywhere(sweep)
        return (
            f"Reads did not wait for writes up to {rate_word(max(rates))} writes/s."
            if quick
            else f"Reads waited already at {rate_word(first)} writes/s; expected a lower --from."
        )
    return _say_where(knee)


def _quick_everywhere(sweep: Sweep) -> bool:
    from iosonde.bench.nfs.knee import is_raised

    base = sweep.points[0].quantile_ns(0.5)
    return not any(is_raised(p, base) for p in sweep.points[1:])


def _say_where(knee: Knee) -> str:
    return (
        f"Reads wait for writes from {rate_word(knee.rate)} writes/s on "
        f"(between {rate_word(knee.lower)} and {rate_word(knee.upper)}); "
        f"below that, a median read takes {latency_word(knee.base_ns)}."
    )


def caution(point: SweepPoint) -> str:
    """Caution about a point, for the last column of a table."""
    found = []
    if point.ceiling:
        found.append("ceiling")
    if point.unanswered:
        found.append(f"{point.unanswered} reads unanswered")
    others = sum(n for name, n in point.read_outcomes.items() if name not in ("ok", "ETIMEDOUT"))
    failed = others + point.writes["failed"]
    if failed:
        found.append(f"{failed} failed")
    if point.writes["strays"]:
        found.append(f"{point.writes['strays']} stray answers")
    held = point.writes["due"] - point.writes["sent"]
    if held > HELD_SHARE * point.writes["due"]:
        found.append(f"{held:,} writes held back by the window")
    if point.lag_ns > LAG_NS:
        found.append(f"this client was {format_duration(point.lag_ns)} late")
    return ", ".join(found)
