"""Snapshots in a log of ``/proc/self/mountstats``: each mount's counters, and their time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from iosonde.connectors.file_times import recorded
from iosonde.connectors.gather import Gather
from iosonde.connectors.lines import Line, bad, read_lines, shown
from iosonde.connectors.plain_numbers import count
from iosonde.connectors.source import Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes

DEVICE = re.compile(r"device (\S+) mounted on (\S+) with fstype (\S+)(?: statvers=(\S+))?")
_OP = re.compile(r"([A-Z][A-Z0-9_]{1,40}):\s+(\d[\d ]*|.*)")
MOST_MOUNTS = 10_000

OPERATIONS = {
    "READ": "read_ops",
    "WRITE": "write_ops",
    "OPEN": "opens",
    "OPEN_NOATTR": "opens",
    "CLOSE": "closes",
    "GETATTR": "getattrs",
    "SETATTR": "setattrs",
    "LOOKUP": "lookups",
    "ACCESS": "accesses",
    "CREATE": "creates",
    "REMOVE": "unlinks",
    "MKDIR": "mkdirs",
    "RMDIR": "rmdirs",
    "RENAME": "renames",
    "LINK": "links",
    "SYMLINK": "links",
    "MKNOD": "mknods",
    "READDIR": "readdirs",
    "READDIRPLUS": "readdirs",
    "FSSTAT": "statfss",
    "STATFS": "statfss",
    "COMMIT": "syncs",
}
"""NFS operation -> metric; others are ``other_ops``."""


@dataclass
class MountCounters:
    """Counters of one mount in one snapshot: metric -> reading."""

    export: str
    point: str
    number: int
    age_s: int | None = None
    operations: int = 0
    """Number of operation lines read."""
    broken: bool = False
    """True if a line is malformed: sums over operations would be too small."""
    sums: dict[str, float] = field(default_factory=dict)

    def add(self, metric: str, value: float) -> None:
        """Add to a metric that several operations share."""
        self.sums[metric] = self.sums.get(metric, 0) + value


class Snapshots:
    """The snapshots of one file, in its order."""

    def __init__(self, path: Path, settings: Settings, warn: Warn, gather: Gather) -> None:
        self._path, self._settings, self._warn, self._gather = path, settings, warn, gather
        self._clock = WallTimes(settings.zone, ascending=True)
        self._mounts: list[MountCounters] = []
        self._mount: MountCounters | None = None
        self._ops = False
        self._seen: set[tuple[str, str]] = set()
        self._before: int | None = None
        """The stamp of the snapshot that comes, where stamps stand before theirs."""
        self._leading: bool | None = None
        self._unstamped: list[list[MountCounters]] = []

    def read(self) -> Iterator[tuple[int, list[MountCounters]]]:
        """Yield each snapshot's time and mounts."""
        for line in read_lines(self._path, self._warn):
            text = line.text.strip()
            stamp = stamp_of(text, self._clock)
            if stamp is not None:
                if self._leading is None:
                    self._leading = not self._mounts
                if self._leading:
                    yield from self._ended(self._before)
                    self._before = stamp
                else:
                    yield from self._ended(stamp)
            elif match := DEVICE.fullmatch(text):
                yield from self._device(match, line)
            elif self._mount is not None and text:
                try:
                    self._counters(self._mount, text, line.ended)
                except ValueError as error:
                    self._mount.broken = True
                    self._gather.note("not-a-number", f"a line of {self._path.name}")
                    self._warn(bad(self._path, line.number, str(error), "a line of mountstats"))
        yield from self._ended(self._before)
        yield from self._dated()
        for note in self._clock.notes():
            self._gather.note(note.flag, note.what, note.n)

    def _device(
        self, match: re.Match[str], line: Line
    ) -> Iterator[tuple[int, list[MountCounters]]]:
        self._ops = False
        self._mount = None
        if not match[3].startswith("nfs") or not match[4]:
            return
        key = (match[1], match[2])
        if key in self._seen:
            yield from self._ended(self._before)
        if len(self._mounts) >= MOST_MOUNTS:
            what = f"more than {MOST_MOUNTS} mounts"
            self._warn(bad(self._path, line.number, what, "fewer"))
            return
        self._seen.add(key)
        self._mount = MountCounters(match[1], match[2], line.number)
        self._mounts.append(self._mount)

    def _ended(self, stamp: int | None) -> Iterator[tuple[int, list[MountCounters]]]:
        """Finish a snapshot: yield it with its stamp, or keep it until the end of the file dates it."""
        mounts, self._mounts, self._mount = self._mounts, [], None
        self._seen.clear()
        if not mounts:
            return
        if stamp is not None:
            yield stamp, mounts
        elif len(self._unstamped) < 1000:
            self._unstamped.append(mounts)

    def _dated(self) -> Iterator[tuple[int, list[MountCounters]]]:
        """Date snapshots without stamps: the last by the file's modification time, others by their mounts' ages."""
        if not self._unstamped:
            return
        changed, notes = recorded(self._path, self._settings)
        for note in notes:
            self._gather.note(note.flag, note.what)
        last = {(m.export, m.point): m.age_s for m in self._unstamped[-1]}
        for mounts in self._unstamped:
            gaps = [
                end - m.age_s
                for m in mounts
                if m.age_s is not None and (end := last.get((m.export, m.point))) is not None
            ]
            if mounts is not self._unstamped[-1] and (not gaps or min(gaps) <= 0):
                what = "a snapshot without a time"
                self._warn(bad(self._path, mounts[0].number, what, "a line with its time"))
                continue
            yield changed - min(gaps, default=0) * 10**9, mounts

    def _counters(self, mount: MountCounters, text: str, ended: bool) -> None:
        if not ended:
            raise ValueError("the line is cut")
        name, _, rest = text.partition(":")
        if name == "age":
            mount.age_s = count(rest)
        elif name == "bytes":
            numbers = _numbers(rest, 6, name)
            mount.add("read_bytes", numbers[4])
            mount.add("written_bytes", numbers[5])
        elif text == "per-op statistics":
            self._ops = True
        elif self._ops and (match := _OP.fullmatch(text)):
            _operation(mount, match[1], _numbers(match[2], 8, match[1]))
            mount.operations += 1


def _numbers(text: str, least: int, name: str) -> list[int]:
    found = [count(word) for word in text.split()[:40]]
    numbers = [number for number in found if number is not None]
    if len(numbers) != len(found) or len(numbers) < least:
        raise ValueError(f"{name} is {shown(text.strip())}")
    return numbers


def _operation(mount: MountCounters, name: str, numbers: list[int]) -> None:
    ops, sent, timeouts, _, _, queue, trip, run = numbers[:8]
    mount.add(OPERATIONS.get(name, "other_ops"), ops)
    mount.add("retransmissions", max(0, sent - ops))
    mount.add("timeouts", timeouts)
    kinds = [""] + ([f"{name.lower()}_"] if name in ("READ", "WRITE") else [])
    for prefix in kinds:
        mount.add(f"{prefix}queue_wait_s", queue / 1000)
        mount.add(f"{prefix}round_trip_s", trip / 1000)
        mount.add(f"{prefix}execution_s", run / 1000)
    if len(numbers) > 8:
        mount.add("failed_ops", numbers[8])
