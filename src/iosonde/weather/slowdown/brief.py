"""A verdict in two or three words, for badges and portals where no sentence fits."""

from __future__ import annotations

from iosonde.model.units import format_factor

_WORDS = {
    "usual": "as usual",
    "learning": "learning",
    "few": "too few operations",
    "host_busy": "host busy",
    "slow": "slow",
    "lost": "losing operations",
    "failing": "failing",
    "hung": "hanging",
    "stopped": "not watched",
    "stale": "no news",
    "damaged": "unreadable",
}


def brief(kind: str, slowdown: float | None = None) -> str:
    """``as usual``, ``3.1x slower``, ``hanging``. ``slowdown``: of the worst operation, a ratio, None if unknown."""
    if kind == "slow" and slowdown is not None:
        return f"{format_factor(slowdown)}x slower"
    return _WORDS.get(kind, kind)
