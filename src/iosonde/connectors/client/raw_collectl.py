"""collectl's raw recording (``HOST-YYYYMMDD-HHMMSS.raw.gz``): copies of /proc, exact where ``-P`` rounds.

Between lines ``>>> epoch.ms <<<`` stand lines of /proc; those of NFS begin with ``nfsc-`` (client) and ``nfss-``
(server). Two records make amounts. The header names the host. Other lines of /proc are left out. Source: collectl
4.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from iosonde.connectors.client.rpc_counters import operations
from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lines import bad, read_lines
from iosonde.connectors.many_files import of_one, read_each
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.model.errors import InputFileError
from iosonde.model.units import LATEST_S

KIND = "collectl raw"
_RECORD = re.compile(r">>> (\d{9,11})(?:\.(\d{1,9}))? <<<")
_HOST = re.compile(r"# Host:\s+(\S+)")
_LEVELS = {"nfsc-": "client", "nfss-": "server"}


def recognises(head: Head) -> bool:
    """True if a record starts among the first lines."""
    return any(_RECORD.fullmatch(line) for line in islice(head.lines, 200))


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """NFS operations of the host. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """NFS operations from several files: a host's days, or many hosts."""
    gather = Gather("collectl-raw")

    def one(path: Path) -> Iterator[Item]:
        recording = _Recording(settings.node or path.name.split(".")[0], settings, gather)
        for line in read_lines(path, warn, of_one(paths, settings.progress)):
            try:
                recording.take(line.text, line.ended)
            except ValueError as error:
                warn(bad(path, line.number, str(error), "a line of collectl's recording"))
            if gather.full:
                yield from gather.blocks()
        recording.ended()

    def rest() -> Iterator[Item]:
        if gather.alone:
            what = f"{paths[0]}: {gather.alone} counters were recorded once: no rate follows"
            warn(InputFileError(what, expected="two records or more"))
        yield from gather.rest()

    yield from read_each(paths, one, rest, warn, settings.progress)


class _Recording:
    """Records of one file, each emitted at its end: versions of NFS are added up."""

    def __init__(self, host: str, settings: Settings, gather: Gather) -> None:
        self._host, self._system, self._gather = host, settings.system, gather
        self._at: int | None = None
        self._sums: dict[tuple[str, str], int] = {}
        self._broken: set[str] = set()

    def take(self, text: str, whole: bool) -> None:
        """Parse one line. Raises ValueError for malformed counters; their side is missing in this record."""
        if match := _RECORD.fullmatch(text.rstrip()):
            self.ended()
            seconds, fraction = int(match[1]), (match[2] or "").ljust(9, "0")
            self._at = seconds * 10**9 + int(fraction) if seconds <= LATEST_S else None
            return
        if text.startswith("#"):
            if match := _HOST.match(text):
                self._host = match[1][:255]
            return
        level = _LEVELS.get(text[:5])
        if level is None or self._at is None:
            return
        try:
            found = operations(text[5:])
            if found is not None and not whole:
                raise ValueError("the line is cut")
        except ValueError:
            self._broken.add(level)
            raise
        for metric, value in found[1].items() if found is not None else ():
            self._sums[level, metric] = self._sums.get((level, metric), 0) + value

    def ended(self) -> None:
        """Finish a record."""
        sums, self._sums = self._sums, {}
        broken, self._broken = self._broken, set()
        for (level, metric), value in sums.items():
            if level not in broken and self._at is not None:
                series = ComponentSeries(self._system, level, metric, self._host)
                self._gather.counter(series, self._at, value)
