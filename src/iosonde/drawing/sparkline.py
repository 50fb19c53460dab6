"""Sparklines: recent latencies as a row of blocks whose height is a slowdown.

Eight levels over five octaves, from half of usual to sixteen times usual, so that usual noise stays
low and flat and a slow operation stands out. The same height means the same slowdown in every row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median_low

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=+*#@"
_LOWEST, _OCTAVES = -1.0, 5.0


def levels(latencies_ns: Sequence[float | None], usual_ns: float | None) -> list[int | None]:
    """Level 0 to 7 of each latency; None for a failed operation.

    Without a baseline the median of the latencies themselves stands in for what is usual.
    """
    known = [value for value in latencies_ns if value is not None and value > 0]
    usual = usual_ns or (median_low(known) if known else None)
    return [None if value is None else _level(value, usual) for value in latencies_ns]


def _level(value: float, usual: float | None) -> int:
    if not usual or value <= 0:
        return 0
    share = (math.log2(value / usual) - _LOWEST) / _OCTAVES
    return min(7, max(0, int(share * 8)))


def sparkline(levels: Sequence[int | None], *, ascii_only: bool = False) -> str:
    """A character per level; ``x`` for failed operations."""
    blocks = ASCII if ascii_only else BLOCKS
    return "".join("x" if level is None else blocks[level] for level in levels)
