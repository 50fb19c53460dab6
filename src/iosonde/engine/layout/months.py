"""Files of one month each: kept windows, and events."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from iosonde.engine.layout.folders import files_in, folders_in

FOUND_EVENTS = "found-"
"""Prefix of files with events computed from samples."""
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


class MonthFile(NamedTuple):
    """A file with one month of windows or events."""

    host: str
    """Name of its folder."""
    month: str
    path: Path


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


def _month_files(root: Path, suffix: str) -> list[MonthFile]:
    found = [
        MonthFile(folder.name, path.stem[-7:], path)
        for folder in folders_in(root)
        for path in files_in(folder, suffix)
    ]
    return sorted(file for file in found if _MONTH.fullmatch(file.month))
