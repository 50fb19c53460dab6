"""``lctl get_param`` on servers and clients: counters and capacity of OSTs, MDTs and mounts; one text, or a log of
many.

::

    obdfilter.work-OST0000.stats=
    snapshot_time             1790000000.611962111 secs.nsecs
    read_bytes                57406 samples [bytes] 4096 4194304 149625492105 47236230193563213
    obdfilter.work-OST0000.kbytestotal=3978095168

Read are ``stats``, ``md_stats``, ``job_stats``, room and clients of what serves or mounts a file system (see
``snapshots``); every other parameter is passed over. A snapshot ends where ``BEGIN <epoch>`` (or another line that
is a time, see ``stamps``) stands, or where a parameter is there again. Lines of several servers as ``pdsh`` gives
them (``oss1: ...``) are told apart. A text without names (``get_param -n``) cannot be read: nothing says whose counters
they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from iosonde.connectors.lines import Line, bad, read_lines
from iosonde.connectors.lustre.snapshots import FILES, KINDS, Passed, Snapshot
from iosonde.connectors.many_files import named, of_one, read_each
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError

KIND = "lctl get_param"
_HOST = r"(?:(?P<host>[\w.-]{1,100}): ?)?"
_ANY = re.compile(rf"{_HOST}[a-z][\w-]{{0,40}}(?:\.[^=\s]{{1,400}})?=(?P<rest>.*)")
_OURS = re.compile(
    rf"{_HOST}(?P<kind>{KINDS})\.(?P<name>[^.=\s]{{1,200}})\.(?P<file>{'|'.join(FILES)})=(?P<rest>.*)"
)
_LOOK = 3000
_MOST_LINES = 2_000_000
"""Most lines of one parameter; the rest, as of job_stats of a million jobs, is reported."""
_MOST_HOSTS = 20_000


def recognises(head: Head) -> bool:
    """True with a known parameter among the first lines, not only of jobs; only a time may precede it."""
    lines = [line for line in head.lines[:_LOOK] if line.strip()]
    clock = WallTimes(None)
    first = next((line for line in islice(lines, 3) if stamp_of(line, clock) is None), "")
    return _ANY.fullmatch(first) is not None and any(
        (found := _OURS.fullmatch(line)) and found["file"] != "job_stats" for line in lines
    )


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks of targets and clients, and Jobs. Raises InputFileError: unreadable or broken packed data."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks and Jobs of several files: snapshots of one server, or servers of one file system."""
    passed = Passed(settings.system)
    within = of_one(paths, settings.progress)

    def rest() -> Iterator[Item]:
        yield from passed.rest()
        if passed.alone:
            what = f"{named(paths)} is one snapshot: its counters give no rate; iosonde read the gauges"
            warn(InputFileError(what, expected="two snapshots, for what passed between them"))

    yield from read_each(
        paths,
        lambda path: _Text(path, settings, warn, within).read(passed),
        rest,
        warn,
        settings.progress,
    )


class _Part:
    """Parameter whose value is being read."""

    def __init__(self, found: re.Match[str], number: int) -> None:
        self.kind, self.name, self.file = found["kind"], found["name"], found["file"]
        self.first = number if found["rest"] else number + 1
        """Of its lines, the number in the file."""
        self.lines: list[str] = [found["rest"]] if found["rest"] else []


class _Host:
    """Parse state of one server's text: pdsh mixes their lines."""

    def __init__(self) -> None:
        self.part: _Part | None = None
        self.seen: set[tuple[str, str, str]] = set()
        self.snapshot: Snapshot | None = None
        self.begin_ns: int | None = None


class _Text:
    def __init__(
        self,
        path: Path,
        settings: Settings,
        warn: Warn,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._path, self._settings, self._warn = path, settings, warn
        self._progress = progress
        self._hosts: dict[str, _Host] = {}
        self._begin_ns: int | None = None
        self._clock = WallTimes(settings.zone, ascending=True)

    def read(self, passed: Passed) -> Iterator[Item]:
        """Yield finished items; the rest follows at the end of all files."""
        broken: InputFileError | None = None
        try:
            for line in read_lines(self._path, self._warn, self._progress):
                yield from self._take(line, passed)
        except InputFileError as error:
            broken = error
        yield from self._ended(passed)
        passed.notes = (*passed.notes, *self._clock.notes())
        if broken is not None:
            raise broken

    def _take(self, line: Line, passed: Passed) -> Iterator[Item]:
        stamp = stamp_of(line.text, self._clock)
        if stamp is not None:
            yield from self._ended(passed)
            self._begin_ns = stamp
            return
        begins = _ANY.fullmatch(line.text)
        host = self._host(line.text, begins)
        if begins is None:
            if host.part is not None and len(host.part.lines) < _MOST_LINES:
                host.part.lines.append(self._bare(line.text))
            return
        self._close(host)
        found = _OURS.fullmatch(line.text)
        if found is None:
            return
        key = (found["kind"], found["name"], found["file"])
        if key in host.seen:
            yield from self._give(host, passed)
        host.seen.add(key)
        host.part = _Part(found, line.number)

    def _host(self, text: str, begins: re.Match[str] | None) -> _Host:
        """Host of a line: a name before a colon counts if parameters came with it."""
        name = (begins["host"] or "") if begins else text.partition(":")[0]
        if begins is None and name not in self._hosts:
            name = ""
        if len(self._hosts) >= _MOST_HOSTS and name not in self._hosts:
            raise InputFileError(f"{self._path}: more than {_MOST_HOSTS} servers")
        return self._hosts.setdefault(name, _Host())

    def _bare(self, text: str) -> str:
        """The line without the server's name before it."""
        name, colon, rest = text.partition(":")
        return rest.removeprefix(" ") if colon and name in self._hosts else text

    def _close(self, host: _Host) -> None:
        """Finish the value of a parameter."""
        part, host.part = host.part, None
        if part is None:
            return
        if host.snapshot is None:
            host.snapshot = Snapshot(self._settings.system)
            host.begin_ns = self._begin_ns

        def complain(number: int, what: str) -> None:
            self._warn(bad(self._path, part.first + number - 1, what, f"a line of {part.file}"))

        host.snapshot.take(part.kind, part.name, part.file, part.lines, complain)

    def _give(self, host: _Host, passed: Passed) -> Iterator[Item]:
        """Finish a snapshot of one server."""
        self._close(host)
        snapshot, host.snapshot, host.seen = host.snapshot, None, set()
        if snapshot is None:
            return
        if host.begin_ns is not None:
            yield from passed.give(snapshot, host.begin_ns, True)
            return
        snapshot.written_ns = self._path.stat().st_mtime_ns
        yield from passed.give(snapshot, *snapshot.time_ns())

    def _ended(self, passed: Passed) -> Iterator[Item]:
        for host in self._hosts.values():
            yield from self._give(host, passed)
