"""Sentences about a sweep."""

from __future__ import annotations

import math
from collections.abc import Sequence

from iosonde.bench.nfs.knee import POOR_FIT, Knee, bump, is_raised
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
    if sweep.knee is not None:
        return _say_where(sweep.knee)
    asked = [p for p in sweep.points if p.rate_per_s > 0]
    if not asked:
        return "Nothing was measured under load."
    base = sweep.points[0].quantile_ns(0.5)
    if math.isnan(base):
        return "No read was answered without load: no reference for the load."
    return _say_no_knee(sweep, asked, base)


def _say_no_knee(sweep: Sweep, asked: Sequence[SweepPoint], base: float) -> str:
    """What is known of reads beside writes, without a knee. ``base``: a median read without load, ns."""
    loaded = [p for p in asked if p.is_loaded]
    if not loaded:
        failed, due = (sum(p.writes[name] for p in asked) for name in ("failed", "due"))
        return f"Too many writes failed ({failed:,} of {due:,}): the sweep cannot tell how reads do beside them."
    if (slower := bump(sweep.points)) is not None:
        low, high = map(rate_word, slower)
        where = f"at {low}" if low == high else f"between {low} and {high}"
        return f"No knee: reads were slower {where} writes/s, and quick again above."
    if any(is_raised(p, base) for p in loaded):
        first = min(p.rate_per_s for p in loaded)
        return f"Reads waited already at {rate_word(first)} writes/s; expected a lower --from."
    most = rate_word(max(p.achieved_per_s for p in loaded))
    few = "; above, few writes were answered" if len(loaded) < len(asked) else ""
    return f"Reads did not wait for writes up to {most} answered writes/s{few}."


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
    if point.writes["unanswered"]:
        found.append(f"{point.writes['unanswered']:,} writes unanswered")
    if point.writes["strays"]:
        found.append(f"{point.writes['strays']} stray answers")
    held = point.writes["due"] - point.writes["sent"]
    if held > HELD_SHARE * point.writes["due"]:
        found.append(f"{held:,} writes held back by the window")
    if point.lag_ns > LAG_NS:
        found.append(f"this client was {format_duration(point.lag_ns)} late")
    return ", ".join(found)
