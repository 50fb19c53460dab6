"""Tables of completed jobs in SQLite: ``summary(stepid, hostname, start, completion, numnodes)`` and similar.

Columns are known by the names that schedulers' databases give them (``COLUMNS``); ``columns`` says others. The file
is opened read-only and as immutable: nothing beside it is made, no lock is taken. Only tables are read, never views,
and what their schema would have executed is switched off. Times are epoch seconds (or ms, us, ns by their size), or
text without a zone.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from iosonde.connectors.lines import shown
from iosonde.connectors.scheduler.job_fields import Fields, split_id
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError

KIND = "job table"
COLUMNS: dict[str, tuple[str, ...]] = {
    "JobIDRaw": ("stepid", "jobidraw", "job_id_raw", "id_job", "job_id", "jobid", "job"),
    "JobID": ("jobid", "job_id"),
    "Cluster": ("hostname", "cluster", "cluster_name", "system", "machine"),
    "Start": ("start", "time_start", "start_time", "starttime", "started", "start_ts"),
    "End": ("completion", "end", "time_end", "end_time", "endtime", "ended", "end_ts"),
    "NNodes": ("numnodes", "nodes_alloc", "nnodes", "num_nodes", "node_count", "alloc_nodes"),
    "NodeList": ("nodelist", "node_list", "nodes"),
    "User": ("user", "username", "user_name"),
    "Account": ("account", "acct", "project"),
    "JobName": ("jobname", "job_name", "name"),
    "State": ("state", "job_state", "status"),
    "ExitCode": ("exit_code", "exitcode"),
}
"""sacct's name of a field -> column names of tables; the first one present counts."""
_NEEDED = ("JobIDRaw", "Start", "End")
_MAGIC = b"SQLite format 3\0"
_MOST_TABLES = 1000
_MOST_COLUMNS = 500
_MOST_TEXT = 1 << 20
_ROWS = 2000


def recognises(head: Head) -> bool:
    """True for an SQLite file with a table of job ids, starts and ends."""
    if not head.raw.startswith(_MAGIC):
        return False
    try:
        database = _opened(head.path)
    except (sqlite3.Error, OSError, ValueError):
        return False
    try:
        return bool(_tables(database, COLUMNS))
    except (sqlite3.Error, ValueError):
        return False
    finally:
        database.close()


def read(
    path: Path,
    settings: Settings,
    warn: Warn,
    columns: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Item]:
    """Yield a Job per row. ``columns``: names to try before those of ``COLUMNS``.

    Raises InputFileError: unreadable, no SQLite, no such table, or broken from some row on.
    """
    names = {field: (*((columns or {}).get(field, ())), *known) for field, known in COLUMNS.items()}
    try:
        database = _opened(path)
    except (sqlite3.Error, OSError, ValueError) as error:
        what = f"cannot read {path}: {error}"
        raise InputFileError(what, expected="an SQLite database") from error
    try:
        tables = _tables(database, names)
        if not tables:
            what = f"{path}: no table has an id, a begin and an end of jobs"
            raise InputFileError(what, expected="columns such as stepid, start, completion")
        clock = WallTimes(settings.zone)
        for table, found in tables.items():
            yield from _rows(database, table, found, _Place(path, settings, clock, warn))
    except (sqlite3.Error, ValueError) as error:
        what = f"{path}: the database breaks ({error})"
        raise InputFileError(what, expected="a whole SQLite database") from error
    finally:
        database.close()


class _Place:
    """Location of rows, and the callback for malformed ones."""

    def __init__(self, path: Path, settings: Settings, clock: WallTimes, warn: Warn) -> None:
        self.path, self.settings, self.clock, self.warn = path, settings, clock, warn


def _opened(path: Path) -> sqlite3.Connection:
    place = quote(os.fsencode(path.resolve()))
    database = sqlite3.connect(f"file:{place}?mode=ro&immutable=1", uri=True)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_TEXT * 16)
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON", "mmap_size=0"):
        database.execute(f"PRAGMA {pragma}")
    return database


def _tables(
    database: sqlite3.Connection, names: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, str]]:
    """Tables with the required columns: table -> field -> column."""
    found = {}
    listed = database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL"
    )
    for (table,) in listed.fetchmany(_MOST_TABLES):
        if not isinstance(table, str) or table.startswith("sqlite_"):
            continue
        rows = database.execute(f"PRAGMA table_info({_quoted(table)})").fetchmany(_MOST_COLUMNS)
        there = {str(row[1]).lower(): str(row[1]) for row in rows}
        columns = {
            field: there[name.lower()]
            for field, candidates in names.items()
            for name in [next((n for n in candidates if n.lower() in there), "")]
            if name
        }
        if all(field in columns for field in _NEEDED):
            found[table] = columns
    return found


def _rows(
    database: sqlite3.Connection, table: str, columns: dict[str, str], place: _Place
) -> Iterator[Item]:
    wanted = ", ".join(_quoted(name) for name in columns.values())
    cursor = database.execute(f"SELECT {wanted} FROM {_quoted(table)}")
    number = 0
    seen: set[int] = set()
    while rows := cursor.fetchmany(_ROWS):
        for row in rows:
            number += 1
            try:
                yield _job(dict(zip(columns, row, strict=True)), row, seen, place)
            except (ValueError, OverflowError) as error:
                what = f"{place.path}, table {shown(table)}, row {number}: {error}"
                place.warn(InputFileError(what, expected="a job's id, begin and end"))


def _job(values: dict[str, object], row: tuple[object, ...], seen: set[int], place: _Place) -> Item:
    mark = hash(row)
    if mark in seen:
        raise ValueError(f"the row of {shown(str(values['JobIDRaw']))} is there twice")
    if len(seen) < 5_000_000:
        seen.add(mark)
    fields = {name: _as_text(name, value) for name, value in values.items()}
    if fields["JobIDRaw"].startswith("-"):
        raise ValueError(f"the job id {shown(fields['JobIDRaw'])} is none")
    # 4711.lab is a job of that cluster, not a step of that name.
    job_id, step = split_id(fields["JobIDRaw"])
    if step and step == fields.get("Cluster"):
        fields["JobIDRaw"] = job_id
    if fields.get("NodeList", "").isdigit():
        fields.setdefault("NNodes", fields.pop("NodeList"))
    return Fields(KIND, fields, place.clock).job(place.settings.system)


def _as_text(name: str, value: object) -> str:
    """A value as sacct would print it. Raises ValueError: a blob, or an impossible number."""
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        if not -(2**63) < value < 2**63:
            raise ValueError(f"{name} is {shown(str(value))}")
        whole = int(value)
        if name in ("Start", "End"):
            while whole > 100_000_000_000:  # ms, us or ns
                whole //= 1000
        return str(whole)
    if isinstance(value, str) and len(value) <= _MOST_TEXT:
        return value
    raise ValueError(f"{name} is no text and no number")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
