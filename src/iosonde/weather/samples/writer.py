"""Samples of other tools, written into the store as sealed Parquet.

::

    add(file, rows) ... -> a private table that spills to the temporary folder
    write(phases)       -> samples/date=<UTC date>/host=<host>/import-<digest>-<phase>.parquet, one a day (parts.py)

A file is known by its name and the digest of its first rows: what was imported once is skipped, and what was imported
in part (its file broke off) gives way to the longer version. Each Parquet file appears whole, by rename.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from iosonde.engine.connections import connect
from iosonde.engine.contract import SAMPLE_TYPES, SCHEMA_VERSION
from iosonde.engine.spool import NULL_SQL, literal
from iosonde.model.frames import Frame
from iosonde.model.names import rank_host
from iosonde.weather.samples.parts import ForeignRows, PartsWritten, imported_files, put_parts
from iosonde.weather.samples.run_statistics import Measured, measured

FAILED = "error"
"""Outcome of an operation with a reported failure of unknown kind."""
_KNOWN_BY_ROWS = 16
_COLUMNS = ("op", "phase", "iteration", "rank", "time_ns", "runtime_ns")


class FilePhase(NamedTuple):
    """Rows with their own time origin: one file's rows of one phase and iteration."""

    file: int
    phase: int
    iteration: int


class Extent(NamedTuple):
    """Extent of a phase as read."""

    key: FilePhase
    rows: int
    end_ns: int
    """End of its last operation, since its start."""
    ranks: tuple[int, ...]


class Placed(NamedTuple):
    """A phase with its names. ``label`` becomes part of file names."""

    key: FilePhase
    label: str
    run_id: str
    start_ns: int
    period_ns: int = 0
    """0 for a benchmark, which has no schedule."""
    target: str | None = None
    """None: that of ``Labels``."""


class Labels(NamedTuple):
    """Sample columns that the files do not contain."""

    target: str
    host: str
    size_bytes: int
    ops: tuple[str, ...]
    """Names of the op codes."""
    block_bytes: int = 0
    """Bytes of a data operation."""
    by_rank: bool = True
    """True if each rank is a host of its own."""


class Staging:
    """Rows being imported. Use as a context. ``names`` are those of the files, by number."""

    def __init__(self, root: Path, names: Sequence[str]) -> None:
        self._root, self._names = root, names
        self._con = connect()
        self._con.execute(
            "CREATE TEMP TABLE rows (file INTEGER, op UTINYINT, phase UTINYINT, iteration INTEGER, "
            "rank INTEGER, time_ns BIGINT, runtime_ns BIGINT, offset_bytes BIGINT)"
        )
        self._digests: dict[int, hashlib._Hash] = {}
        self._hashed: dict[int, int] = {}

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, *error: object) -> None:
        self._con.close()

    def add(self, file: int, rows: Frame) -> None:
        """Add rows of file number ``file``, with the columns ``op phase iteration rank time_ns runtime_ns``.

        ``offset_bytes`` may be there too. ``NULL_NS`` is null; an operation without a runtime failed.
        """
        digest = self._digests.setdefault(file, hashlib.sha256(self._names[file].encode()))
        missing = _KNOWN_BY_ROWS - self._hashed.get(file, 0)
        if missing > 0:
            first = rows.take(slice(0, missing))
            for values in zip(*(first[name].tolist() for name in _COLUMNS), strict=True):
                digest.update(repr(values).encode())
            self._hashed[file] = self._hashed.get(file, 0) + len(first)
        self._con.register("chunk", dict(rows.columns))
        offset = f"nullif(offset_bytes, {NULL_SQL})" if "offset_bytes" in rows else "NULL"
        self._con.execute(
            f"INSERT INTO rows SELECT {int(file)}, {', '.join(_COLUMNS[:5])}, "
            f"nullif(runtime_ns, {NULL_SQL}), {offset} FROM chunk"
        )
        self._con.unregister("chunk")

    def extents(self) -> list[Extent]:
        """All phases of all files, sorted."""
        found = self._con.execute(
            "SELECT file, phase, iteration, count(*), max(time_ns + coalesce(runtime_ns, 0)), "
            "list_sort(list(DISTINCT rank)) FROM rows GROUP BY ALL ORDER BY file, phase, iteration"
        ).fetchall()
        return [Extent(FilePhase(*row[:3]), row[3], row[4], tuple(row[5])) for row in found]

    def digest(self, file: int) -> str:
        """Digest of a file: of its name and first rows."""
        return self._digests[file].hexdigest()[:16]

    def measured(self, files: list[int]) -> list[Measured]:
        """Statistics of the rows of some files (see ``weather.samples.run_statistics``)."""
        return measured(self._con, files)

    def write(self, extents: list[Extent], placed: list[Placed], labels: Labels) -> PartsWritten:
        """Write every phase, a Parquet file per rank and day. Raises StoreError."""
        files: list[Path] = []
        rows = known = 0
        ranks = {extent.key: extent.ranks for extent in extents}
        before = imported_files(self._root)
        for phase in placed:
            stem = f"import-{self.digest(phase.key.file)}-{phase.label}"
            for rank in ranks[phase.key]:
                older = [path for path in before.get(stem, ()) if _is_of(path, rank, labels)]
                host = rank_host(labels.host, rank) if labels.by_rank else labels.host
                found = ForeignRows(host, stem, _samples_sql(phase, rank, host, labels))
                done = put_parts(self._con, self._root, found, older)
                files += done.files
                rows, known = rows + done.rows, known + done.known_rows
        return PartsWritten(files, rows, known)


def _is_of(path: Path, rank: int, labels: Labels) -> bool:
    """True if a previously imported file is of this rank, under any host name."""
    return not labels.by_rank or re.search(rf"\.rank{rank:04d}(?!\d)", path.parent.name) is not None


def _samples_sql(phase: Placed, rank: int, host: str, labels: Labels) -> str:
    """SQL of a rank's rows as samples: due is began, and there is no period."""
    key = phase.key
    names = ", ".join(literal(op) for op in labels.ops)
    op = f"([{names}])[op + 1]"
    values = {
        "schema_version": str(SCHEMA_VERSION),
        "due_ns": f"{phase.start_ns} + time_ns",
        "began_ns": f"{phase.start_ns} + time_ns",
        "ended_ns": f"{phase.start_ns} + time_ns + runtime_ns",
        "host": literal(host),
        "target": literal(phase.target or labels.target),
        "op": op,
        "period_ns": str(int(phase.period_ns)),
        "size_bytes": f"CASE WHEN {op} LIKE 'data%' THEN {int(labels.block_bytes)} "
        f"ELSE {int(labels.size_bytes)} END",
        "offset_bytes": "offset_bytes",
        "outcome": f"CASE WHEN runtime_ns IS NULL THEN '{FAILED}' ELSE 'ok' END",
        "cache": "'unknown'",
        "seed": "0",
        "run_id": literal(phase.run_id),
    }
    columns = ", ".join(
        f"({values.get(name, 'NULL')})::{kind} AS {name}" for name, kind in SAMPLE_TYPES.items()
    )
    return (
        f"SELECT {columns} FROM rows WHERE file = {key.file} AND phase = {key.phase} "
        f"AND iteration = {key.iteration} AND rank = {int(rank)}"
    )
