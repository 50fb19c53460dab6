"""Facts of a store folder. Runs in an expendable child: a store may be on a hung file system too."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from iosonde.engine.atomic import PRIVATE_TABLES
from iosonde.host.child import Reporter

_DAY = re.compile(r"date=(\d{4}-\d{2}-\d{2})")


def gather_store(
    root: Path,
    read_states: Callable[[Path], list[dict[str, Any]]],
    open_segments: Callable[[Path], Sequence[Path]],
    report: Reporter,
) -> None:
    """Report ``exists``, ``states``, ``real``, ``open``, ``device``, ``space``, ``spool`` and ``days``."""
    report.trying(f"to find {root}")
    report.found(exists=root.is_dir(), real=os.path.realpath(root))
    if not root.is_dir():
        return
    report.trying(f"to read the states in {root}/state")
    report.found(states=read_states(root))
    report.trying(f"to look at the folders of {root}")
    report.found(open=_open_tables(root))
    report.trying(f"to ask {root} for free space")
    device, fs = root.stat().st_dev, os.statvfs(root)
    report.found(
        device=f"{os.major(device)}:{os.minor(device)}",
        space={"total_bytes": fs.f_blocks * fs.f_frsize, "free_bytes": fs.f_bavail * fs.f_frsize},
    )
    report.trying(f"to look at the segments in {root}/spool")
    spool = []
    for path in open_segments(root):
        status = _status(path)
        if status is not None:
            spool.append({"written_ns": status.st_mtime_ns, "bytes": status.st_size})
    report.found(spool=spool)
    report.trying(f"to look at the days in {root}/samples")
    report.found(days=_days(root / "samples"))


def _open_tables(root: Path) -> list[str]:
    """World-readable tables with names of users, jobs or applications."""
    if not root.stat().st_mode & stat.S_IXOTH:
        return []
    found = {name: _status(root / name) for name in sorted(PRIVATE_TABLES)}
    return [name for name, status in found.items() if status and status.st_mode & stat.S_IRWXO]


def _days(samples: Path) -> dict[str, int]:
    """Bytes of each day's Parquet files."""
    days: dict[str, int] = {}
    for folder in samples.iterdir() if samples.is_dir() else ():
        day = _DAY.fullmatch(folder.name)
        if day:
            sizes = (_status(file) for file in folder.glob("host=*/*.parquet"))
            days[day[1]] = sum(status.st_size for status in sizes if status is not None)
    return days


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None
