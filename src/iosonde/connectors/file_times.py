"""Recording time of files that do not contain it: the given day, else the modification time."""

from __future__ import annotations

from datetime import datetime, time
from pathlib import Path

from iosonde.connectors.source import Settings
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError
from iosonde.model.quality import Note


def recorded(path: Path, settings: Settings) -> tuple[int, tuple[Note, ...]]:
    """Recording time in UTC ns, and a note that it is an estimate. Raises InputFileError: unreadable."""
    if settings.day is not None:
        clock = WallTimes(settings.zone)
        found = clock.ns(datetime.combine(settings.day, time()))
        if found is not None:
            return found, (
                Note("estimated", f"recorded on {settings.day}, as was said"),
                *clock.notes(),
            )
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error
    return max(0, changed), (Note("estimated", "recorded when the file was last changed"),)
