"""Logs that repeat a command's output: ``BEGIN <epoch>`` or another time, then the output, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.lines import Line, bad, read_lines
from iosonde.connectors.local_time import zone_notes
from iosonde.connectors.source import Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.quality import Note
from iosonde.model.units import to_ns


class Dated(NamedTuple):
    """A line and its print time."""

    time_ns: int
    line: Line
    begins: bool
    """True for the first line of an output: a ``BEGIN``, or the file's first line."""
    stamp: bool
    """True for a line with a time only (``BEGIN``, or another that ``stamps`` knows)."""


def dated_lines(path: Path, settings: Settings, warn: Warn, clock: WallTimes) -> Iterator[Dated]:
    """Yield every line with the time of the ``BEGIN`` (or other stamp) before it, else of the file (see ``single``).

    ``clock``: of stamps without a zone; it has their notes.
    """
    when, _ = single(path, settings)
    first = True
    for line in read_lines(path, warn):
        found = stamp_of(line.text, clock)
        if found is not None:
            when = found
        elif line.text.startswith("BEGIN"):
            warn(bad(path, line.number, "no time behind BEGIN", "BEGIN and seconds since 1970"))
            continue
        yield Dated(when, line, first or found is not None, found is not None)
        first = False


def single(path: Path, settings: Settings) -> tuple[int, tuple[Note, ...]]:
    """Time of a text without a ``BEGIN``: ``Settings.day`` at 0:00, else the file's modification time."""
    if settings.day is not None:
        moment = datetime.combine(settings.day, time(0), tzinfo=settings.zone)
        aware = moment.astimezone() if settings.zone is None else moment
        note = Note("estimated", f"text without a time is of {settings.day}")
        return to_ns(aware), (*zone_notes(True, 0, settings.zone), note)
    try:
        written = path.stat().st_mtime_ns
    except OSError:
        written = 0
    return written, (Note("estimated", "text without a time is of when the file was last written"),)
