"""Correlations with the performance of jobs, within groups of like runs and over all of them.

Coefficients and their p values: ``stats.association``; when not to believe those over all rows: ``pooling``.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.correlate.categories import CategoryEffect, category_effects
from iosonde.jobs.correlate.pooling import PooledWarning, pooled_warnings
from iosonde.jobs.table.derived import FRACTION
from iosonde.jobs.table.leakage import leaks, seconds_of, speed_of
from iosonde.jobs.table.sizes import sized
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.job_metrics import job_metrics
from iosonde.stats.association import Associations, associations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.arrays import Flags, Floats, Places, Texts
    from iosonde.model.jobs import By, JobTable


SMALL = 0.05
"""Largest p value that counts as small."""


class Correlation(NamedTuple):
    """Correlation of one metric in one group; None if unknown. ``p`` allows for neighbouring runs being alike, and
    ``q`` for the number of metrics in the group; ``pearson_p`` and ``spearman_p`` believe runs to be independent.
    """

    group: tuple[str, ...]
    """Values of ``by``; () = all rows together."""
    metric: str
    unit: str
    n: int
    pearson: float | None
    pearson_p: float | None
    spearman: float | None
    spearman_p: float | None
    partial: float | None
    """Spearman's coefficient without the effect of the controls; None without controls."""
    partial_p: float | None
    p: float | None
    q: float | None
    n_eff: float | None
    enough: bool
    """True if there are enough independent data for a claim."""
    contaminated: bool
    """True if it follows the job's own activity (``leaks``): a consequence of a slow or fast run, not a reason."""
    drift: bool = False
    """True if both drift, and no relation remains beside the order of runs."""
    from_run_to_run: bool = False
    """True if it shows only in steps between consecutive runs: over all runs it is no more than chance."""


@dataclass(frozen=True)
class Correlated:
    """All groups of a table."""

    source: str
    y: str
    by: tuple[str, ...]
    """Common properties of a group; "climate" last: a period."""
    controls: tuple[str, ...]
    rows: tuple[Correlation, ...]
    """Group by group, all rows together last; metrics in the table's order."""
    warnings: tuple[PooledWarning, ...]
    jobs: int
    categories: tuple[CategoryEffect, ...] = ()
    """What differs between users, compilers and the like, group by group."""


def correlate(
    table: JobTable,
    y: str = FRACTION,
    metrics: Sequence[str] | None = None,
    by: Sequence[By] = ("file_system", "motif"),
    controls: Sequence[str] = (),
    *,
    regions: Texts | None = None,
) -> Correlated:
    """Correlate ``metrics`` (None: ``usual_metrics``) with ``y``, rows in the order of time.

    ``regions`` (n,): the piece of time that each row lies in; groups are parted by it as well.

    Missing data: a coefficient uses the rows in which both are known. Raises UsageError (a name that the
    table has not), NothingMeasuredError (no row with y; no metric).
    """
    if y == FRACTION and y not in table.metrics:
        raise UsageError(
            f"{table.source} has no I/O performance",
            hint=Advice(Argument("y", "METRIC"), ", or ", Argument("mapping")),
        )
    known = set(table.metrics)
    for name in (y, *controls, *(metrics or ())):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            some = ", ".join(sorted(known)[:10]) + (", ..." if len(known) > 10 else "")
            raise UsageError(
                f"{table.source} has no metric {name!r}",
                expected=f"one of {some}",
                hint=repr(near[0]) if near else "",
            )
    names = list(dict.fromkeys(metrics)) if metrics is not None else usual_metrics(table, y)
    names = [name for name in names if name not in (y, *controls)]
    if not names or np.isnan(table.metrics[y]).all():
        what = "no metric to correlate" if not names else f"no row that says {y}"
        raise NothingMeasuredError(
            f"{table.source} has {what}",
            hint=Advice(Argument("mapping"), " or ", Argument("metrics")),
        )
    parts = sized(table).alike(*by) if by or regions is not None else {}
    named: tuple[str, ...] = tuple(by)
    if regions is not None:
        parts, named = _parted(parts, regions), (*by, "climate")
    whole = np.arange(len(table), dtype=np.intp)
    asked = {**parts, (): whole} if len(parts) != 1 else parts
    found = {key: _associate(table, rows, y, names, controls) for key, rows in asked.items()}
    rows = [row for key, one in found.items() for row in _rows(table, key, names, one)]
    warnings: tuple[PooledWarning, ...] = ()
    if len(parts) > 1:
        x, target = _matrix(table, names), table.metrics[y]
        of_y = [found[key].of_y for key in parts]
        warnings = pooled_warnings(target, x, names, parts, (found[()].of_y, of_y))
    categories = category_effects(table, asked, y, named)
    return Correlated(
        *(table.source, y, named, tuple(controls), tuple(rows), warnings, len(table)), categories
    )


