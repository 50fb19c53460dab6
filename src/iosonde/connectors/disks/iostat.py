"""``iostat -x -t INTERVAL``: rates of disks between reports, as text.

::

    Linux 6.1.0 (n001)  11/28/26  _x86_64_  (2 CPU)

    11/28/26 13:32:27
    Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s ...  aqu-sz  %util
    sda              8.00    162.00     0.00   0.00    0.69    20.25    0.00      0.00 ...    0.01   0.20

Sysstat 10 to 12, with ``-m``, ``-h``, ``--human`` and ``--pretty`` too. Source: sysstat, iostat.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from iosonde.connectors.disks.interval_reports import COLUMNS, IntervalReports, rate
from iosonde.connectors.disks.printed_times import DayOrder
from iosonde.connectors.gather import Gather
from iosonde.connectors.lines import Line, bad, read_lines
from iosonde.connectors.many_files import of_one, read_each
from iosonde.connectors.source import Head, Item, Settings, Warn

KIND = "iostat"
GUESSED = "dates with slashes: the month is taken to be first; S_TIME_FORMAT=ISO iostat says it"
_BANNER = re.compile(r"Linux \S+ \(([^()]{1,255})\)\s")
_MOST_COLUMNS = 100


def recognises(head: Head) -> bool:
    """True if a heading of extended statistics of disks is among the first lines."""
    return any("r/s" in (_heading(line) or ()) for line in head.lines[:200])


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Amounts between reports, per disk. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Amounts from several files. The host is the one that was said, else the file's name, else its first line."""
    gather = Gather("iostat")
    gather.note("estimated", "amounts of rates that were rounded to a hundredth")
    guessed: list[str] = []

    def one(path: Path) -> Iterator[Item]:
        order = DayOrder(line.text for line in read_lines(path, lambda _: None))
        log = _Log(path, settings, warn, gather, order)
        for line in read_lines(path, warn, of_one(paths, settings.progress)):
            try:
                log.take(line)
            except ValueError as error:
                warn(bad(path, line.number, str(error), "a line of iostat -x -t"))
            if gather.full:
                yield from gather.blocks()
        log.reports.end()
        if order.guessed and not guessed:
            guessed.append(GUESSED)

    yield from read_each(paths, one, gather.rest, warn, settings.progress)
    yield from guessed


def _heading(text: str) -> list[str] | None:
    """Names of columns; None for another line. ``Device`` is the first, or the last (``-h``)."""
    if "Device" not in text[:4000]:
        return None
    words = text.split(None, _MOST_COLUMNS)[:_MOST_COLUMNS]
    return words if any(words[at].rstrip(":") == "Device" for at in (0, -1)) else None


class _Log:
    def __init__(
        self, path: Path, settings: Settings, warn: Warn, gather: Gather, order: DayOrder
    ) -> None:
        self.reports = IntervalReports(path, settings, warn, gather, order)
        self._columns: list[str] = []

    def take(self, line: Line) -> None:
        """Parse one line. Raises ValueError; a wrong row costs its disk of one report."""
        text = line.text.strip()
        if not text or text.startswith("avg-cpu"):
            self._columns = []
        elif (heading := _heading(text)) is not None:
            self._columns = heading
        elif match := _BANNER.match(text):
            self._columns = []
            self.reports.begin(match[1])
        elif self.reports.at(text):
            self._columns = []
        elif self._columns:
            self._row(text, line.ended)

    def _row(self, text: str, ended: bool) -> None:
        words, columns = text.split(None, _MOST_COLUMNS), self._columns
        if not ended or len(words) != len(columns):
            what = "the line is cut" if not ended else f"{len(words)} fields of {len(columns)}"
            raise ValueError(what)
        pairs = [(name, word) for name, word in zip(columns, words, strict=True) if name in COLUMNS]
        device = words[0 if columns[0].rstrip(":") == "Device" else -1]
        self.reports.row(device, {COLUMNS[name].name: rate(name, word) for name, word in pairs})
