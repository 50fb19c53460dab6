"""Verdicts on adaptive runs, as ``iosonde bench metadata --adaptive`` and ``iosonde runs RUN`` print them."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.bench.adaptive.adaptive import AdaptiveResult, adaptive
from iosonde.bench.adaptive.words import say_waiting
from iosonde.cli.shared import options
from iosonde.cli.shared.text import table
from iosonde.model.errors import IosondeError, NothingMeasuredError
from iosonde.model.runs import RunRow
from iosonde.model.text import clean_text
from iosonde.model.units import format_count, format_waiting_factor

Verdict = tuple[list[RunRow], AdaptiveResult]
"""Rows of a run, and their result."""


def waits(rows: Sequence[RunRow]) -> bool:
    """True if a run has phases with several waiting factors."""
    return len({row.waiting_factor for row in rows if row.phase == "benchmark"}) > 1


def verdicts(each: Sequence[list[RunRow]]) -> list[Verdict]:
    """Verdict on the limit for every run with enough data; the reason for others."""
    found = []
    for rows in each:
        target = clean_text(rows[0].target)
        try:
            found.append((rows, adaptive(rows)))
        except NothingMeasuredError as error:
            hint = "a larger -I" if rows[0].source == "iosonde" else _of_other_tools(rows)
            options.note(f"iosonde: {target}: {error.what}; try {hint}")
        except IosondeError as error:
            options.note(f"iosonde: {target}: no verdict: {error}")
    return found


def _of_other_tools(rows: Sequence[RunRow]) -> str:
    if all(row.corrected_per_s is None for row in rows):
        return "the latency files of md-workbench -L: its text has no time in operations"
    return "the latency files of every waiting factor"


def verdict_text(found: AdaptiveResult) -> str:
    """Rates without waits by waiting factor, the verdict, and its evidence."""
    first, *rest = say_waiting(found)
    lines = [rates_table(found), "", f"{clean_text(found.target)}: {first}"]
    return "\n".join([*lines, *(f"  {line}" for line in rest)])


def rates_table(found: AdaptiveResult) -> str:
    """A line per waiting factor: its median corrected rate, and the ratio to that without waits."""
    changes = {change.level: change for change in found.verdict.changes}
    lines = []
    for level, per_s, n in found.levels():
        change = changes.get(level)
        ratio, span = ("1", "") if change is None else (f"{change.ratio:.2f}", "n/a")
        if change is not None and change.lower is not None and change.upper is not None:
            span = f"{change.lower:.2f}-{change.upper:.2f}"
        rate = format_count(round(per_s)) if per_s >= 100 else f"{per_s:.3g}"
        lines.append((format_waiting_factor(level), str(n), rate, ratio, span))
    return table(("T", "measurements", "corrected/s", "ratio", "90%"), lines)