def _parted(parts: dict[tuple[str, ...], Places], regions: Texts) -> dict[tuple[str, ...], Places]:
    """Groups restricted to one period each, in the order of these."""
    found: dict[tuple[str, ...], list[int]] = {}
    for key, rows in parts.items():
        for row in rows.tolist():
            found.setdefault((*key, str(regions[row])), []).append(row)
    return {key: np.array(rows, dtype=np.intp) for key, rows in found.items()}


def usual_metrics(table: JobTable, y: str) -> list[str]:
    """Described metrics that could explain ``y``.

    Not performances, not what the job itself did, not contention beside its coverage factor; all that is
    there when nothing is described.
    """
    could = [
        name
        for name in table.metrics
        if table.about(name).role not in ("performance", "own")
        and name not in ("duration_s", y)
        and name.replace("contention_", "cf_", 1) not in set(table.metrics) - {name}
    ]
    usual = [name for name in could if name in job_metrics() or name in table.abouts]
    if usual or could or table.about(y).role == "performance":
        return usual or could
    return [name for name in table.metrics if name != y]


class _Found(NamedTuple):
    of_y: Associations
    contaminated: Flags
    drift: Flags


def _associate(
    table: JobTable, rows: Places, y: str, names: list[str], controls: Sequence[str]
) -> _Found:
    x, target = _matrix(table, names)[rows], table.metrics[y][rows]
    given = _matrix(table, list(controls))[rows] if controls else None
    of_y = associations(target, x, given)
    order = np.arange(len(rows), dtype=np.float64)[:, None]
    beside_time = associations(target, x, order).partial_p
    drift = (of_y.p <= SMALL) & ~(beside_time <= SMALL)
    abouts = [table.about(name) for name in names]
    told = leaks(names, abouts, x, seconds_of(table)[rows], speed_of(table, y)[rows])
    return _Found(of_y, np.array([bool(leak) for leak in told], dtype=bool), drift)


def _matrix(table: JobTable, names: list[str]) -> Floats:
    return np.column_stack([table.metrics[name] for name in names])


def _rows(
    table: JobTable, group: tuple[str, ...], names: list[str], found: _Found
) -> list[Correlation]:
    of_y = found.of_y

    def number(values: Floats, place: int) -> float | None:
        value = float(values[place])
        return None if np.isnan(value) else value

    return [
        Correlation(
            group,
            name,
            table.about(name).unit,
            int(of_y.n[place]),
            number(of_y.pearson, place),
            number(of_y.pearson_p, place),
            number(of_y.spearman, place),
            number(of_y.spearman_p, place),
            number(of_y.partial, place),
            number(of_y.partial_p, place),
            number(of_y.p, place),
            number(of_y.q, place),
            number(of_y.n_eff, place),
            bool(of_y.enough[place]),
            bool(found.contaminated[place]),
            bool(found.drift[place]),
            bool(found.of_y.p[place] <= SMALL < found.of_y.levels_p[place]),
        )
        for place, name in enumerate(names)
    ]
