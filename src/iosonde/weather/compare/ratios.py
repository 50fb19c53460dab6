"""Formatting of ratios b / a, and the margin within which they count as equal."""

from __future__ import annotations

MARGIN = 1.2
"""Default equivalence margin: ratios from 1/1.2 to 1.2 count as equal."""
_SMALL = 0.0995
"""Ratio below which ``1/n`` is printed."""


def short_ratio(value: float) -> str:
    """``1.21``, ``27``, ``1/310``: three digits are more than any comparison knows."""
    if 0 < value < _SMALL:
        parts = 1 / value
        return "1/" + (f"{parts:.0f}" if parts < 1e6 else f"{parts:.0e}")
    return f"{value:.2f}" if value < 9.95 else f"{value:.0f}"


def ratio_text(ratio: float | None, lower: float | None, upper: float | None) -> str:
    """``1.21 (1.15-1.27)``, ``1/310 (1/350-1/280)``; ``n/a`` without a number."""
    if ratio is None or lower is None or upper is None:
        return "n/a"
    return f"{short_ratio(ratio)} ({short_ratio(lower)}-{short_ratio(upper)})"


def of_a(ratio: float | None, lower: float | None, upper: float | None) -> str:
    """``1.21 (1.15-1.27) times A's``, ``1/310 (1/350-1/280) of A's``."""
    word = "of" if ratio is not None and 0 < ratio < _SMALL else "times"
    return f"{ratio_text(ratio, lower, upper)} {word} A's"


def level_name(level: float) -> str:
    """``q95``; the median is q50."""
    return f"q{level * 100:g}"
