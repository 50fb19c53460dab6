"""Single operations of a range, or their exact density if too many to draw one by one.

Density is counted, not sampled: a grid of time bins and logarithmic latency bins, and in each cell
how many operations fell into it. Failed and skipped ones are counted apart. The counts of an op add
up to its number of operations; nothing is thinned.

::

    time bin      (due - origin) // step       at most ~300 in a range
    latency bin   floor(20 * log10(latency ns))   20 a decade: a bin is 12% wide

The latency of what ended well is its service time, as in the windows; of the rest what a user waited for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.engine.contract import DERIVED
from iosonde.engine.order_statistics import floats
from iosonde.engine.reader import SampleFilter, with_samples
from iosonde.model.frames import NULL_NS
from iosonde.weather.lateness import with_held_up
from iosonde.weather.samples.time_bins import LATENCY

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb
    from numpy.typing import NDArray

MOST_POINTS = 8_000
"""Most single operations of one op: a panel is about 500 pixels wide."""
_TIME_BINS = 300
_BINS_A_DECADE = 20
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200)


class DensityCells(NamedTuple):
    """Counts of operations on a grid of due time (``origin_ns``, ``step_ns``) and latency (``edges_ns``).

    ``ok``, ``failed``: non-empty cells as columns ``time latency count``. ``n_without_latency``: operations that
    did not end.
    """

    origin_ns: int
    step_ns: int
    edges_ns: NDArray[np.float64]
    ok: dict[str, list[int]]
    failed: dict[str, list[int]]
    n_without_latency: int


class OpPoints(NamedTuple):
    """Operations of one op: exactly one of ``points`` and ``cells`` is set.

    ``points``: ``due_ns response_ns service_ns outcome held_up`` by due time.
    """

    n: int
    points: dict[str, NDArray[Any]] | None
    cells: DensityCells | None


def read_points(root: Path, scope: SampleFilter) -> dict[str, OpPoints]:
    """Operations in ``scope``, by op; ops without any are left out. It has a since and an until. Raises StoreError."""
    return with_samples(root, scope, lambda con: _ask(con, scope))


def _ask(con: duckdb.DuckDBPyConnection, scope: SampleFilter) -> dict[str, OpPoints]:
    counts = dict(con.execute("SELECT op, count(*) FROM samples GROUP BY op").fetchall())
    few = [op for op, n in counts.items() if n <= MOST_POINTS]
    found = {op: OpPoints(counts[op], columns, None) for op, columns in _points(con, few).items()}
    for op, cells in _cells(con, [op for op in counts if op not in few], scope).items():
        found[op] = OpPoints(counts[op], None, cells)
    return found


def _points(con: duckdb.DuckDBPyConnection, ops: list[str]) -> dict[str, dict[str, NDArray[Any]]]:
    """All operations of ``ops``, by op and due time."""
    if not ops:
        return {}
    marks = ", ".join("?" for _ in ops)
    rows = con.execute(
        f"SELECT op, due_ns, {DERIVED['response_ns']} AS response_ns, "
        f"{DERIVED['service_ns']} AS service_ns, outcome, held_up "
        f"FROM {with_held_up()} WHERE op IN ({marks}) AND outcome <> 'shed' ORDER BY op, due_ns",
        ops,
    ).fetchnumpy()
    columns = {
        "due_ns": np.ma.filled(rows["due_ns"], NULL_NS),
        "response_ns": floats(rows["response_ns"]),
        "service_ns": floats(rows["service_ns"]),
        "outcome": np.ma.getdata(rows["outcome"]),
        "held_up": np.ma.getdata(rows["held_up"]).astype(bool),
    }
    op = np.ma.getdata(rows["op"])
    return {
        str(name): {column: values[op == name] for column, values in columns.items()}
        for name in np.unique(op.astype(str))
    }


def time_step_ns(length_ns: int) -> int:
    """A round time bin that gives at most about ``_TIME_BINS`` bins."""
    for step in _STEPS_S:
        if length_ns <= step * 10**9 * _TIME_BINS:
            return step * 10**9
    days = -(-length_ns // (86_400 * 10**9 * _TIME_BINS))
    return days * 86_400 * 10**9


def _cells(
    con: duckdb.DuckDBPyConnection, ops: list[str], scope: SampleFilter
) -> dict[str, DensityCells]:
    """Densities of some ops, from one pass over the samples."""
    if not ops:
        return {}
    assert scope.since_ns is not None
    assert scope.until_ns is not None
    step = time_step_ns(scope.until_ns - scope.since_ns)
    origin = scope.since_ns // step * step
    marks = ", ".join("?" for _ in ops)
    rows = con.execute(
        f"SELECT op, outcome = 'ok' AS well, ((due_ns - {origin}) // {step})::BIGINT AS bin, "
        f"floor({_BINS_A_DECADE} * log10(greatest({LATENCY}, 1)))::BIGINT AS latency, "
        f"ended_ns IS NULL AS open, count(*) AS n FROM samples WHERE op IN ({marks}) "
        "AND (ended_ns IS NOT NULL OR outcome <> 'shed') GROUP BY ALL ORDER BY ALL",
        ops,
    ).fetchnumpy()
    columns = {name: np.ma.getdata(column) for name, column in rows.items()}
    found = {}
    for op in ops:
        mine = {name: column[columns["op"] == op] for name, column in columns.items()}
        still = mine["open"].astype(bool)
        ended = {name: column[~still] for name, column in mine.items()}
        bins = ended["latency"]
        lowest = int(bins.min()) if len(bins) else 0
        highest = int(bins.max()) if len(bins) else 0
        found[op] = DensityCells(
            origin,
            step,
            10.0 ** (np.arange(lowest, highest + 2) / _BINS_A_DECADE),
            _counts(ended, lowest, well=True),
            _counts(ended, lowest, well=False),
            int(mine["n"][still].sum()),
        )
    return found


def _counts(rows: dict[str, NDArray[Any]], lowest: int, *, well: bool) -> dict[str, list[int]]:
    """Non-empty cells, as three columns."""
    chosen = rows["well"].astype(bool) == well
    return {
        "time": rows["bin"][chosen].tolist(),
        "latency": (rows["latency"][chosen] - lowest).tolist(),
        "count": rows["n"][chosen].tolist(),
    }
