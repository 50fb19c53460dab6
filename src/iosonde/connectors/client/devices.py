"""Where a node's block devices are mounted: lines of mountinfo and of partitions, from a log of ``grep -H``.

::

    /proc/self/mountinfo:36 35 8:2 / /scratch rw,noatime shared:1 - ext4 /dev/sda2 rw
    /sys/dev/block/8:2/../dev:8:0

Control groups count operations of whole disks: 8:0 is the disk of the partition 8:2. Source: proc_pid_mountinfo(5).
"""

from __future__ import annotations

import re
from collections import defaultdict

LINE = re.compile(
    r"/proc/self/mountinfo:\d+ \d+ (?P<device>\d+:\d+) / (?P<point>/\S*) .*"
    r"|/sys/dev/block/(?P<part>\d+:\d+)/\.\./dev:(?P<disk>\d+:\d+)\s*",
    re.ASCII,
)
_ESCAPE = re.compile(r"\\([0-7]{3})")


class Devices:
    """Mount points by device number, as the last lines say."""

    def __init__(self) -> None:
        self._points: dict[str, set[str]] = defaultdict(set)
        self._disk: dict[str, str] = {}

    def take(self, text: str) -> bool:
        """Take a line if it is one of these."""
        match = LINE.fullmatch(text)
        if match is None:
            return False
        if match["part"]:
            self._disk[match["part"]] = match["disk"]
        else:
            point = _ESCAPE.sub(lambda sign: chr(int(sign[1], 8)), match["point"])
            self._points[match["device"]].add(point)
        return True

    def place(self, device: str) -> str:
        """The mount point of a disk with one file system; else its number: its operations may be of any of them."""
        own = [device, *(part for part, disk in self._disk.items() if disk == device)]
        mounted = [min(self._points[one], key=len) for one in own if self._points.get(one)]
        return mounted[0] if len(mounted) == 1 else device
