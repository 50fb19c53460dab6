"""Correlations for people: a sentence a table, a table a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from iosonde.jobs.correlate.words import (
    claimed,
    say_category,
    say_doubt,
    say_group,
    say_too_few,
    say_warning,
    too_few,
)
from iosonde.model.answer import Block, TableBlock
from iosonde.model.units import format_count

if TYPE_CHECKING:
    from iosonde.jobs.correlate.correlate import Correlated, Correlation
    from iosonde.jobs.correlate.pooling import PooledWarning

Label = Callable[[str], str]
_HEAD = ("", "n", "Pearson", "p", "Spearman", "p", "q", "n_eff", "", "")


def table_blocks(found: Correlated, label: Label, most: int) -> list[Block]:
    """Groups of one table, with the ``most`` strongest metrics each (0: all)."""
    blocks: list[Block] = [
        f"{found.source}: {format_count(found.jobs)} runs; what goes with {label(found.y)}"
    ]
    head = [*_HEAD]
    if found.controls:
        head[8:8] = ["partial", "p"]
    groups: dict[tuple[str, ...], list[Correlation]] = {}
    for row in found.rows:
        groups.setdefault(row.group, []).append(row)
    few = [group for group, mine in groups.items() if too_few(mine)]
    for group, mine in groups.items():
        if group in few:
            continue
        shown = _strongest(mine, most)
        doubts = [say_doubt(row) for row in shown]
        width = max(map(len, doubts))
        lines = [
            (*_row(row, label, bool(found.controls)), doubt.ljust(width))
            for row, doubt in zip(shown, doubts, strict=True)
        ]
        blocks += ["", say_group(group, found), TableBlock(head, lines)]
        if len(shown) < len(mine):
            blocks.append(f"and {len(mine) - len(shown)} more, weaker (--top 0)")
        effects = sorted(
            (one for one in found.categories if one.group == group), key=lambda one: one.q
        )
        blocks += map(say_category, effects[: most or None])
    if few:
        blocks += ["", say_too_few(few, found)]
    return blocks


def misleading(found: Correlated, label: Label, most: int) -> list[str]:
    """Why not to believe coefficients over all rows, a line a metric; of more than ``most`` only how many."""
    warnings = _worst(found.warnings)
    if most and len(warnings) > most:
        return [f"{len(warnings)} metrics mislead over all rows: --top 0 tells how"]
    return [say_warning(warning, label) for warning in warnings]


def _worst(warnings: Sequence[PooledWarning]) -> list[PooledWarning]:
    """One a metric: a sign that turns before one that vanishes."""
    order = ("turned", "opposed", "only-between")
    worst: dict[str, PooledWarning] = {}
    for warning in sorted(warnings, key=lambda one: order.index(one.kind)):
        worst.setdefault(warning.metric, warning)
    return list(worst.values())


def _strongest(rows: list[Correlation], most: int) -> list[Correlation]:
    """Claims first, by their size; all in the given order for 0."""
    if not most or len(rows) <= most:
        return rows
    order = sorted(rows, key=lambda row: (not claimed(row), -abs(row.spearman or 0)))
    return order[:most]


def _row(row: Correlation, label: Label, partial: bool) -> tuple[str, ...]:
    cells = [
        label(row.metric),
        format_count(row.n),
        _coefficient(row.pearson),
        _chance(row.pearson_p),
        _coefficient(row.spearman),
        _chance(row.p),
        _chance(row.q),
        "n/a" if row.n_eff is None else f"{row.n_eff:.0f}",
    ]
    if partial:
        cells += [_coefficient(row.partial), _chance(row.partial_p)]
    return (*cells, "*" if claimed(row) else "")


def _coefficient(value: float | None) -> str:
    return "n/a" if value is None else f"{value:+.4f}"


def _chance(p: float | None) -> str:
    return "n/a" if p is None else "<1e-300" if p < 1e-300 else f"{p:.2g}"
