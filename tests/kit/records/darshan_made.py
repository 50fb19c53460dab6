"""Darshan logs of format 3.21 and the text of darshan-parser, with numbers that a test knows."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from iosonde.connectors.darshan.library import names
from iosonde.connectors.darshan.reader import Reader
from iosonde.connectors.darshan.worker import job_from
from iosonde.model.jobs import Job
from tests.kit.samples.latencies import DATA

_LUSTRE = 7
_MODULES = {"POSIX": (1, 4, "posix"), "MPI-IO": (2, 3, "mpiio"), "STDIO": (8, 2, "stdio")}
MIB = 1 << 20


def id_of(file: str) -> int:
    return zlib.crc32(file.encode()) | 0xABCD << 48


@dataclass(frozen=True)
class Record:
    """Of a module; counters that are not given are 0."""

    module: str
    file: str
    rank: int
    values: dict[str, float]
    number: int | None = None

    @property
    def id(self) -> int:
        return id_of(self.file) if self.number is None else self.number


@dataclass(frozen=True)
class Made:
    records: tuple[Record, ...]
    ranks: int = 4
    exe: str = "/opt/apps/bin/solver --password=hunter2 /work/in"
    job_id: int = 4711
    uid: int = 1000
    start: int = 1_490_000_867
    end: int = 1_490_000_983
    partial: tuple[str, ...] = ()
    mounts: tuple[tuple[str, str], ...] = (
        *(("/work/deep", "nfs"), ("/work", "autofs"), ("/work", "lustre"), ("/home", "nfs")),
        ("/", "ext4"),
    )
    header: dict[str, str] = field(default_factory=dict)
    osts: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Of files on Lustre."""

    @property
    def modules(self) -> list[str]:
        return [m for m in _MODULES if any(r.module == m for r in self.records)]


