"""Facts about a benchmark's machine, which explain differences between results."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from iosonde.host.mounts import mount_of, parse_mountinfo


def describe(path: Path | None) -> dict[str, Any]:
    """Kernel, processors, memory, load, clock source, and the mount of ``path``.

    What cannot be read is left out. Nothing of the environment is taken.
    """
    facts: dict[str, Any] = {
        "kernel": platform.release(),
        "processors": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
    }
    memory = _memory()
    facts |= {name: memory[key] for name, key in _MEMORY.items() if key in memory}
    clock = _text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if clock:
        facts["clock"] = clock
    if path is not None:
        facts |= _mount(path)
    return facts


_MEMORY = {"memory_bytes": "MemTotal", "memory_free_bytes": "MemAvailable"}


def _memory() -> dict[str, int]:
    found = {}
    for line in _text("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        number = rest.split()[:1]
        if number and number[0].isdigit():
            found[name] = int(number[0]) * 1024
    return found


def _mount(path: Path) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    mount = mount_of(parse_mountinfo(_text("/proc/self/mountinfo")), str(path.absolute()))
    if mount is not None:
        facts |= {"mounted": mount.point, "file_system": mount.kind, "options": mount.options}
    try:
        status = os.statvfs(path)
    except OSError:
        return facts
    facts["size_bytes"] = status.f_blocks * status.f_frsize
    facts["free_bytes"] = status.f_bavail * status.f_frsize
    return facts


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
