"""Where things lie in the store folder.

::

    spool/<host>/<run_id>-<segment>.spool                       appended by the probe
    samples/date=YYYY-MM-DD/host=<host>/<run_id>-<segment>.parquet   sealed, never edited
    rollups/date=YYYY-MM-DD/host=<host>/<run_id>-<segment>.parquet   summed up from it, kept when it goes
    state/<host>/<target slug>.json                             replaced by the probe every few seconds
    windows/<host>/<target slug>.<period>ms-<window>s.YYYY-MM.windows    appended, kept when samples go
    events/<host>/YYYY-MM.jsonl                                 appended, one JSON object a line
    events/<host>/found-YYYY-MM.jsonl                           computed from samples, replaced as a whole
    judged/<host>/<target slug>/<date>-<period>.npz             computed from samples; may go at any time
    runs/<run slug>.<process>.part.jsonl                        appended by a benchmark in flight
    runs/date=YYYY-MM-DD/<run slug>.parquet                     a run that has ended
    transfers/, rates/                                          of a bandwidth run (``bench.bandwidth.tables``)

A segment has the same stem in all places, which is how a reader takes each row once. A file that many segments of a day
were merged into names their stems in its footer: where it is listed, they are not.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from iosonde.engine.checksum import stems_of
from iosonde.engine.reading import reading
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import StoreError
from iosonde.model.names import slug
from iosonde.model.units import DAY_NS, HOUR_NS

_DATE = re.compile(r"date=([0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))")
_SEGMENT = re.compile(r"[0-9a-f]{16}-[0-9]{6,10}")
_MERGED = re.compile(r"[0-9a-f]{16}-[0-9]{10}")
_LISTINGS = 50
_QUIET_S = 120.0
"""So long after a folder's last change it does not change while it is listed; clocks of servers differ."""
_PART = ".part.jsonl"
FOUND_EVENTS = "found-"
"""How files of events begin that were computed from samples."""
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


class Segment(NamedTuple):
    """One spool segment or the Parquet file made from it."""

    host: str
    stem: str
    path: Path


class MonthFile(NamedTuple):
    """A file that holds one month of something."""

    host: str
    """Name of its folder."""
    month: str
    path: Path


class RunFile(NamedTuple):
    """A run that has ended."""

    run: str
    """Slug of its id."""
    date: str
    path: Path


class RunPart(NamedTuple):
    """What one process of a run in flight has appended."""

    run: str
    """Slug of its id."""
    process: str
    path: Path


def default_root(environ: Mapping[str, str]) -> Path:
    """``$IOSONDE_STORE``, else ``$XDG_STATE_HOME/iosonde``, else ``~/.local/state/iosonde``."""
    if environ.get("IOSONDE_STORE"):
        return Path(environ["IOSONDE_STORE"])
    if environ.get("XDG_STATE_HOME"):
        return Path(environ["XDG_STATE_HOME"]) / "iosonde"
    return (
        (Path(environ["HOME"]) if environ.get("HOME") else Path.home())
        / ".local"
        / "state"
        / "iosonde"
    )


def spool_segments(root: Path) -> list[Segment]:
    """Spool segments, oldest name first. A missing folder is an empty store."""
    found = [
        Segment(folder.name, path.stem, path)
        for folder in _folders(root / "spool")
        for path in _files(folder, ".spool")
    ]
    return sorted(found)


def parquet_segments(
    root: Path, since_date: str | None = None, host: str | None = None
) -> list[Segment]:
    """Sealed segments of partitions from ``since_date`` (YYYY-MM-DD, UTC) on; of the folder ``host`` only."""
    return _partitioned(root / "samples", since_date, host)


def rollup_segments(
    root: Path, since_date: str | None = None, host: str | None = None
) -> list[Segment]:
    """Roll-ups of sealed segments, likewise."""
    return _partitioned(root / "rollups", since_date, host)


