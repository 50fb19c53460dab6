"""``nfsiostat INTERVAL``: rates of each NFS mount between reports, in a log with print times.

The tool prints no time. A line with seconds since the epoch or an ISO time stands before a report, or before each of
its mounts. The first report of a mount is an average since it was mounted: left out. Amounts are rates of three
decimals times the time between reports ("estimated"). Source: nfs-utils, tools/nfs-iostat/nfs-iostat.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from iosonde.connectors.client.mountstats_log import MOST_MOUNTS, OPERATIONS
from iosonde.connectors.client.node_name import node_of
from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lines import Line, bad, read_lines, shown
from iosonde.connectors.many_files import of_one, read_each
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes

KIND = "nfsiostat"
_MOUNT = re.compile(r"(\S+:\S*) mounted on (/.*):")
_OP = re.compile(r"([a-z][a-z0-9_]{1,40}):\s+ops/s\s+kB/s\s+kB/op\s.*")
_TOTAL = re.compile(r"ops/s\s+rpc bklog")
_RETRANS = re.compile(r"(\d{1,15}) \(\s*\S+%\)")
_BYTES = {"read": "read_bytes", "write": "written_bytes"}
_LONGEST_NS = 86_400 * 10**9
"""Longest gap between two reports; after a longer one the next report starts anew."""


def recognises(head: Head) -> bool:
    """True if a mount's heading and that of its backlog are among the first lines."""
    texts = [line.strip() for line in head.lines[:40]]
    return any(_MOUNT.fullmatch(text) for text in texts) and any(map(_TOTAL.fullmatch, texts))


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Amounts between reports, per mount. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Amounts from several files. Component: the mount, ``NODE:/work`` if a node is named; system: the export."""
    gather = Gather("nfsiostat")
    gather.note("estimated", "amounts of rates that were rounded to a thousandth")

    def one(path: Path) -> Iterator[Item]:
        log = _Log(path, settings, warn, gather)
        for line in read_lines(path, warn, of_one(paths, settings.progress)):
            log.take(line)
            if gather.full:
                yield from gather.blocks()
        log.end()

    yield from read_each(paths, one, gather.rest, warn, settings.progress)


@dataclass
class _Report:
    """A mount's part of a report: rates per second by operation, as far as read."""

    export: str
    component: str
    number: int
    total: float | None = None
    rates: dict[str, list[float]] = field(default_factory=dict)
    """ops/s, kB/s, kB/op, retransmissions, RTT, execution and queue in ms."""
    broken: bool = False


class _Log:
    def __init__(self, path: Path, settings: Settings, warn: Warn, gather: Gather) -> None:
        self._path, self._warn, self._gather = path, warn, gather
        self._node = node_of(path, settings)
        self._clock = WallTimes(settings.zone, ascending=True)
        self._now: int | None = None
        self._reports = 0
        self._before: dict[tuple[str, str], int] = {}
        self._report: _Report | None = None
        self._expected = ""

    def take(self, line: Line) -> None:
        """Parse one line; a malformed one drops its mount's part of the report."""
        text = line.text.strip()
        stamp = stamp_of(text, self._clock)
        if stamp is not None:
            self._give()
            self._now = stamp
        elif match := _MOUNT.fullmatch(text):
            self._give()
            point = f"{self._node}:{match[2]}" if self._node else match[2]
            self._report, self._expected = _Report(match[1], point, line.number), ""
            self._reports += 1
        elif _TOTAL.fullmatch(text):
            self._expected = "total"
        elif match := _OP.fullmatch(text):
            self._expected = match[1]
        elif self._expected and text and self._report is not None:
            name, self._expected = self._expected, ""
            try:
                self._numbers(self._report, name, text, line.ended)
            except ValueError as error:
                self._report.broken = True
                self._warn(
                    bad(self._path, line.number, str(error), "a line of nfsiostat's numbers")
                )

    def end(self) -> None:
        """Emit the last report at the end of the file."""
        self._give()
        for note in self._clock.notes():
            self._gather.note(note.flag, note.what, note.n)
        if self._reports and self._now is None:
            what = "its reports have no times: skipped"
            self._warn(bad(self._path, 1, what, "the output of `date +%s` before each report"))

    def _numbers(self, report: _Report, name: str, text: str, ended: bool) -> None:
        if not ended:
            raise ValueError("the line is cut")
        words = _RETRANS.sub(r"\1", text).split()[:20]
        numbers = [_rate(word) for word in words]
        if name == "total":
            report.total = numbers[0]
        elif len(numbers) < 6:
            raise ValueError(f"{name} has {len(numbers)} numbers")
        else:
            report.rates[name] = numbers

    def _give(self) -> None:
        """Emit amounts of the finished report, since the previous one of the same mount."""
        report, self._report, self._expected = self._report, None, ""
        if report is None or self._now is None:
            return
        key = (report.export, report.component)
        before, now = self._before.get(key), self._now
        if before is None and len(self._before) >= MOST_MOUNTS:
            return
        self._before[key] = now
        if before is None or report.broken or not 0 < now - before <= _LONGEST_NS:
            what = "a first report of a mount: an average since it was mounted"
            self._gather.note("left-out", what if before is None else "a report between gaps")
            return
        step_ns = now - before
        for metric, value in _amounts(report, step_ns / 1e9).items():
            series = ComponentSeries(report.export, "client", metric, report.component)
            self._gather.amount(series, before, step_ns, value)


def _rate(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not (0 <= value < 1e15) or not word.isascii():
        raise ValueError(f"{shown(word)} is no rate")
    return value


def _amounts(report: _Report, seconds: float) -> dict[str, float]:
    """Amounts of an interval. Operations in the total without a line of their own are ``other_ops``."""
    found: dict[str, float] = {}

    def add(metric: str, value: float) -> None:
        found[metric] = found.get(metric, 0.0) + value

    for name, (rate, kilobytes, _, retransmitted, trip, run, *rest) in report.rates.items():
        ops = rate * seconds
        add(OPERATIONS.get(name.upper(), "other_ops"), ops)
        add("retransmissions", retransmitted)
        if name in _BYTES:
            add(_BYTES[name], kilobytes * 1024 * seconds)
            add(f"{name}_round_trip_s", trip * ops / 1000)
            add(f"{name}_execution_s", run * ops / 1000)
            if rest:
                add(f"{name}_queue_wait_s", rest[0] * ops / 1000)
    if report.total is not None:
        known = sum(rates[0] for rates in report.rates.values())
        add("other_ops", max(0.0, report.total - known) * seconds)
    return found
