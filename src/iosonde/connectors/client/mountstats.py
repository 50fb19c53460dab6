"""``/proc/self/mountstats``: counters of each NFS mount since it was mounted; a log of snapshots, or one file each.

Per operation ``ops trans timeouts bytes_sent bytes_recv queue_ms rtt_ms exe_ms [errors]``; ``bytes`` are those of
read and write calls, of direct ones, of the server (counted here), and pages. Two snapshots make deltas. The file says
no time: a line with seconds since the epoch or an ISO time between snapshots does (before the first, or behind each);
else the file's modification, and within a file the mounts' ages tell snapshots apart. An age that fell: mounted anew.
Source: Linux, net/sunrpc/stats.c and fs/nfs/super.c, statvers 1.0 and 1.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.client.mountstats_log import DEVICE, MOST_MOUNTS, MountCounters, Snapshots
from iosonde.connectors.client.node_name import node_of
from iosonde.connectors.file_times import recorded
from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lines import bad, shown
from iosonde.connectors.many_files import read_each
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError

KIND = "mountstats"


def recognises(head: Head) -> bool:
    """True with a device line that has an NFS mount's counters, or only device lines at first."""
    lines = head.lines[:-1] if len(head.data) >= 65_000 else head.lines
    devices = [match for line in lines if (match := DEVICE.fullmatch(line.strip()))]
    nfs = any(match[3].startswith("nfs") and match[4] for match in devices)
    return nfs and (len(head.data) >= 65_000 or "per-op statistics" in head.text)


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Increments between snapshots, per mount. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Increments from several files. Component: the mount, ``NODE:/work`` if a node is named; system: the export."""
    gather = Gather("mountstats")
    known: dict[tuple[str, str], _Known] = {}

    def one(path: Path) -> Iterator[Item]:
        snapshots = Snapshots(path, settings, warn, gather)
        node = node_of(path, settings)
        for time_ns, mounts in snapshots.read():
            for mount in mounts:
                if not _give(mount, _component(node, mount.point), (time_ns, gather, known)):
                    what = f"the counters of {shown(mount.point)} are not complete: left out"
                    warn(bad(path, mount.number, what, "every line of its operations"))
            if gather.full:
                yield from gather.blocks()

    def rest() -> Iterator[Item]:
        if gather.alone:
            what = f"{paths[0]}: {gather.alone} counters were read once: no rate follows"
            warn(
                InputFileError(
                    what, expected="two snapshots of a mount", hint="all snapshots at once"
                )
            )
        yield from gather.rest()

    ordered = sorted(paths, key=lambda path: _first_ns(path, settings))
    yield from read_each(ordered, one, rest, warn, settings.progress)


class _Known(NamedTuple):
    """A mount in the previous snapshot."""

    time_ns: int
    age_s: int | None
    operations: int


def _component(node: str, point: str) -> str:
    return f"{node}:{point}" if node else point


def _give(
    mount: MountCounters,
    component: str,
    into: tuple[int, Gather, dict[tuple[str, str], _Known]],
) -> bool:
    """Emit a snapshot's counters; False: incomplete, nothing was emitted."""
    time_ns, gather, known = into
    key = (mount.export, component)
    before = known.get(key)
    if mount.broken or (before is not None and mount.operations < before.operations):
        return False
    anew = (
        before is not None
        and mount.age_s is not None
        and before.age_s is not None
        and time_ns > before.time_ns
        and mount.age_s < before.age_s
    )
    if len(known) < MOST_MOUNTS:
        known[key] = _Known(time_ns, mount.age_s, mount.operations)
    for metric, value in mount.sums.items():
        series = ComponentSeries(mount.export, "client", metric, component)
        gather.counter(series, time_ns, value, restarted=anew)
    return True


def _first_ns(path: Path, settings: Settings) -> int:
    """Time of a file's first snapshot, as far as known without reading the whole file."""
    try:
        with path.open("rb") as file:
            text = file.read(1 << 16).decode("utf-8", "replace")
    except OSError:
        return 0
    for line in text.splitlines():
        stamp = stamp_of(line.strip(), WallTimes(settings.zone))
        if stamp is not None:
            return stamp
    try:
        return recorded(path, settings)[0]
    except InputFileError:
        return 0
