"""collectl's plot format (``collectl -P``): CPU, disks, networks, NFS and Lustre clients of a host over time.

A line ``#Date Time [CPU]User% ...`` or ``#UTC [NFS]ReadsC ...`` names columns; before it a file may say its host, zone
and interval between lines of ``#``. The time is the END of an interval. Numbers of things are rates a second, rounded
to integers unless ``-o2``, or counts with ``-on`` (which only the framed header says): amounts of rounded rates are an
estimate. Of versions of NFS the operations are added up. Columns that mean nothing here are left out. Sources:
collectl(1), collectl 4.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone, tzinfo
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.client.collectl_columns import CollectlColumn, meaning
from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lines import Line, bad, read_lines, shown
from iosonde.connectors.many_files import of_one, read_each
from iosonde.connectors.plain_numbers import plain
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError
from iosonde.model.units import LATEST_S

KIND = "collectl"
_HEADER = re.compile(r"#(?:Date(.{1,4}?)Time|UTC)(.{1,4}?)\[[A-Z]+(?::[^\]]+)?\]\S")
_HOST = re.compile(r"# Host:\s+(\S+)")
_DATE = re.compile(r"# Date:\s+(\d{8}-\d{6})\s+Secs: (\d{9,11}) TZ: ([+-])(\d\d)(\d\d)")
_INTERVAL = re.compile(r"# SubSys:.*\bInterval: (\d{1,6}(?:\.\d{1,6})?)")
_COUNTS = re.compile(r"# Collectl:.*\s-o\S*n")
_MOST_COLUMNS = 20_000
_MOST_CELLS = 400_000


class _Column(NamedTuple):
    place: int
    meaning: CollectlColumn


def recognises(head: Head) -> bool:
    """True if one of the first lines names columns as collectl does."""
    return any(_HEADER.match(line) for line in islice(head.lines, 100))


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks of the host's series. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks of several files: a host's days, or many hosts."""
    gather = Gather("collectl")

    def one(path: Path) -> Iterator[Item]:
        table = _Table(path, settings, warn, gather)
        try:
            for line in read_lines(path, warn, of_one(paths, settings.progress)):
                try:
                    table.take(line)
                except ValueError as error:
                    warn(bad(path, line.number, str(error), "a row of collectl -P"))
                if gather.full:
                    yield from gather.blocks()
        finally:
            table.ended()

    yield from read_each(paths, one, gather.rest, warn, settings.progress)


