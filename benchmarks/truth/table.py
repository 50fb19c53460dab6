"""Every target as a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchmarks.truth import (
    coverage,
    estimators,
    explained,
    nulls,
    published,
    raised,
    recorded,
    verdicts,
    waiting,
)
from benchmarks.truth.target import Row

TARGETS: dict[str, Callable[[int, float], list[Row]]] = {
    "T1": estimators.t1,
    "T2": estimators.t2,
    "T3": estimators.t3,
    "T4": estimators.t4,
    "T5": estimators.t5,
    "T6": recorded.t6,
    "T7": recorded.t7,
    "T8": raised.t8,
    "T9": verdicts.t9,
    "T10": verdicts.t10,
    "T11": verdicts.t11,
    "T12": explained.t12,
    "T13": explained.t13,
    "suspects": explained.suspected,
    "T14": explained.t14,
    "T15": published.t15,
    "T16": explained.t16,
    "T19": waiting.t19,
    "T20": waiting.t20,
    "adaptive": waiting.adaptive,
    "noise": waiting.noise,
    "coverage": coverage.coverage,
    "lasting": explained.lasting,
    "nulls": nulls.nulls,
}
SEEDS = {
    "T1": 4000,
    "T2": 101,
    "T3": 111,
    "T4": 7000,
    "T5": 1000,
    "T6": 23,
    "T7": 101,
    "T8": 9501,
    "T9": 3000,
    "T10": 44,
    "T11": 8,
    "T12": 77,
    "T13": 79,
    "suspects": 82,
    "T14": 78,
    "T15": 0,
    "T16": 80,
    "T19": 1,
    "T20": 61,
    "adaptive": 61,
    "noise": 62,
    "coverage": 63,
    "lasting": 81,
    "nulls": 9701,
}
"""Used unless another is asked for."""
_HEAD = ("", "what", "measured", "target", "prototype", "plain way", "met")


def lines(rows: Iterable[Row]) -> list[str]:
    """The table as text, one line a row."""
    cells = [_HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(cell[i]) for cell in cells) for i in range(len(_HEAD))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(cell, widths, strict=True)).rstrip()
        for cell in cells
    ]


def _cells(row: Row) -> tuple[str, ...]:
    aimed = "-" if row.low == 0 and row.high in (1, float("inf")) else row.wanted()
    met = "-" if aimed == "-" else ("yes" if row.met else "NO")
    return (row.target, row.what, _number(row.measured), aimed, row.prototype, row.seed, met)


def _number(value: float) -> str:
    if value == float("inf"):
        return "none"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"
