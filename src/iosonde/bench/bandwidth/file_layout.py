"""Layout of a file: its OSTs on Lustre, its first physical byte if the file system reports it."""

from __future__ import annotations

import fcntl
import re
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_FIEMAP = 0xC020660B
"""FS_IOC_FIEMAP."""
_HEAD = struct.Struct("=QQLLLL")
_EXTENT = struct.Struct("=QQQQQLLLL")
_NO_PLACE = 0x2 | 0x4 | 0x8 | 0x200
"""Flags of an extent without a position on the device: unknown, not allocated yet, encoded, inline."""
_PATIENCE_S = 20.0
_OBJECT = re.compile(r"^\s+(?P<ost>\d+)\s+\d+\s+0x[0-9a-f]+\s+(?:0x[0-9a-f]+|0)\s*$")
_COMPONENT = re.compile(r"l_ost_idx:\s*(?P<ost>\d+)")
_STRIPE_SIZE = re.compile(r"lmm_stripe_size:\s*(?P<bytes>\d+)")


@dataclass(frozen=True, slots=True)
class FileLayout:
    """``targets``: names of OSTs in the order of stripes, empty if unknown. ``text``: for people."""

    targets: tuple[str, ...] = ()
    text: str | None = None


def lustre_layouts(paths: Sequence[str], kind: str) -> dict[str, FileLayout]:
    """The layout of each file by path, as ``lfs getstripe`` prints it; empty elsewhere, or without lfs."""
    program = shutil.which("lfs")
    if kind != "lustre" or program is None or not paths:
        return {}
    try:
        done = subprocess.run(
            [program, "getstripe", *paths],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse_getstripe(done.stdout, paths)


def parse_getstripe(text: str, paths: Sequence[str]) -> dict[str, FileLayout]:
    """Parse ``lfs getstripe`` output of plain and composite layouts, by path. Ignores other lines."""
    wanted = set(paths)
    osts: dict[str, list[str]] = {}
    sizes: dict[str, str] = {}
    path = None
    for line in text.splitlines():
        if line.strip() in wanted:
            path = line.strip()
            osts.setdefault(path, [])
        elif path is not None:
            found = _OBJECT.match(line) or _COMPONENT.search(line)
            if found:
                osts[path].append(found["ost"])
            elif size := _STRIPE_SIZE.search(line):
                sizes.setdefault(path, size["bytes"])
    return {
        name: FileLayout(
            tuple(f"OST{int(ost):04x}" for ost in found), f"{len(found)} x {sizes.get(name, '?')} B"
        )
        for name, found in osts.items()
        if found
    }


def physical_bytes(path: str) -> int | None:
    """Offset of the file's first extent on its device, bytes (FIEMAP); None if the file system does not report it."""
    request = bytearray(_HEAD.pack(0, 2**64 - 1, 0, 0, 1, 0) + bytes(_EXTENT.size))
    try:
        with Path(path).open("rb") as file:
            fcntl.ioctl(file, _FIEMAP, request)
    except OSError:
        return None
    mapped = _HEAD.unpack_from(request)[3]
    _, physical, _, _, _, flags, *_ = _EXTENT.unpack_from(request, _HEAD.size)
    return int(physical) if mapped and not flags & _NO_PLACE else None
