"""An adaptive run for people: rates by waiting factor, the verdict, and what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.bench.adaptive.words import say_waiting
from iosonde.model.answer import Block, TableBlock
from iosonde.model.text import clean_text
from iosonde.model.units import format_count, format_waiting_factor

if TYPE_CHECKING:
    from iosonde.bench.adaptive.adaptive import AdaptiveResult


def verdict_blocks(found: AdaptiveResult) -> list[Block]:
    """Rates without waits by waiting factor, the verdict, and what it rests on."""
    first, *rest = say_waiting(found)
    said = [f"{clean_text(found.target)}: {first}", *(f"  {line}" for line in rest)]
    return [_rates(found), "", *said]


def _rates(found: AdaptiveResult) -> TableBlock:
    """A line a waiting factor: its median corrected rate, and the ratio to that without waits."""
    changes = {change.level: change for change in found.verdict.changes}
    lines = []
    for level, per_s, n in found.levels():
        change = changes.get(level)
        ratio, span = ("1", "") if change is None else (f"{change.ratio:.2f}", "n/a")
        if change is not None and change.lower is not None and change.upper is not None:
            span = f"{change.lower:.2f}-{change.upper:.2f}"
        rate = format_count(round(per_s)) if per_s >= 100 else f"{per_s:.3g}"
        lines.append((format_waiting_factor(level), str(n), rate, ratio, span))
    return TableBlock(("T", "measurements", "corrected/s", "ratio", "90%"), lines)