def moved(
    module: str, file: str, rank: int, read: int = 0, written: int = 0, **more: float
) -> Record:
    """A record of so many bytes, in accesses of a MiB, at 100 MiB/s."""
    each = {"READS": read // MIB, "WRITES": written // MIB, "OPENS": 1}
    if module == "MPI-IO":
        each = {"INDEP_READS": read // MIB, "COLL_WRITES": written // MIB, "INDEP_OPENS": 1}
    times = {"F_READ_TIME": read / MIB / 100, "F_WRITE_TIME": written / MIB / 100}
    return Record(
        module,
        file,
        rank,
        {
            **each,
            "BYTES_READ": read,
            "BYTES_WRITTEN": written,
            **times,
            "F_SLOWEST_RANK_TIME": sum(times.values()),
            **more,
        },
    )


def counters_of(record: Record) -> tuple[list[int], list[float]]:
    prefix = _MODULES[record.module][2]
    whole = [int(record.values.get(name, 0)) for name in names(prefix)]
    return whole, [float(record.values.get(name, 0)) for name in names(prefix, floats=True)]


def log_bytes(made: Made, *, big: bool = False) -> bytes:
    """A log, in either byte order."""
    order = ">" if big else "<"
    job = struct.pack(
        f"{order}5q", made.uid, made.start, made.end, made.ranks, made.job_id
    ) + b"lib_ver=3.2.1\n".ljust(1024, b"\0")
    mounts = "".join(f"\n{kind}\t{path}" for path, kind in made.mounts)
    files = {record.id: record.file for record in made.records}
    regions = {
        "job": job + (made.exe + mounts).encode() + b"\0",
        "names": b"".join(
            struct.pack(f"{order}Q", number) + name.encode() + b"\0"
            for number, name in files.items()
        ),
    }
    for module in made.modules:
        regions[module] = b"".join(
            struct.pack(f"{order}Qq", record.id, record.rank)
            + struct.pack(f"{order}{len(whole)}q{len(floats)}d", *whole, *floats)
            for record in made.records
            if record.module == module
            for whole, floats in [counters_of(record)]
        )
    if made.osts:
        # Of the first version: OSTs and MDTs of the file system, stripe offset, size and width.
        regions["LUSTRE"] = b"".join(
            struct.pack(f"{order}Qq5q", id_of(file), -1, 248, 1, -1, MIB, len(osts))
            + struct.pack(f"{order}{len(osts)}q", *osts)
            for file, osts in made.osts.items()
        )
    packed = {name: zlib.compress(data) for name, data in regions.items()}
    maps, versions, at = [(0, 0)] * 17, [0] * 16, 360
    for name, data in packed.items():
        if name != "job":
            number = _LUSTRE if name == "LUSTRE" else _MODULES.get(name, (-1,))[0]
            slot = 0 if name == "names" else 1 + number
            maps[slot] = (at, len(data))
        if name in _MODULES:
            versions[_MODULES[name][0]] = _MODULES[name][1]
        at += len(data)
    versions[_LUSTRE] = int(bool(made.osts))
    flags = sum(1 << _MODULES[name][0] for name in made.partial)
    head = struct.pack(f"{order}8sqB3xI", b"3.21", 6567223, 0, flags)
    head += b"".join(struct.pack(f"{order}QQ", *pair) for pair in maps)
    head += struct.pack(f"{order}16I", *versions)
    return head + b"".join(packed.values())


def write_log(path: Path, made: Made, *, big: bool = False) -> Path:
    path.write_bytes(log_bytes(made, big=big))
    return path


def row(record: Record, name: str, value: float | str, mount: tuple[str, str]) -> str:
    prefix = _MODULES[record.module][2].upper()
    columns = (record.module, record.rank, record.id, f"{prefix}_{name}", value, record.file)
    return "\t".join(str(column) for column in (*columns, *mount))


def mount_of(made: Made, file: str) -> tuple[str, str]:
    found = [m for m in made.mounts if m[1] != "autofs" and file.startswith(m[0])]
    return found[0] if file.startswith("/") and found else ("UNKNOWN", "UNKNOWN")


def rows(made: Made, records: Iterable[Record]) -> list[str]:
    lines = []
    for record in records:
        prefix, mount = _MODULES[record.module][2], mount_of(made, record.file)
        whole, floats = counters_of(record)
        lines += [row(record, n, v, mount) for n, v in zip(names(prefix), whole, strict=True)]
        lines += [
            row(record, n, f"{v:f}", mount)
            for n, v in zip(names(prefix, floats=True), floats, strict=True)
        ]
    return lines


def head_lines(made: Made) -> list[str]:
    return [
        "# darshan log version: 3.21",
        "# compression method: ZLIB",
        f"# exe: {made.exe}",
        f"# uid: {made.uid}",
        f"# jobid: {made.job_id}",
        f"# start_time: {made.start}",
        "# start_time_asci: Mon Mar 20 09:07:47 2017",
        f"# end_time: {made.end}",
        f"# nprocs: {made.ranks}",
        f"# run time: {made.end - made.start + 1:.4f}",
        "# metadata: lib_ver = 3.2.1",
        "",
        "# log file regions",
        "# header: 360 bytes (uncompressed)",
        *(f"# {m} module: 123 bytes (compressed), ver={_MODULES[m][1]}" for m in made.modules),
        *(f"# mount entry:\t{path}\t{kind}" for path, kind in made.mounts),
    ]


def text_of(made: Made, *, base: bool = True, total: bool = False, perf: bool = False) -> str:
    """As darshan-parser --show-incomplete prints it."""
    lines = head_lines(made)
    for module in made.modules:
        bar = "# *******************************************************"
        lines += ["", bar, f"# {module} module data", bar]
        if module in made.partial:
            lines += ["", f"# *WARNING*: The {module} module contains incomplete data!"]
        mine = [record for record in made.records if record.module == module]
        if base:
            lines += ["#<module>\t<rank>\t<record id>\t<counter>\t<value>", *rows(made, mine)]
        if total:
            prefix = _MODULES[module][2]
            sums = [sum(column) for column in zip(*(counters_of(r)[0] for r in mine), strict=True)]
            lines += [
                f"total_{prefix.upper()}_{n}: {v}" for n, v in zip(names(prefix), sums, strict=True)
            ]
        if perf:
            both = sum(r.values["BYTES_READ"] + r.values["BYTES_WRITTEN"] for r in mine)
            lines += ["# performance", f"# total_bytes: {both}"]
            lines += ["# agg_perf_by_slowest: 100.000000 # MiB/s"]
    return "\n".join(lines) + "\n"


def recorded() -> list[Path]:
    """Real logs; none where there are none."""
    return sorted((DATA / "umami" / "darshan").glob("*.darshan"))


def jobs_of(paths: Iterable[Path]) -> dict[Path, Job]:
    """Of good logs, by one reader."""
    found = {}
    with Reader() as reader:
        for path in paths:
            reader.send(path)
            answer = reader.receive()[1]
            assert isinstance(answer, dict), answer
            found[path] = job_from(answer)
    return found


needs_recorded = pytest.mark.skipif(
    not recorded(), reason=f"no Darshan logs in {DATA} (IOSONDE_DATA names another folder)"
)
