"""``/proc/net/rpc/nfs``: NFS operations of a node over all its mounts; a log of snapshots, or one file each.

A line with seconds since the epoch or an ISO time stands before each text; without one a text is as old as its file.
Two snapshots make amounts; a counter that fell began anew. The node is the one that was said, or the file's name says
it (``n001.rpcnfs``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from iosonde.connectors.client.node_name import node_of
from iosonde.connectors.client.rpc_counters import operations
from iosonde.connectors.file_times import recorded
from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lines import bad, read_lines
from iosonde.connectors.many_files import of_one, read_each
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.stamps import stamp_of
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError

KIND = "rpc of NFS clients"
_BEGINS = ("net ", "rpc ", "proc2 ", "proc3 ", "proc4 ")


def recognises(head: Head) -> bool:
    """True if the first lines are a client's; a server's file also has ``rc``, ``fh``, ``io`` and ``th``."""
    clock = WallTimes(None)
    texts = [line.strip() for line in head.lines[:12] if line.strip()]
    ours = [text for text in texts if stamp_of(text, clock) is None]
    return (
        bool(ours)
        and all(text.startswith(_BEGINS) for text in ours[:3])
        and any(text.startswith(("proc3 ", "proc4 ")) for text in ours)
        and not any(text.startswith(("rc ", "fh ", "io ", "th ")) for text in ours)
    )


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Increments between snapshots. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Increments from several files: a node's snapshots, or many nodes."""
    gather = Gather("rpc")

    def one(path: Path) -> Iterator[Item]:
        page = _Page(path, settings, gather)
        for line in read_lines(path, warn, of_one(paths, settings.progress)):
            try:
                page.take(line.text.strip(), line.ended)
            except ValueError as error:
                warn(bad(path, line.number, str(error), "a line of /proc/net/rpc/nfs"))
            if gather.full:
                yield from gather.blocks()
        page.ended()

    def rest() -> Iterator[Item]:
        if gather.alone:
            what = f"{paths[0]}: {gather.alone} counters were read once: no rate follows"
            warn(
                InputFileError(what, expected="two snapshots of a node", hint="all of them at once")
            )
        yield from gather.rest()

    yield from read_each(paths, one, rest, warn, settings.progress)


class _Page:
    """Snapshots of one file: a node's counters, emitted when the next snapshot starts."""

    def __init__(self, path: Path, settings: Settings, gather: Gather) -> None:
        self._path, self._settings, self._gather = path, settings, gather
        self._node = node_of(path, settings)
        self._clock = WallTimes(settings.zone, ascending=True)
        self._at: int | None = None
        self._seen: dict[str, dict[str, int]] = {}
        self._broken = False

    def take(self, text: str, whole: bool) -> None:
        """Parse one line. Raises ValueError for a cut line or one without counts; its snapshot is dropped."""
        stamp = stamp_of(text, self._clock)
        if stamp is not None:
            self._give()
            self._at = stamp
            return
        if text.startswith("net ") and self._seen:
            self._give()
        try:
            found = operations(text)
            if found is not None and not whole:
                raise ValueError("the line is cut")
        except ValueError:
            self._broken = True
            raise
        if found is not None:
            self._seen[found[0]] = found[1]

    def ended(self) -> None:
        self._give()
        for note in self._clock.notes():
            self._gather.note(note.flag, note.what, note.n)

    def _give(self) -> None:
        seen, self._seen = self._seen, {}
        broken, self._broken = self._broken, False
        if not seen or broken:
            return
        if self._at is None:
            self._at, notes = recorded(self._path, self._settings)
            for note in notes:
                self._gather.note(note.flag, note.what)
        sums: dict[str, int] = {}
        for counters in seen.values():
            for metric, value in counters.items():
                sums[metric] = sums.get(metric, 0) + value
        for metric, value in sums.items():
            series = ComponentSeries(self._settings.system, "client", metric, self._node)
            self._gather.counter(series, self._at, value)
