"""Snapshots of Lustre's counters, from any text format, to increments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lustre.job_counts import JobCounts
from iosonde.connectors.lustre.names import level_of, number, system_of, target
from iosonde.connectors.lustre.stats import JobStats, Stats, job_stats, stats
from iosonde.connectors.source import Item
from iosonde.model.quality import Note

SOURCE = "lustre"
SIZES = ("kbytestotal", "kbytesfree", "kbytesavail", "filestotal", "filesfree", "num_exports")
FILES = ("stats", "md_stats", "job_stats", *SIZES)
"""Files read of a target or client."""
KINDS = r"obdfilter|osd-\w{1,20}|mds|mdt|llite"
"""Kinds of targets and clients (a pattern)."""
Complain = Callable[[int, str], None]
"""Callback with the number of a line within the part, and the reason why it is malformed."""
_NEAR_NS = 5 * 10**9


class _Counted(NamedTuple):
    """Counters of one target or client in one snapshot."""

    series: ComponentSeries
    """Component; the metric is not used."""
    stats: Stats


class Snapshot:
    """Counters of targets and clients at one time. ``system``: of clients that name no file system."""

    def __init__(self, system: str) -> None:
        self.system = system
        self.written_ns = 0
        self.counted: dict[tuple[str, str, str], _Counted] = {}
        self.sizes: dict[str, dict[str, float]] = {}
        self.jobs: list[JobStats] = []
        self.listed: set[str] = set()
        """Targets whose job_stats were read."""

    def take(
        self, kind: str, place: str, file: str, lines: Sequence[str], complain: Complain
    ) -> None:
        """Parse one file (``stats``) of one target or client (``work-OST0000``) of a kind (``obdfilter``)."""
        name = target(place)
        if kind == "llite":
            if file == "stats":
                of = place.rpartition("-")[0] or self.system
                counted = _Counted(
                    ComponentSeries(of, "client", "", place[:128]), stats(lines, complain)
                )
                self.counted.setdefault((kind, place, file), counted)
        elif name is None:
            return
        elif file in SIZES:
            value = number(" ".join(lines).strip())
            if value is None:
                complain(1, "no number")
            else:
                self.sizes.setdefault(name, {}).setdefault(file, value)
        elif file == "job_stats":
            self.jobs.extend(job_stats(lines, name, complain))
            self.listed.add(name)
        elif kind in ("obdfilter", "mds", "mdt"):
            series = ComponentSeries(system_of(name) or self.system, level_of(name), "", name)
            counted = _Counted(series, stats(lines, complain))
            self.counted.setdefault((kind, name, file), counted)

    def time_ns(self) -> tuple[int, bool]:
        """Time of the snapshot, and True if its counters state it: the earliest time of its counters.

        Entries of jobs say when they last changed: of them the youngest.
        """
        known = [c.stats.time_ns for c in self.counted.values() if c.stats.time_ns is not None]
        if known:
            return min(known), True
        changed = [job.time_ns for job in self.jobs if job.time_ns is not None]
        return (max(changed), True) if changed else (self.written_ns, False)


class Passed:
    """Turns a sequence of snapshots into increments of counters, and gauges as they are."""

    def __init__(self, system: str) -> None:
        self._system = system
        self._gather, self._jobs = Gather(SOURCE), JobCounts(system)
        self._guessed = False
        self.notes: tuple[Note, ...] = ()
        """What else is to be said of all."""
        self._times: dict[tuple[str, str], int] = {}
        self._again = False

    @property
    def alone(self) -> bool:
        """True if there are counters, and none was read at two times."""
        return bool(self._times) and not self._again

    def give(self, snapshot: Snapshot, time_ns: int, stated: bool) -> Iterator[Item]:
        """Take a snapshot. ``stated``: its time is not a guess."""
        self._guessed |= not stated
        for (kind, _, file), counted in snapshot.counted.items():
            if again := len(counted.stats.twice):
                self._gather.note("duplicate", "counters that a file has twice", again)
            own = counted.stats.time_ns
            when = own if own is not None and abs(own - time_ns) > _NEAR_NS else time_ns
            if counted.stats.counters:
                self._again |= (
                    self._times.setdefault((kind + file, counted.series.component), when) != when
                )
            for metric, value in counted.stats.counters.items():
                self._gather.reading(counted.series._replace(metric=metric), when, value)
        for name, sizes in snapshot.sizes.items():
            self._capacity(name, sizes, time_ns)
        if snapshot.listed:
            self._jobs.add(snapshot.jobs, time_ns, snapshot.listed)
            for name in snapshot.listed:
                self._again |= self._times.setdefault(("jobs", name), time_ns) != time_ns
        if self._gather.full:
            yield from self._gather.blocks(self._said())

    def rest(self) -> Iterator[Item]:
        """Yield everything left at the end."""
        yield from self._gather.rest(self._said())
        yield from self._jobs.items()

    def _said(self) -> tuple[Note, ...]:
        guessed = Note("estimated", "times are when the files were written")
        return (*dict.fromkeys(self.notes), *([guessed] if self._guessed else ()))

    def _capacity(self, name: str, sizes: dict[str, float], time_ns: int) -> None:
        """Add capacity and clients of a target."""
        series = ComponentSeries(system_of(name) or self._system, level_of(name), "", name)
        found = {"clients": sizes.get("num_exports")}
        for total, free, what, factor in (
            ("kbytestotal", "kbytesfree", "bytes", 1024.0),
            ("filestotal", "filesfree", "inodes", 1.0),
        ):
            if total in sizes and free in sizes and sizes[free] <= sizes[total]:
                found[f"total_{what}"] = sizes[total] * factor
                found[f"used_{what}"] = (sizes[total] - sizes[free]) * factor
        if "kbytesavail" in sizes:
            found["available_bytes"] = sizes["kbytesavail"] * 1024.0
        for metric, value in found.items():
            if value is not None:
                self._gather.reading(series._replace(metric=metric), time_ns, value)
