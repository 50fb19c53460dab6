"""What correlations amount to, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from iosonde.analysis.correlate import Correlated, Correlation
    from iosonde.analysis.pooling import PooledWarning
    from iosonde.model.quality import Note

SIGNIFICANT = 0.05
BY_WORDS = {"file_system": "the file system", "motif": "what ran"}


def say_note(note: Note) -> str:
    """What is wrong with numbers, where and how often."""
    return f"{note.what}: {note.flag}, {note.n} times"


def say_warning(warning: PooledWarning, label: Callable[[str], str]) -> str:
    """Why not to believe a coefficient over all rows."""
    pooled = f"{label(warning.metric)}: {warning.coefficient} {warning.pooled:+.2f} over all rows"
    if warning.kind == "only-between":
        rest = (
            "never varies"
            if warning.within is None
            else f"is {warning.within:+.2f}, no more than chance,"
        )
        return f"{pooled}, but it {rest} within groups: it only tells the groups apart"
    if warning.kind == "turned":
        return f"{pooled}, but {warning.within:+.2f} within groups: do not pool them"
    others = ", ".join(f"{value:+.2f} in {' '.join(group)}" for group, value in warning.opposed)
    return f"{pooled}, but {others}: do not pool them"


def say_group(group: tuple[str, ...], found: Correlated) -> str:
    """What a group of rows is."""
    if any(group):
        return ", ".join(name for name in group if name)
    if group and found.by:
        return "rows of which nothing says " + " and ".join(BY_WORDS[name] for name in found.by)
    return "all rows together" if found.by else "all rows"


def say_doubt(row: Correlation) -> str:
    """What speaks against a claim about a metric; "" = nothing."""
    if row.spearman is None:
        return "never varies" if row.n >= 4 else "too few rows"
    if not row.enough:
        return "too little independent data"
    doubts = []
    if row.contaminated:
        doubts.append("goes with the run time: a consequence?")
    if row.drift:
        doubts.append("both drift: nothing is left beside time")
    elif row.from_run_to_run:
        doubts.append("from one run to the next only")
    return "; ".join(doubts)


def claimed(row: Correlation) -> bool:
    """Whether the coefficient is more than chance, given how many were looked at."""
    return row.enough and row.q is not None and row.q <= SIGNIFICANT