def every_sealed(root: Path) -> list[Segment]:
    """Files of samples, also those whose rows are in a merged one too."""
    return _partitioned(root / "samples", None, hidden=True)


def every_rollup(root: Path) -> list[Segment]:
    """Files of roll-ups, also those whose intervals are in a merged one too."""
    return _partitioned(root / "rollups", None, hidden=True)


def rollup_path(root: Path, sealed: Path) -> Path:
    """Where a sealed segment is rolled up to."""
    return root / "rollups" / sealed.relative_to(root / "samples")


def sealed_path(root: Path, rolled_up: Path) -> Path:
    """The sealed segment that a roll-up was made of."""
    return root / "samples" / rolled_up.relative_to(root / "rollups")


def merged_stem(stems: Iterable[str]) -> str:
    """The name of a file that these segments are merged into: agents' retention takes it for a segment, too."""
    named = sorted(stems)
    digest = hashlib.sha256(",".join(named).encode()).hexdigest()
    return f"{digest[:16]}-{len(named):010}"


def is_merged(stem: str) -> bool:
    """Whether a file has the name of one that segments were merged into."""
    return _MERGED.fullmatch(stem) is not None


def is_segment(stem: str) -> bool:
    """Whether a file has the name of an agent's segment, or of several merged: not of an import."""
    return _SEGMENT.fullmatch(stem) is not None


def stems(segment: Segment) -> frozenset[str]:
    """The segments whose rows a file holds: itself, or those that were merged into it."""
    if is_merged(segment.stem):
        return frozenset(one for one in _covered(segment.path) if not is_merged(one))
    return frozenset((segment.stem,))


def keys(segments: Iterable[Segment]) -> set[tuple[str, str]]:
    """Host and stem of every segment whose rows these files hold."""
    return {(segment.host, stem) for segment in segments for stem in stems(segment)}


def _covered(path: Path) -> tuple[str, ...]:
    """All that a merged file stands for; nothing where it cannot be read: then the others count."""
    with contextlib.suppress(OSError):
        return _covered_once(path)
    return ()


@lru_cache(maxsize=1 << 16)
def _covered_once(path: Path) -> tuple[str, ...]:
    """Of a file that is never edited, and whose name follows from them."""
    return stems_of(path)


def _once(found: list[Segment]) -> list[Segment]:
    """The files of one folder without those whose rows are in a merged one."""
    hidden = {stem for one in found if is_merged(one.stem) for stem in _covered(one.path)}
    return [one for one in found if one.stem not in hidden]


def _settled(folder: Path) -> list[Path]:
    """The Parquet files of a folder as they were at one instant.

    A listing that runs while files are merged may miss the new file and the old ones. Files appear and go, and none
    comes back: two listings that agree were true between them. A folder that has long not changed needs one.
    """
    files = _files(folder, ".parquet")
    for _ in range(_LISTINGS):
        try:
            if time.time() - folder.stat().st_mtime - _QUIET_S >= 0:
                return files
        except OSError:
            return files
        again = _files(folder, ".parquet")
        if sorted(again) == sorted(files):
            return files
        files = again
    return files


def _partitioned(
    table: Path, since_date: str | None, host: str | None = None, *, hidden: bool = False
) -> list[Segment]:
    found = []
    for day in _folders(table):
        name, _, value = day.name.partition("=")
        if name != "date" or (since_date is not None and value < since_date):
            continue
        for folder in _folders(day) if host is None else [day / f"host={host}"]:
            if folder.name.startswith("host="):
                name = folder.name[len("host=") :]
                files = [Segment(name, path.stem, path) for path in _settled(folder)]
                found += files if hidden else _once(files)
    return sorted(found, key=lambda segment: str(segment.path))


def window_files(root: Path, window_ns: int) -> list[MonthFile]:
    """Files of kept windows of one length, by host, name and month."""
    seconds = f"{window_ns / 1e9:.9f}".rstrip("0").rstrip(".")
    found = _month_files(root / "windows", ".windows")
    return [file for file in found if file.path.stem[:-8].endswith(f"ms-{seconds}s")]


