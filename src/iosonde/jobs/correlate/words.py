"""Sentences about correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from iosonde.jobs.correlate.categories import CategoryEffect
    from iosonde.jobs.correlate.correlate import Correlated, Correlation
    from iosonde.jobs.correlate.pooling import PooledWarning

REGION = "climate"
"""Name of periods in ``by``."""
SIGNIFICANT = 0.05
FEWEST = 4
"""Least number of rows for a coefficient."""
MOST_NAMED = 3
BY_WORDS = {"file_system": "the file system", "motif": "what ran", REGION: "the climate"}


def say_warning(warning: PooledWarning, label: Callable[[str], str]) -> str:
    """Reason to doubt a coefficient over all rows."""
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
    """Name of a group of rows."""
    if any(group):
        return ", ".join(name for name in group if name)
    if group and found.by:
        return "rows without " + " and ".join(BY_WORDS[name] for name in found.by)
    return "all rows together" if found.by else "all rows"


def say_too_few(groups: Sequence[tuple[str, ...]], found: Correlated) -> str:
    """``10 groups have too few runs``; up to three by their names."""
    n = len(groups)
    if n > MOST_NAMED:
        return f"{n} groups have too few runs"
    named = "; ".join(say_group(group, found) for group in groups)
    return f"too few runs: {named}"


def too_few(rows: Iterable[Correlation]) -> bool:
    """True if a group has too few runs for a coefficient of any metric."""
    return all(row.spearman is None and row.n < FEWEST for row in rows)


def say_doubt(row: Correlation) -> str:
    """Objections to a claim about a metric; "" = none."""
    if row.spearman is None:
        return "never varies" if row.n >= FEWEST else "too few rows"
    if not row.enough:
        return "too little independent data"
    doubts = []
    if row.contaminated:
        doubts.append("goes with the run time or speed of the job: a consequence?")
    if row.drift:
        doubts.append("both drift; without the trend no correlation remains")
    elif row.from_run_to_run:
        doubts.append("from one run to the next only")
    return "; ".join(doubts)


def claimed(row: Correlation) -> bool:
    """True if the coefficient is significant, corrected for the number of tests."""
    return row.enough and row.q is not None and row.q <= SIGNIFICANT


def say_category(one: CategoryEffect) -> str:
    """``compiler: gnu 1.2x of intel (median; n = 60, 30; q = 0.01)``; of many categories the best and the worst."""
    best, worst = one.levels[0], one.levels[-1]
    apart = f"{best.median / worst.median:.3g}x of " if worst.median > 0 else "above "
    among = "" if len(one.levels) == 2 else f", of {len(one.levels)}"
    star = ", claimed" if one.q <= SIGNIFICANT else ""
    return (
        f"{one.category}: {best.name} {apart}{worst.name}{among} "
        f"(medians; n = {best.n}, {worst.n}; p = {one.p:.2g}, q = {one.q:.2g}{star})"
    )
