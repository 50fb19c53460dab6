"""Samples of one side of a comparison, and the runs in the store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iosonde.engine.cluster import run
from iosonde.engine.contract import LOST, RESPONSE
from iosonde.engine.order_statistics import floats
from iosonde.engine.ordering import key_columns
from iosonde.engine.query import Query, rows
from iosonde.engine.reader import SampleFilter
from iosonde.engine.spool import literal
from iosonde.model.frames import Frame, SeriesKey
from iosonde.weather.lateness import with_held_up

MEANS = "means-"
"""Begin of the run ids of samples that are means of steps; behind it the tool that counted."""


@dataclass(frozen=True)
class Part:
    """Filter of samples. None = any; instants in ns since the epoch, [since, until)."""

    target: str | None = None
    host: str | None = None
    run_id: str | None = None
    since_ns: int | None = None
    until_ns: int | None = None
    ops: tuple[str, ...] | None = None

    def scope(self) -> SampleFilter:
        """Filter that the reader can prune on."""
        return SampleFilter(self.host, self.target, self.ops, self.since_ns, self.until_ns)


class RunRef(NamedTuple):
    """Run on one target, as seen from one host."""

    run_id: str
    host: str
    target: str
    first_ns: int
    last_ns: int
    n: int


def runs(root: Path, part: Part | None = None) -> list[RunRef]:
    """All runs with samples, oldest first. Raises StoreError."""
    part = part or Part()
    sql = (
        "SELECT run_id, host, target, min(due_ns), max(due_ns), count(*) FROM samples "
        f"WHERE {_of_run(part)} GROUP BY ALL ORDER BY 4, 1, 2, 3"
    )
    return [RunRef(*row) for row in run(root, [Query((sql,), rows, part.scope())])[0]]


def part_series(root: Path, part: Part) -> list[SeriesKey]:
    """All series with samples in ``part``, sorted. Raises StoreError."""
    sql = f"SELECT DISTINCT host, target, op, period_ns FROM samples WHERE {_of_run(part)} ORDER BY ALL"
    return [SeriesKey(*row) for row in run(root, [Query((sql,), rows, part.scope())])[0]]


def has_means(root: Path, part: Part) -> bool:
    """Whether samples of ``part`` are means of steps, whose quantiles are none of operations. Raises StoreError."""
    # Ends of a range and no pattern: the least and the largest run id of a file tell that it has none.
    sql = (
        f"SELECT count(*) FROM (SELECT 1 FROM samples WHERE run_id >= {literal(MEANS)} "
        f"AND run_id < {literal(MEANS[:-1] + chr(ord(MEANS[-1]) + 1))} AND {_of_run(part)} LIMIT 1)"
    )
    ((n,),) = run(root, [Query((sql,), rows, part.scope())])[0]
    return bool(n)


def part_samples(root: Path, part: Part, series: list[SeriesKey]) -> Frame:
    """``series due_ns response_ns waited_ns late_ns lost``, sorted by due_ns: the exact samples of ``part``.

    ``series`` is a place in the list given; others are left out. ``response_ns`` (float64) is what a user
    waited: service time, but response time where the operation was held up by more than a tenth of its
    period, skipped or timed out; NaN where its end is not known. ``waited_ns``: of that its thread waited for a CPU;
    ``late_ns``: began - due, NaN unless it ended ok. ``lost``: held up, skipped, failed or open.
    Samples that were shed are in neither. Raises StoreError.
    """
    places = {"place": np.arange(len(series)), **key_columns(series, slice(None))}
    sql = (
        f"SELECT place AS series, due_ns, ({RESPONSE})::DOUBLE AS response_ns, {LOST} AS lost, "
        "coalesce(control_runq_ns, 0)::DOUBLE AS waited_ns, "
        "CASE WHEN outcome = 'ok' THEN (began_ns - due_ns)::DOUBLE END AS late_ns "
        f"FROM {with_held_up()} JOIN wanted USING (host, target, op, period_ns) "
        f"WHERE outcome <> 'shed' AND {_of_run(part)} ORDER BY due_ns"
    )
    scope = part.scope() if series else SampleFilter(since_ns=0, until_ns=0)
    return run(root, [Query((sql,), _responses, scope, {"wanted": places})])[0]


def _responses(found: dict[str, Any]) -> Frame:
    return Frame(
        {
            "series": np.ma.getdata(found["series"]),
            "due_ns": np.ma.getdata(found["due_ns"]),
            "response_ns": floats(found["response_ns"]),
            "waited_ns": floats(found["waited_ns"]),
            "late_ns": floats(found["late_ns"]),
            "lost": np.ma.getdata(found["lost"]).astype(np.bool_),
        }
    )


def _of_run(part: Part) -> str:
    return "true" if part.run_id is None else f"run_id = {literal(part.run_id)}"
