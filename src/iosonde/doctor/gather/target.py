"""Facts of a target. Runs in an expendable child, which announces each step before it."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Any

from iosonde.doctor.gather.host import read
from iosonde.doctor.gather.place import DIRECTORY, OpenedPlace, gather_other, gather_own, listed
from iosonde.host.child import Reporter

MAX_NAMES = 50_000
"""Most names examined in a directory."""
_OUTER = re.compile(r"\.iosonde-(\d+)")
_LOAD = re.compile(r"\.iosonde-load-[0-9a-f]{16}")


def gather_target(path: str, own_folder: str, host_folder: str, report: Reporter) -> None:
    """Report ``real``, ``space``, ``own``, ``others``, ``loads`` of a target, or its ``errno``.

    ``own_folder`` is what the probe of this host calls its folder: ``host_folder`` (see ``slug``),
    with ``@<server>`` where it keeps to one server.
    """
    try:
        report.trying(f"to find and open {path}")
        real = os.path.realpath(path)
        target = os.open(real, DIRECTORY & ~os.O_NOFOLLOW)
        report.found(real=real)
        report.trying(f"to ask for its attributes ({real})")
        status = os.fstat(target)
        report.found(device=f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}")
        report.trying(f"to ask for free space (statfs {real})")
        report.found(space=_space(target))
        report.trying(f"to list {real}")
        names, complete = listed(target, MAX_NAMES)
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, str(error.errno))
        report.found(errno=name, error=error.strerror or name)
        return
    report.found(complete=complete, loads=sorted(name for name in names if _LOAD.fullmatch(name)))
    outer = {name for name in names if _OUTER.fullmatch(name)}
    if not complete:
        outer |= {f".iosonde-{uid}" for uid in (os.geteuid(), 0)}
    _places(target, real, sorted(outer), (own_folder, host_folder), report)


def _space(target: int) -> dict[str, int]:
    fs = os.fstatvfs(target)
    return {
        "total_bytes": fs.f_blocks * fs.f_frsize,
        "free_bytes": fs.f_bavail * fs.f_frsize,
        "inodes": fs.f_files,
        "free_inodes": fs.f_favail,
    }


def _places(
    target: int, real: str, outer: list[str], folders: tuple[str, str], report: Reporter
) -> None:
    """Places below each ``.iosonde-<uid>``: ours in full, cheap facts of other hosts'."""
    own_folder, host_folder = folders
    own: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    closed: list[str] = []
    for name in outer:
        report.trying(f"to list {real}/{name}")
        try:
            directory = os.open(name, DIRECTORY, dir_fd=target)
        except FileNotFoundError:
            continue
        except OSError:
            closed.append(name)
            continue
        for folder in sorted(listed(directory, MAX_NAMES)[0]):
            place = OpenedPlace(
                directory, folder, f"{real}/{name}/{folder}", _OUTER.sub(r"\1", name)
            )
            if folder == own_folder:
                own.append(gather_own(place, report))
            elif folder.split("@")[0] != host_folder:
                others.append(gather_other(place, report))
            report.found(own=own, others=others)
        os.close(directory)
    report.found(own=own, others=others, closed=closed)


def gather_device(device: str, source: str) -> dict[str, Any] | None:
    """Facts of a block device in /sys; None for a file system without one."""
    if device.startswith("0:") and source.startswith("/dev/"):
        try:  # btrfs and the like; /dev lies in memory
            number = Path(source).stat().st_rdev
        except OSError:
            return None
        device = f"{os.major(number)}:{os.minor(number)}"
    folder = Path("/sys/dev/block") / device
    if not folder.exists():
        return None
    queue = folder / "queue" if (folder / "queue").exists() else folder / ".." / "queue"
    facts: dict[str, Any] = {"name": folder.resolve().name}
    for name in ("rotational", "scheduler", "write_cache"):
        text = read(queue / name)
        facts[name] = text.strip() if text is not None else None
    backing = read(folder / "loop" / "backing_file")
    facts["backing_file"] = backing.strip() if backing is not None else None
    return facts