class _Table:
    """Rows of one file, emitted once their distance in time is known."""

    def __init__(self, path: Path, settings: Settings, warn: Warn, gather: Gather) -> None:
        self._path, self._settings, self._warn, self._gather = path, settings, warn, gather
        self._host = settings.node or path.name.split(".")[0]
        self._clock = WallTimes(settings.zone, ascending=True)
        self._zone: tzinfo | None = None
        self._interval_ns: int | None = None
        self._counts = False
        self._columns: list[_Column] | None = None
        self._delimiter: str | None = None
        self._utc = False
        self._width = 0
        self._rows: list[tuple[int, list[float | None]]] = []
        self._rounded = True

    def take(self, line: Line) -> None:
        """Parse one line. Raises ValueError for a malformed row."""
        text = line.text
        if text.startswith("#"):
            self._said(text)
        elif text.strip():
            if self._columns is None:
                raise ValueError("a row before the line that names columns")
            self._row(text, line.ended)
            if len(self._rows) * len(self._columns) > _MOST_CELLS:
                self._flush(keep=1)

    def ended(self) -> None:
        """Emit the remaining rows at the end of the file."""
        self._flush()
        for note in self._clock.notes():
            self._gather.note(note.flag, note.what, note.n)

    def _said(self, text: str) -> None:
        """Parse a line of the header."""
        if match := _HEADER.match(text):
            self._flush()
            self._names(text, match)
        elif match := _HOST.match(text):
            self._host = match[1][:255]
        elif match := _DATE.match(text):
            away = timedelta(hours=int(match[4]), minutes=int(match[5]))
            if away < timedelta(hours=24):
                self._zone = timezone(-away if match[3] == "-" else away)
        elif match := _INTERVAL.match(text):
            self._interval_ns = round(float(match[1]) * 1e9) or None
        elif _COUNTS.match(text):
            self._counts = True

    def _names(self, text: str, match: re.Match[str]) -> None:
        self._utc = text.startswith("#UTC")
        between = match[2] if self._utc else match[1]
        self._delimiter = None if not between.strip(" \t") else between
        names = text[1:].split(self._delimiter)
        if len(names) > _MOST_COLUMNS:
            raise ValueError(f"more than {_MOST_COLUMNS} columns")
        found = [(place, meaning(name)) for place, name in enumerate(names)]
        self._columns = [_Column(place, what) for place, what in found if what is not None]
        self._width = len(names)
        left_out = len(names) - (1 if self._utc else 2) - len(self._columns)
        if left_out:
            self._gather.note("left-out", "columns that are not read", left_out)

    def _row(self, text: str, ended: bool) -> None:
        words = text.split(self._delimiter)
        if len(words) > self._width:
            raise ValueError(f"the row has {len(words)} fields of {self._width}")
        end_ns = self._time(words)
        if not ended:
            words.pop()
        if self._rows and end_ns == self._rows[-1][0]:
            self._gather.note("duplicate", f"rows of {self._path.name}")
            return
        values: list[float | None] = []
        wrong = ""
        for column in self._columns or ():
            word = words[column.place] if column.place < len(words) else None
            value = None if word is None else plain(word)
            if word is not None and (value is None or value < 0):
                wrong, value = word, None
            values.append(value)
            self._rounded &= word is None or "." not in word or not column.meaning.rate
        self._rows.append((end_ns, values))
        if wrong:
            self._gather.note("not-a-number", self._path.name)
            raise ValueError(f"{shown(wrong)} is no number")
        if len(words) < self._width:
            raise ValueError(f"the row has {len(words)} fields of {self._width}")

    def _time(self, words: list[str]) -> int:
        """End of the row's interval. Raises ValueError."""
        if self._utc:
            seconds = plain(words[0])
            if seconds is None or not 0 <= seconds <= LATEST_S:
                raise ValueError(f"the time {shown(words[0])} cannot be")
            return round(seconds * 1000) * 1_000_000
        text = " ".join(words[:2])
        for form in ("%Y%m%d %H:%M:%S.%f", "%Y%m%d %H:%M:%S"):
            try:
                moment = datetime.strptime(text, form)  # noqa: DTZ007 - its zone is given apart
            except ValueError:
                continue
            known = moment if self._zone is None else moment.replace(tzinfo=self._zone)
            found = self._clock.ns(known)
            if found is not None and 0 <= found <= LATEST_S * 10**9:
                return found
        raise ValueError(f"the time {shown(text)} cannot be")

    def _flush(self, keep: int = 0) -> None:
        """Emit rows; keep the last ``keep``, from which the next distance is measured."""
        rows, columns = self._rows, self._columns or []
        ends = [end for end, _ in rows]
        if ends != sorted(ends):
            self._gather.note("out-of-order", f"rows of {self._path.name}")
            rows = sorted(rows, key=lambda row: row[0])
            ends = [end for end, _ in rows]
        gaps = sorted(b - a for a, b in pairwise(ends) if b > a)
        usual = gaps[len(gaps) // 2] if gaps else self._interval_ns
        if rows and usual is None:
            self._warn(
                InputFileError(
                    f"{self._path}: one row only, its length is unknown",
                    expected="two rows or more",
                )
            )
        self._rows = rows[len(rows) - keep :] if keep and self._interval_ns is None else []
        if usual is None:
            return
        if self._rounded and not self._counts and any(c.meaning.rate for c in columns):
            self._gather.note("estimated", "amounts of rates that were rounded to integers")
        before: int | None = None
        for end, values in rows[: len(rows) - len(self._rows)]:
            # Behind a gap an interval is no longer than others; clocks of intervals are not exact.
            far = usual if before is None else end - before
            step = far if 0 < far < 1.5 * usual else usual
            self._give(end - step, step, columns, values)
            before = end

    def _give(
        self, time_ns: int, step_ns: int, columns: list[_Column], values: list[float | None]
    ) -> None:
        sums: dict[ComponentSeries, float | None] = {}
        for column, value in zip(columns, values, strict=True):
            what = column.meaning
            name = f"{self._host}/{what.part}" if what.part else self._host
            series = ComponentSeries(
                what.system or self._settings.system, what.level, what.metric, name
            )
            if not what.rate:
                if value is not None:
                    self._gather.over(series, time_ns, step_ns, value * what.scale)
                continue
            seconds = 1.0 if self._counts else step_ns / 1e9
            amount = None if value is None else value * what.scale * seconds
            known = sums.get(series, 0.0)
            sums[series] = None if amount is None or known is None else known + amount
        for series, total in sums.items():
            if total is not None:
                self._gather.amount(series, time_ns, step_ns, total)
