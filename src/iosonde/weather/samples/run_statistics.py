"""Exact statistics of runs from rows being imported, by the engine."""

from __future__ import annotations

from typing import NamedTuple

import duckdb

from iosonde.model.runs import RUN_QUANTILES


class Measured(NamedTuple):
    """Statistics of operations: of a phase, of one op (``op`` is a code), of one rank. None: of all."""

    phase: int
    iteration: int
    op: int | None
    rank: int | None
    n: int
    sum_ns: int
    end_ns: int
    """End of the last operation, since the phase started."""
    min_ns: float
    mean_ns: float
    quantiles_ns: tuple[float, ...]
    """In the order of ``RUN_QUANTILES``, each the order statistic ceil(q n)."""
    max_ns: float


def measured(con: duckdb.DuckDBPyConnection, files: list[int]) -> list[Measured]:
    """Statistics of the rows of some files: by phase and iteration; op and rank; pooled and separate."""
    shares = ", ".join(map(str, RUN_QUANTILES.values()))
    numbers = ", ".join(str(int(file)) for file in files)
    found = []
    for op in ("NULL::INTEGER", "op"):
        for rank in ("NULL::INTEGER", "rank"):
            rows = con.execute(
                f"SELECT phase, iteration, {op} AS an_op, {rank} AS a_rank, count(*), sum(runtime_ns)::BIGINT, "
                "max(time_ns + runtime_ns), min(runtime_ns), avg(runtime_ns), "
                f"quantile_disc(runtime_ns, [{shares}]), max(runtime_ns) "
                f"FROM rows WHERE file IN ({numbers}) AND runtime_ns IS NOT NULL GROUP BY ALL ORDER BY ALL"
            ).fetchall()
            found += [Measured._make((*row[:9], tuple(row[9]), row[10])) for row in rows]
    return found
