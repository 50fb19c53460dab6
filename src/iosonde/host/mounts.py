"""The kernel's mount table as data. Finding a path's mount is text work: it touches no target."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"})
OVERLAY = frozenset({"overlay", "aufs", "unionfs", "fuse.fuse-overlayfs"})
NETWORK = frozenset(
    {"nfs", "nfs4", "lustre", "gpfs", "ceph", "beegfs", "cifs", "smb3", "9p", "afs", "pvfs2"}
)
LOCAL = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs", "reiserfs", "vfat"}
)
_PSEUDO = "proc sysfs cgroup cgroup2 devpts debugfs tracefs securityfs bpf mqueue configfs pstore"
PSEUDO = frozenset(_PSEUDO.split())
PARALLEL = frozenset({"lustre", "beegfs", "gpfs"})


@dataclass(frozen=True, slots=True)
class Mount:
    """A line of /proc/self/mountinfo."""

    point: str
    kind: str
    source: str
    device: str
    """``major:minor``; major 0 for file systems without a block device."""
    root: str
    """Path within the file system that is mounted here; not ``/`` for a bind mount."""
    options: dict[str, str | None]
    """Options of the mount and of the file system together; ``hard`` is ``{"hard": None}``."""

    @property
    def fuse(self) -> bool:
        """True if a user-space daemon serves the file system."""
        return self.kind in ("fuse", "fuseblk") or self.kind.startswith("fuse.")

    def number(self, name: str) -> int | None:
        """Numeric value of an option."""
        value = self.options.get(name)
        return int(value) if value is not None and value.isdecimal() else None


def mount_table() -> list[Mount]:
    """Mount table of this process; empty if the kernel does not tell."""
    try:
        text = Path("/proc/self/mountinfo").read_text("utf-8", errors="surrogateescape")
    except OSError:
        return []
    return parse_mountinfo(text)


def parse_mountinfo(text: str) -> list[Mount]:
    """Parse mounts in the order of the table; malformed lines are left out."""
    return [mount for line in text.splitlines() if (mount := _parse_line(line)) is not None]


def _parse_line(line: str) -> Mount | None:
    words = line.split(" ")
    if "-" not in words[6:] or len(words) < 10:
        return None
    rest = words[words.index("-", 6) + 1 :]
    if len(rest) < 3:
        return None
    options = _options(words[5]) | _options(rest[2])
    if "ro" in _options(words[5]) | _options(rest[2]):
        options.pop("rw", None)
    point, root = _unescaped(words[4]), _unescaped(words[3])
    return Mount(point, rest[0], _unescaped(rest[1]), words[2], root, options)


def _options(text: str) -> dict[str, str | None]:
    pairs = (word.partition("=") for word in text.split(",") if word)
    return {name: value if equals else None for name, equals, value in pairs}


def _unescaped(text: str) -> str:
    r"""Decode ``\\040`` for a space and similar escapes."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def below(path: str, folder: str) -> bool:
    """True if ``path`` is ``folder`` or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def mount_of(mounts: Sequence[Mount], path: str) -> Mount | None:
    """The mount an absolute path lies on: the longest mount point above it, the latest of equals."""
    found = None
    for mount in mounts:
        if below(path, mount.point) and (found is None or len(mount.point) >= len(found.point)):
            found = mount
    return found


def missing_mount(fstab: str, mounts: Sequence[Mount], path: str) -> str | None:
    """A mount point at or above ``path`` in /etc/fstab but not in the mount table."""
    mounted = {mount.point for mount in mounts}
    for line in fstab.splitlines():
        words = line.split("#")[0].split()
        if len(words) >= 3 and words[1].startswith("/") and words[2] != "swap":
            point = _unescaped(words[1]).rstrip("/") or "/"
            if below(path, point) and point not in mounted:
                return point
    return None
