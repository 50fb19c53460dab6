"""Files of one host and day, for merging: names, contents, and five operations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import duckdb

from iosonde.engine import checksum, reader
from iosonde.engine.connections import connect
from iosonde.engine.contract import SAMPLE_ORDER, SAMPLE_TYPES
from iosonde.engine.layout.contents import Contents
from iosonde.engine.layout.folders import files_in, folders_in
from iosonde.engine.layout.merged import is_segment
from iosonde.engine.layout.segments import Segment, contents
from iosonde.engine.parquet import parquet, write_parquet
from iosonde.model.errors import StoreError
from iosonde.weather.rollups import derive
from iosonde.weather.rollups.files import write

SAMPLES, ROLLUPS = "samples", "rollups"


class RowsMerged(NamedTuple):
    """``rows`` of a merged file; ``twice``: number of duplicates in its parts."""

    rows: int
    twice: int


class DayFiles(Protocol):
    """Operations on the files of one host and day. Each method raises OSError, duckdb.Error, StoreError."""

    @property
    def name(self) -> str:
        """Printable name."""

    def listed(self, table: str) -> list[Contents]:
        """All files, of segments and merged ones."""

    def modified_ns(self, table: str, stem: str) -> int | None:
        """Modification time of a file (UTC, by the file system); None: it is gone."""

    def wrong(self, table: str, stem: str) -> str:
        """Defect of a file's bytes, "" for none."""

    def readable(self, stems: Sequence[str]) -> list[str]:
        """Readable files of samples."""

    def roll_up(self, parts: Sequence[str], stem: str, names: Sequence[str]) -> None:
        """Write the roll-up of some files' rows, each row once; skip one that cannot be written."""

    def merge(self, parts: Sequence[str], stem: str, names: Sequence[str]) -> RowsMerged:
        """Write a file of their rows, each once, atomically."""

    def remove(self, table: str, stem: str) -> None:
        """Remove a file; a missing one is no error."""


@dataclass(frozen=True)
class FolderOfDay:
    """``samples/date=D/host=H`` of a store and ``rollups/date=D/host=H``. Links are not followed."""

    root: Path
    date: str
    host: str

    @property
    def name(self) -> str:
        """The folder of its samples."""
        return str(self._folder(SAMPLES))

    def listed(self, table: str) -> list[Contents]:
        """As in ``DayFiles``."""
        folder = self._folder(table)
        if folder.is_symlink() or folder.parent.is_symlink():
            return []
        found = [path for path in files_in(folder, ".parquet") if is_segment(path.stem)]
        return [contents(path) for path in found if not path.is_symlink()]

    def modified_ns(self, table: str, stem: str) -> int | None:
        """As in ``DayFiles``."""
        try:
            return self.path(table, stem).stat().st_mtime_ns
        except FileNotFoundError:
            return None

    def wrong(self, table: str, stem: str) -> str:
        """As in ``DayFiles``."""
        return checksum.wrong(self.path(table, stem))

    def readable(self, stems: Sequence[str]) -> list[str]:
        """As in ``DayFiles``."""
        those = [Segment(self.host, stem, self.path(SAMPLES, stem)) for stem in stems]
        with contextlib.closing(connect()) as con:
            return [one.stem for one in reader.sound_segments(con, those)]

    def roll_up(self, parts: Sequence[str], stem: str, names: Sequence[str]) -> None:
        """As in ``DayFiles``."""
        with contextlib.closing(connect()) as con:
            reader.look_at_distinct(con, [self.path(SAMPLES, part) for part in parts])
            found = derive.derived(con)
            with contextlib.suppress(OSError, duckdb.Error):
                # What is not kept is made again by the next reader.
                write(con, found, self.path(ROLLUPS, stem), names)

    def merge(self, parts: Sequence[str], stem: str, names: Sequence[str]) -> RowsMerged:
        """As in ``DayFiles``."""
        files = parquet([self.path(SAMPLES, part) for part in parts])
        distinct = f"SELECT DISTINCT {', '.join(SAMPLE_TYPES)} FROM {files}"
        path = self.path(SAMPLES, stem)
        with contextlib.closing(connect()) as con:
            total = count(con, f"SELECT count(*) FROM {files}")
            sql = f"{distinct} ORDER BY {', '.join(SAMPLE_ORDER)}"
            made = write_parquet(con, sql, path, stems=names) or 0
            if made != total and made != (once := count(con, f"SELECT count(*) FROM ({distinct})")):
                path.unlink()
                raise StoreError(f"{path} has {made} rows, expected {once}")
            return RowsMerged(made, total - made)

    def remove(self, table: str, stem: str) -> None:
        """As in ``DayFiles``."""
        self.path(table, stem).unlink(missing_ok=True)

    def path(self, table: str, stem: str) -> Path:
        """Path of a file."""
        return self._folder(table) / f"{stem}.parquet"

    def _folder(self, table: str) -> Path:
        return self.root / table / f"date={self.date}" / f"host={self.host}"


def days(root: Path) -> Iterator[FolderOfDay]:
    """Yield each host and day with samples or roll-ups, by date and host."""
    found = {
        (date.name.removeprefix("date="), host.name.removeprefix("host="))
        for table in (SAMPLES, ROLLUPS)
        for date in folders_in(root / table)
        if date.name.startswith("date=")
        for host in folders_in(date)
        if host.name.startswith("host=")
    }
    for date, host in sorted(found):
        yield FolderOfDay(root, date, host)


def count(con: duckdb.DuckDBPyConnection, sql: str) -> int:
    """Result of a query for a number. Raises duckdb.Error."""
    return int((con.execute(sql).fetchone() or (0,))[0])