def window_series(root: Path) -> list[MonthFile]:
    """The newest file of each series of kept windows."""
    found = _month_files(root / "windows", ".windows")
    return list({(file.host, file.path.stem[:-8]): file for file in found}.values())


def event_files(root: Path) -> list[MonthFile]:
    """Files of events, by host and month."""
    return _month_files(root / "events", ".jsonl")


def run_files(root: Path) -> list[RunFile]:
    """Runs that have ended, by date and name."""
    found = [
        RunFile(path.stem, day[1], path)
        for folder in _folders(root / "runs")
        if (day := _DATE.fullmatch(folder.name))
        for path in _files(folder, ".parquet")
    ]
    return sorted(found, key=lambda file: (file.date, file.run))


def run_parts(root: Path) -> list[RunPart]:
    """What runs in flight, or that died, have appended."""
    found = []
    for path in _files(root / "runs", ".jsonl"):
        run, dot, process = path.name.removesuffix(_PART).rpartition(".")
        if path.name.endswith(_PART) and dot and run:
            found.append(RunPart(run, process, path))
    return sorted(found)


def run_path(root: Path, run_id: str, began_ns: int) -> Path:
    """Where a run that began then lies when it has ended."""
    return root / "runs" / f"date={utc_date(began_ns)}" / f"{slug(run_id)}.parquet"


def part_path(root: Path, run_id: str, process: int | str) -> Path:
    """Where a process of a run appends."""
    name = slug(str(process)).replace(".", "-")
    return root / "runs" / f"{slug(run_id)}.{name}{_PART}"


def _month_files(root: Path, suffix: str) -> list[MonthFile]:
    found = [
        MonthFile(folder.name, path.stem[-7:], path)
        for folder in _folders(root)
        for path in _files(folder, suffix)
    ]
    return sorted(file for file in found if _MONTH.fullmatch(file.month))


def utc_month(ns: int) -> str:
    """The UTC month of an instant, YYYY-MM."""
    return utc_date(ns)[:7]


def parquet_path(root: Path, host: str, stem: str, opened_ns: int) -> Path:
    """Where the segment that was opened at ``opened_ns`` is sealed to."""
    return root / "samples" / f"date={utc_date(opened_ns)}" / f"host={host}" / f"{stem}.parquet"


def judged_path(
    root: Path, host: str, target: str, period_ns: int, span_ns: tuple[int, int]
) -> Path:
    """Where the results of a day, or of hours of it, are kept for a target as seen from a host at one rate."""
    begin_ns, end_ns = span_ns
    folder = root / "judged" / slug(host) / slug(target)
    when = utc_date(begin_ns)
    if end_ns - begin_ns < DAY_NS:
        when += f"T{begin_ns % DAY_NS // HOUR_NS:02}"
    return folder / f"{when}-{period_ns}.npz"


def begin_of(date: str) -> int:
    """When a UTC date begins (ns)."""
    return int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp()) * 1_000_000_000


def utc_date(ns: int) -> str:
    """The UTC date of an instant, YYYY-MM-DD."""
    return datetime.fromtimestamp(ns // 1_000_000_000, tz=UTC).strftime("%Y-%m-%d")


def _folders(path: Path) -> list[Path]:
    return [entry for entry in _entries(path) if entry.is_dir() and not entry.name.startswith(".")]


def _files(path: Path, suffix: str) -> list[Path]:
    return [e for e in _entries(path) if e.suffix == suffix and not e.name.startswith(".")]


def _entries(path: Path) -> list[Path]:
    reading(path)
    try:
        return list(path.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(
            f"cannot list {path}: {error.strerror}",
            expected="a readable store folder",
            hint=Advice(Argument("store", "DIR"), " or IOSONDE_STORE"),
        ) from error
