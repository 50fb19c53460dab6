"""LMT's wire strings, as lmtmetric prints them and cerebro carries them: one line is one reading of a server.

``ost: 2;server;CPU %;memory %;{OST;files free;total;KiB free;total;bytes read;written[;I/Os;exports;locks;
grant rate;cancel rate;connects;reconnects;recovery]}*`` (8 or 15 fields an OST), ``ost: 1`` (one OST),
``oss: 1`` (CPU and memory), ``mdt: 1|2|3;server;CPU;memory;{MDT;files free;total;KiB free;total[;recovery];
{samples;sum;sum of squares} of each operation}*`` (21 operations; 23 and recovery from 3 on), ``mds: 2``
(one MDT, 81 operations). ``osc`` and ``router`` strings are known and say nothing that is kept.

A line may begin with its time, in seconds since the epoch. Where none does, all is of one instant:
``Settings.day``, else when the file was last written. Then there are gauges only.
Edges: a step is what passed between two readings of the same target, whose left edge is the earlier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lines import bad, read_lines, shown
from iosonde.connectors.lustre.health_log import single
from iosonde.connectors.lustre.names import OPERATIONS, number, system_of, target
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.model.errors import InputFileError
from iosonde.model.metrics import Edge

KIND = "LMT strings"
SOURCE = "lmt"
_LINE = re.compile(
    r"(?:(?P<time>\d{9,10}(?:\.\d{1,9})?)[\s,;:]+)?(?:lmt_)?(?P<kind>ost|oss|mdt|mds|osc|router):?\s+"
    r"(?P<version>[1-3])(?:\.\d{1,2})?;(?P<rest>[^;\s][^;]{0,127};.*)"
)
_MDT_OPS = (
    *("open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getxattr"),
    *("process_config", "connect", "reconnect", "disconnect", "statfs", "create", "destroy"),
    *("setattr", "getattr", "llog_init", "notify", "quotactl", "read_bytes", "write_bytes"),
)
_MDS_OPS = {
    **dict(enumerate(("open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename"))),
    **{8: "getxattr", 9: "setxattr", 25: "statfs", 32: "create", 34: "setattr", 36: "getattr"},
    **{50: "punch", 51: "sync"},
}
_EXPECTED = "one of LMT's strings, such as ost: 2;server;1.5;60.2;work-OST0000;..."


class _BadError(Exception):
    """Reason why a string is malformed."""


def recognises(head: Head) -> bool:
    """True for text whose first non-blank lines are LMT's strings."""
    lines = [line for line in head.lines[:50] if line.strip()]
    if not lines or "\x00" in head.text[:4096]:
        return False
    good = [line for line in lines[:-1] or lines if _LINE.match(line.strip())]
    return len(good) * 2 > len(lines[:-1] or lines)


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Blocks of servers and targets; the server of each OST on every change.

    A string that is none is told of, with its line. Raises InputFileError: unreadable or broken gzip.
    """
    instant, notes = single(path, settings)
    timed, untimed = Gather(SOURCE), Gather(SOURCE)
    for note in notes:
        untimed.note(note.flag, note.what, note.n)
    instants: set[int] = set()
    homes: dict[str, str] = {}
    try:
        for line in read_lines(path, warn):
            text = line.text.strip()
            if not text or text.startswith(("#", "sysstat:")):
                continue
            found = _LINE.fullmatch(text)
            if found is None:
                warn(bad(path, line.number, f"no string of LMT: {shown(text)}", _EXPECTED))
                continue
            stated = found["time"]
            when = instant if stated is None else _epoch_ns(stated)
            gather = untimed if stated is None else timed
            parser = _String(gather, when, settings.system)
            try:
                parser.read(found["kind"], int(found["version"]), found["rest"].split(";"))
            except _BadError as error:
                warn(bad(path, line.number, f"{error} in {shown(text)}", _EXPECTED))
            for name, server in parser.homes.items():
                if homes.get(name) != server:
                    homes[name] = server
                    yield Edge(SOURCE, system_of(name), when, "ost", name, server)
            if parser.said and len(instants) < 2:
                instants.add(when)
            if gather.full:
                yield from gather.blocks()
    except InputFileError as error:
        yield from _rest(timed, untimed)
        raise error
    yield from _rest(timed, untimed)
    if len(instants) == 1:
        what = f"{path} holds one instant only: counters give no rate"
        warn(InputFileError(what, expected="strings of two instants, each line with its time"))


def _rest(*held: Gather) -> Iterator[Item]:
    for gather in held:
        yield from gather.rest()


def _epoch_ns(text: str) -> int:
    """Seconds with a fraction to ns, exactly."""
    whole, _, fraction = text.partition(".")
    return int(whole) * 10**9 + int(fraction.ljust(9, "0") or 0)


class _String:
    """Parser of one string."""

    def __init__(self, gather: Gather, when: int, system: str) -> None:
        self.gather, self.when, self.system = gather, when, system
        self.homes: dict[str, str] = {}
        self.said = False
        """Whether there was a number in it."""

    def read(self, kind: str, version: int, fields: list[str]) -> None:
        """Parse all fields; raises _BadError at the first malformed one. The fields before it count."""
        if fields[-1] == "":
            fields = fields[:-1]
        if kind in ("ost", "mdt") and not (kind == "ost" and version == 1):
            rest = self._server("oss" if kind == "ost" else "mds", fields)
            strides = {"ost": (15, 8)}.get(kind, ({1: 68, 2: 69}.get(version, 75),))
            for part in _parts(rest, strides):
                (self._ost if kind == "ost" else self._mdt)(part, fields[0])
        elif kind == "ost":
            self._ost(fields[1:], fields[0])
        elif kind == "oss":
            self._server("oss", fields)
        elif kind == "mds" and len(fields) > 8:
            self._server("mds", [fields[0], *fields[2:4], *fields[1:2]])
            name = self._capacity(fields[1], fields[4:8])
            for place, op in _MDS_OPS.items():
                self._operation(name, op, fields[8 + 3 * place : 9 + 3 * place])
        elif kind == "mds":
            raise _BadError("too few fields")

    def _server(self, level: str, fields: list[str]) -> list[str]:
        """CPU and memory of the server; returns the remaining fields."""
        if len(fields) < 3:
            raise _BadError("too few fields")
        first = target(fields[3]) if len(fields) > 3 else None
        system = system_of(first or "") or self.system
        for metric, text in (("cpu_percent", fields[1]), ("memory_percent", fields[2])):
            self.gather.reading(
                ComponentSeries(system, level, metric, fields[0]), self.when, _value(text)
            )
            self.said = True
        return fields[3:]

    def _capacity(self, text: str, fields: list[str]) -> str:
        """Files and bytes of a target; returns its name."""
        name = target(text)
        if name is None:
            raise _BadError(f"{shown(text)} is no target")
        level = "ost" if "-OST" in name else "mdt"
        files_free, files, free, total = (_value(field) for field in fields)
        if files_free > files or free > total:
            raise _BadError(f"{name} has more free than there is")
        for metric, value in (
            ("total_bytes", total * 1024),
            ("used_bytes", (total - free) * 1024),
            ("total_inodes", files),
            ("used_inodes", files - files_free),
        ):
            self._add(level, metric, name, value)
        return name

    def _ost(self, part: list[str], server: str) -> None:
        """Parse the fields of one OST."""
        if len(part) not in (7, 8, 15):
            raise _BadError(f"{len(part)} fields for an OST")
        name = self._capacity(part[0], part[1:5])
        self._add("ost", "read_bytes", name, _value(part[5]))
        self._add("ost", "written_bytes", name, _value(part[6]))
        if len(part) == 15:
            self._add("ost", "clients", name, _value(part[8]))
            self._add("ost", "locks", name, _value(part[9]))
        self.homes[name] = server[:128]

    def _mdt(self, part: list[str], _server: str) -> None:
        """Parse the fields of one MDT."""
        name = self._capacity(part[0], part[1:5])
        counts = part[5 if len(part) == 68 else 6 :]
        for place, op in enumerate(_MDT_OPS):
            self._operation(name, op, counts[3 * place : 3 * place + 1])

    def _operation(self, name: str, op: str, fields: list[str]) -> None:
        """Add the count of one operation, if the string has it."""
        if op in OPERATIONS and fields:
            self._add("mdt", OPERATIONS[op], name, _value(fields[0]))

    def _add(self, level: str, metric: str, name: str, value: float) -> None:
        system = system_of(name) or self.system
        self.gather.reading(ComponentSeries(system, level, metric, name), self.when, value)
        self.said = True


def _parts(fields: list[str], strides: tuple[int, ...]) -> Iterator[list[str]]:
    """Split fields by target, with the first stride for which every part starts with a name."""
    for stride in strides:
        if len(fields) % stride == 0 and all(target(name) for name in fields[::stride]):
            for begin in range(0, len(fields), stride):
                yield fields[begin : begin + stride]
            return
    raise _BadError(f"{len(fields)} fields do not divide into targets")


def _value(text: str) -> float:
    """A field as a number."""
    value = number(text.strip())
    if value is None:
        raise _BadError(f"{shown(text)} is no number")
    return value
