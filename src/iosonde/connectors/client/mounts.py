"""Where a node's file systems are mounted: lines of mountinfo and of partitions, from a log of ``grep -H``.

::

    /proc/self/mountinfo:36 35 8:2 / /scratch rw,noatime shared:1 - ext4 /dev/sda2
    /proc/self/mountinfo:41 35 0:47 / /home rw,relatime - nfs4 server:/home
    /sys/dev/block/8:2/../dev:8:0

Control groups count operations of whole disks: 8:0 is the disk of the partition 8:2. Open files name their mount: 41.
Source: proc_pid_mountinfo(5), proc_pid_fdinfo(5).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

LINE = re.compile(
    r"/proc/self/mountinfo:(?P<mount>\d+) \d+ (?P<device>\d+:\d+) (?P<root>\S+) (?P<point>/\S*) .*?"
    r"- (?P<type>\S+)(?: .*)?"
    r"|/sys/dev/block/(?P<part>\d+:\d+)/\.\./dev:(?P<disk>\d+:\d+)\s*",
    re.ASCII,
)
_ESCAPE = re.compile(r"\\([0-7]{3})")
_KERNELS = re.compile(
    r"autofs|binfmt_misc|bpf|cgroup2?|configfs|debugfs|devpts|devtmpfs|efivarfs|fusectl|hugetlbfs|mqueue|nsfs|proc|pstore"
    r"|rpc_pipefs|securityfs|selinuxfs|sysfs|tracefs"
)
"""File systems without files of users."""


class _Mount(NamedTuple):
    device: str
    point: str


class Mounts:
    """Mount points by device number and by mount id, as the last lines say."""

    def __init__(self) -> None:
        self._points: dict[str, set[str]] = defaultdict(set)
        self._disk: dict[str, str] = {}
        self._mounts: dict[str, _Mount | None] = {}
        """None: a file system of the kernel."""

    def take(self, text: str) -> bool:
        """Take a line if it is one of these."""
        match = LINE.fullmatch(text)
        if match is None:
            return False
        if match["part"]:
            self._disk[match["part"]] = match["disk"]
            return True
        point = _ESCAPE.sub(lambda sign: chr(int(sign[1], 8)), match["point"])
        self._mounts[match["mount"]] = None
        if not _KERNELS.fullmatch(match["type"]):
            self._mounts[match["mount"]] = _Mount(match["device"], point)
            if match["root"] == "/":
                self._points[match["device"]].add(point)
        return True

    def of_device(self, device: str) -> str:
        """The mount point of a disk with one file system; else its number: its operations may be of any of them."""
        own = [device, *(part for part, disk in self._disk.items() if disk == device)]
        mounted = [min(self._points[one], key=len) for one in own if self._points.get(one)]
        return mounted[0] if len(mounted) == 1 else device

    def of_files(self, mounts: Collection[str]) -> set[str]:
        """The mount points of the file systems on which these mounts' files are."""
        found = (self._mounts.get(one) for one in mounts)
        return {self._point(one) for one in found if one is not None}

    def knows(self, mounts: Collection[str]) -> bool:
        """Whether all are mounted on the node: those of pipes, sockets and a container's own are not."""
        return all(one in self._mounts for one in mounts)

    def _point(self, mount: _Mount) -> str:
        """A folder of a file system may be mounted elsewhere, too: its own mount point is meant."""
        return min(self._points.get(mount.device) or {mount.point}, key=len)
