"""Readable roll-ups and samples of a store that count; damaged ones are reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from iosonde.engine import reader
from iosonde.engine.contract import ROLLUP_TYPES
from iosonde.engine.layout.segments import (
    Segment,
    host_stems,
    parquet_segments,
    rollup_segments,
    sealed_path,
)
from iosonde.engine.left_out import leave_out
from iosonde.engine.sound import is_newer, unsound
from iosonde.engine.versions import UPGRADE
from iosonde.weather.rollups.choice import RollupChoice, choose
from iosonde.weather.rollups.files import SCHEMA_VERSION

_WRITABLE = "nothing, or a store that can be written"
_BACKUP = "moving it out of the store; a copy from a backup brings it back"
_COLUMNS = {name: kind for name, kind in ROLLUP_TYPES.items() if name != "quantiles_ns"}
"""Columns without quantiles, which files of layout 1 lack."""


def chosen(
    con: duckdb.DuckDBPyConnection,
    root: Path,
    where: tuple[str | None, str | None],
    kept: Sequence[Segment],
) -> RollupChoice[Segment]:
    """Readable roll-ups and samples that count; ``where``: first date, and folder."""
    bad: set[Path] = set()
    while True:
        sealed = parquet_segments(root, *where, bad)
        choice = choose({s: host_stems(s) for s in sealed}, {s: host_stems(s) for s in kept})
        groups = [*choice.new, *(group for _, made in choice.rivals for group in made)]
        new = [one for group in groups for one in group]
        found = {one.path for one in reader.sound_segments(con, new)}
        if len(found) == len(new):
            return choice
        bad |= {one.path for one in new} - found


def sound_kept(
    con: duckdb.DuckDBPyConnection, root: Path, since: str | None, folder: str | None
) -> list[Segment]:
    """Readable roll-ups that count; an unreadable merge is replaced by its parts."""
    bad: set[Path] = set()
    while True:
        listed = rollup_segments(root, since, folder, bad)
        found = sound_rollups(con, root, listed)
        if len(found) == len(listed):
            return found
        bad |= {one.path for one in listed} - {one.path for one in found}


def sound_rollups(
    con: duckdb.DuckDBPyConnection, root: Path, kept: Sequence[Segment]
) -> list[Segment]:
    """Readable roll-ups; the others are recomputed from their samples, or left out."""
    wrong = unsound(con, [segment.path for segment in kept], _COLUMNS, SCHEMA_VERSION)
    for path, what in wrong.items():
        if is_newer(what):
            leave_out(path, what, UPGRADE, "left out; its samples count where they are there")
        else:
            tell_damaged(root, path, what)
    return [segment for segment in kept if segment.path not in wrong]


def is_of_newer(con: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """True if a newer version of iosonde wrote a roll-up."""
    return is_newer(unsound(con, [path], _COLUMNS, SCHEMA_VERSION).get(path, ""))


def tell_damaged(root: Path, path: Path, what: str) -> bool:
    """Report a damaged roll-up; True if its samples exist."""
    if sealed_path(root, path).exists():
        leave_out(path, what, _WRITABLE, "made again from its samples")
        return True
    leave_out(path, what, _BACKUP, "left out, its samples are gone")
    return False
