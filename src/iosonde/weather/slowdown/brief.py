"""A verdict in two or three words, for badges and portals where no sentence fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iosonde.model.units import format_factor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def worst_slowdown(ops: Sequence[Mapping[str, Any]]) -> float | None:
    """Of the slowest operation among those that are slow, else among all; None: none has a number."""

    def most(states: tuple[str, ...]) -> float | None:
        known = (one.get("slowdown") for one in ops if one.get("state") in states)
        return max((value for value in known if value is not None), default=None)

    slow = most(("slow",))
    return most(("ok", "slow")) if slow is None else slow
