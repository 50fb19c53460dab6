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


_COUNTED = {
    "hung": "hanging or failing",
    "slow": "slow",
    "unknown": "unknown",
    "info": "without a verdict",
    "ok": "as usual",
}
"""By severity, the worst first."""


def brief(kind: str, slowdown: float | None = None) -> str:
    """``as usual``, ``3.1x slower``, ``hanging``. ``slowdown``: of the worst operation, a ratio, None if unknown."""
    if kind == "slow" and slowdown is not None:
        return f"{format_factor(slowdown)}x slower"
    return _WORDS.get(kind, kind)


def summary(counts: Mapping[str, int], targets: int, hosts: int) -> str:
    """``3 targets: 1 slow, 2 as usual``; of one alone nothing, as its own sentence says it all.

    ``counts``: of every severity how many targets of hosts; ``targets``, ``hosts``: how many names of them there are.
    """
    if sum(counts.values()) < 2:
        return ""
    parts = [f"{counts[one]:,} {word}" for one, word in _COUNTED.items() if counts.get(one)]
    what = f"{targets:,} target{'' if targets == 1 else 's'}"
    seen = f" seen from {hosts:,} hosts" if hosts > 1 else ""
    return f"{what}{seen}: {', '.join(parts)}"


def worst_slowdown(ops: Sequence[Mapping[str, Any]]) -> float | None:
    """Of the slowest operation among those that are slow, else among all; None: none has a number."""

    def most(states: tuple[str, ...]) -> float | None:
        known = (one.get("slowdown") for one in ops if one.get("state") in states)
        return max((value for value in known if value is not None), default=None)

    slow = most(("slow",))
    return most(("ok", "slow")) if slow is None else slow
