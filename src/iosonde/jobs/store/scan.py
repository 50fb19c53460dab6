"""Single pass over imported series, topology and jobs for many jobs: each part of a day is read once, not per job.

Answers are those of ``series`` and ``jobs``, to the bit. A pass sees the store as it was when a part was
first asked for; what is held is bounded, and the least lately used goes first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.engine.connections import connect
from iosonde.engine.kept import Kept
from iosonde.engine.parts import TOPOLOGY, StoreTable, parts, select
from iosonde.engine.spool import literal
from iosonde.jobs.store.jobs import JOBS, month_of
from iosonde.jobs.store.running import COLUMNS, Company, JobTime, company_of
from iosonde.jobs.store.series import (
    METRICS,
    Piece,
    SeriesName,
    block_of,
    days_of,
    edges_of,
    numbers_of,
)
from iosonde.model.metrics import Edge, MetricBlock
from iosonde.model.names import slug
from iosonde.model.units import DAY_NS

if TYPE_CHECKING:
    import duckdb

CHUNK_NS = 4 * 3_600_000_000_000
"""Time span of a series read at once: little for one job, and once for many."""
MOST_ROWS = 12_000_000
"""Most rows of chunks held; a row takes 32 bytes."""
_MOST_EDGES = 400_000


NOTHING = Piece(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0, np.intp), ())


class Passing:
    """A store during one pass. Use as a context: it owns an engine."""

    def __init__(self, root: Path) -> None:
        self.root = Path(root)
        self._con: duckdb.DuckDBPyConnection = connect(threads=2)
        self._heads: dict[Path, tuple[Any, ...] | None] = {}
        self._chunks: Kept[tuple[Path, int], Piece] = Kept(
            most_size=MOST_ROWS, size=lambda piece: len(piece.time_ns) + 1
        )
        self._edges: Kept[Path, list[Edge]] = Kept(
            most_size=_MOST_EDGES, size=lambda edges: len(edges) + 1
        )
        self._ran: Company | None = None
        self._nodes: dict[str, tuple[str, ...]] = {}
        self._files: dict[str, tuple[list[str], list[Path]]] = {}

    def __enter__(self) -> Passing:
        return self

    def __exit__(self, *_: object) -> None:
        self._con.close()

    def _parts(self, table: StoreTable, since_ns: int | None, until_ns: int | None) -> list[Path]:
        if table.name not in self._files:
            files = parts(self.root, table)
            self._files[table.name] = ([_day(path) for path in files], files)
        days, files = self._files[table.name]
        first, last = days_of(since_ns, until_ns)
        return files[bisect_left(days, first) : bisect_right(days, last)]

    def _head(self, path: Path, columns: str) -> tuple[Any, ...] | None:
        """Values constant over a file; None if it is unreadable or empty."""
        if path not in self._heads:
            found = select(columns, [path], con=self._con)
            row = tuple(column[0] for column in found[0].values()) if found else None
            self._heads[path] = None if row is None or row[0] is None else row
        return self._heads[path]

    def _series(self, path: Path) -> tuple[SeriesName, int] | None:
        columns = "first(source), first(system), first(level), first(metric), max(step_ns)"
        head = self._head(path, columns)
        return None if head is None else (SeriesName(*map(str, head[:4])), int(head[4]))

    def series_names(self, since_ns: int | None, until_ns: int | None) -> list[SeriesName]:
        """As ``metrics.series_names``."""
        heads = (self._series(path) for path in self._parts(METRICS, since_ns, until_ns))
        return sorted({head[0] for head in heads if head is not None})

    def read_block(self, name: SeriesName, since_ns: int, until_ns: int) -> MetricBlock | None:
        """As ``metrics.read_block``."""
        wanted = slug(" ".join(name))
        found = []
        for path in self._parts(METRICS, since_ns - DAY_NS, until_ns):
            if path.stem == wanted and (head := self._series(path)) is not None:
                for place in range(
                    (since_ns - head[1]) // CHUNK_NS, (until_ns - 1) // CHUNK_NS + 1
                ):
                    piece = self._chunk(path, place)
                    found.append(_within(piece, since_ns, until_ns, head[1]))
        return block_of(name, found)

    def forget(self, before_ns: int) -> None:
        """Drop data from before an instant, which will not be requested again."""
        place = before_ns // CHUNK_NS
        self._chunks.drop_oldest(lambda key: key[1] < place)

    def _chunk(self, path: Path, place: int) -> Piece:
        """Rows of a file that start in a chunk of time, in time order."""
        return self._chunks.get((path, place), lambda _: self._read_chunk(path, place))

    def _read_chunk(self, path: Path, place: int) -> Piece:
        begin, end = place * CHUNK_NS, (place + 1) * CHUNK_NS
        day = int(np.datetime64(_day(path), "ns").astype(np.int64))
        if end <= day or day + DAY_NS <= begin:
            return NOTHING
        inside = f"time_ns >= {begin} AND time_ns < {end}"
        code = "hash(component, unit, kind, flags) AS code"
        rows = select(f"time_ns, step_ns, value, {code}", [path], inside, con=self._con)
        texts = f"DISTINCT {code}, component, unit, kind, coalesce(flags, '')"
        sorts = select(texts, [path], inside, con=self._con)
        if not rows or not sorts:
            return NOTHING
        codes, *named = (np.ma.getdata(column) for column in sorts[0].values())
        order = np.argsort(codes)
        who = np.searchsorted(codes[order], np.ma.getdata(rows[0]["code"]))
        told = list(zip(*(column[order].tolist() for column in named), strict=True))
        return Piece(*numbers_of(rows[0]), who.astype(np.int32), told)

    def read_edges(self, level: str, since_ns: int, until_ns: int) -> list[Edge]:
        """As ``metrics.read_edges``."""
        found: list[Edge] = []
        for path in self._parts(TOPOLOGY, since_ns, until_ns):
            head = self._head(path, "first(level)")
            if head is None or head[0] != level:
                continue
            held = self._whole_edges(path)
            found += [e for e in held if since_ns <= e.time_ns < until_ns]
        return sorted(found, key=lambda edge: (edge.time_ns, edge.system, edge.child))

    def _whole_edges(self, path: Path) -> list[Edge]:
        return self._edges.get(path, lambda _: edges_of([path], "true", con=self._con))

    def ran_during(self, begin_ns: int, end_ns: int) -> list[JobTime]:
        """Records with a number of nodes that ran in [begin, end), by start."""
        if self._ran is None or not self._ran.begin_ns <= begin_ns <= end_ns <= self._ran.end_ns:
            self.know_company(begin_ns, end_ns)
        assert self._ran is not None
        return self._ran.during(begin_ns, end_ns)

    def know_company(self, begin_ns: int, end_ns: int) -> None:
        """Load all jobs that ran in [begin, end) at once, replacing those of other times."""
        inside = f"start_ns < {int(end_ns)} AND (end_ns IS NULL OR end_ns > {int(begin_ns)})"
        files = self._parts(JOBS, None, None)
        files = [path for path in files if _day(path) <= month_of(end_ns)]
        found = select(COLUMNS, files, f"nodes IS NOT NULL AND {inside}", con=self._con)
        self._ran = company_of(found, begin_ns, end_ns)

    def know_nodes(self, job_ids: Collection[str]) -> None:
        """Load the nodes of jobs at once, replacing those of others."""
        self._nodes = dict.fromkeys(job_ids, ())
        listed = ", ".join(literal(one) for one in sorted(set(job_ids)))
        if not listed:
            return
        columns = "job_id, node_names, start_ns, step, source"
        where = f"node_names <> '' AND job_id IN ({listed})"
        rows = []
        for found in select(columns, self._parts(JOBS, None, None), where, con=self._con):
            values = [np.ma.asarray(column).tolist() for column in found.values()]
            rows += list(zip(*values, strict=True))
        for job_id, names, *_ in sorted(rows, key=lambda r: (r[2] or 0, r[0], r[3], r[4])):
            nodes = tuple(name for name in names.split(",") if name)
            if len(nodes) > len(self._nodes[job_id]):
                self._nodes[job_id] = nodes

    def nodes_of(self, job_id: str) -> tuple[str, ...]:
        """Longest list of nodes over all records of a job."""
        if job_id not in self._nodes:
            self.know_nodes([job_id])
        return self._nodes[job_id]


def _within(piece: Piece, since_ns: int, until_ns: int, longest_ns: int) -> Piece:
    """Rows that overlap [since, until)."""
    first, last = np.searchsorted(piece.time_ns, (since_ns - longest_ns, until_ns), "left").tolist()
    rows = slice(first, last)
    times, steps = piece.time_ns[rows], piece.step_ns[rows]
    inside = (times + steps > since_ns) | (times >= since_ns)
    return Piece(
        times[inside],
        steps[inside],
        piece.value[rows][inside],
        piece.who[rows][inside],
        piece.sorts,
    )


def _day(path: Path) -> str:
    return path.parent.name.partition("=")[2]
