"""Stores and buckets in which one entry is hostile: what is done to a good one, and what must be said of it.

::

    a case    makes one entry beside good ones, or spoils a good one
    holds     every other row is answered, the entry is named once with its reason, within seconds and MiB

``python -m tests.hostile`` prints the table.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import duckdb

from tests.kit import hostile_s3 as s3
from tests.kit.hostile_s3 import HostileS3, Listed

DAY = "date=2026-09-21"
SEGMENT = "0123456789abcdef-000009"
NEWER = "newer iosonde"
WHEN = "2026-09-21T15:00:00Z"
ENTRIES = {
    "samples": f"samples/{DAY}/host=login1/{SEGMENT}.parquet",
    "rollups": f"rollups/{DAY}/host=login1/{SEGMENT}.parquet",
    "spool": f"spool/login1/{SEGMENT}.spool",
    "windows": "windows/login1/work-f7b9f854.5000ms-60s.2026-08.windows",
    "events": "events/login1/2026-08.jsonl",
    "state": "state/login1/other.json",
    "runs": f"runs/{DAY}/other.parquet",
    "parts": "runs/other.0.part.jsonl",
    "jobs": "jobs/month=2026-09/other.parquet",
    "scalars": "scalars/month=2026-09/other.parquet",
    "described": "described/other.parquet",
    "topology": f"topology/{DAY}/other.parquet",
}
"""A name that readers of each table take for a file of it."""


class Case(NamedTuple):
    """``store`` or ``bucket`` spoils one and gives the name that must be told; ``asks``: which questions of mischief.

    ``thorough``: every question that reads the table, else the first.
    """

    name: str
    asks: str
    said: str
    store: Callable[[Path], str] | None = None
    bucket: Callable[[HostileS3], str] | None = None
    thorough: bool = False


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)  # names of sockets are short
        try:
            one.bind(path.name)
        finally:
            os.chdir(here)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(5 << 30)


def _lines(path: Path) -> None:
    path.write_bytes(b"{}\n" * 3_000_000)


KINDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (_pipe, "not a regular file"),
    "link to nothing": (lambda path: path.symlink_to("gone"), "a link to nothing"),
    "endless device": (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
    "link to itself": (lambda path: path.symlink_to(path.name), "Too many levels"),
    "socket": (_socket, "not a regular file"),
    "folder": (Path.mkdir, "is a folder|directory"),
    "5 GiB of nothing": (_sparse, "larger than"),
}
_AT = {
    "pipe": tuple(ENTRIES),
    "link to nothing": tuple(ENTRIES),
    "endless device": ("samples", "spool", "windows", "events", "state", "parts"),
    "link to itself": ("samples", "spool", "state", "events"),
    "socket": ("spool", "state", "jobs"),
    "folder": ("samples", "spool", "state", "events"),
    "5 GiB of nothing": ("samples", "spool", "windows", "events", "state", "parts"),
}


def _beside(kind: str, table: str) -> Case:
    make, said = KINDS[kind]

    def spoil(root: Path) -> str:
        path = root / ENTRIES[table]
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path)
        return path.name

    return Case(f"{kind}: {table}", table, said, store=spoil, thorough=kind == "pipe")


def _newer_table(table: str, pattern: str, entry: str, asks: str = "") -> Case:
    def spoil(root: Path) -> str:
        good, path = sorted(root.glob(pattern))[0], root / entry
        path.parent.mkdir(parents=True, exist_ok=True)
        with duckdb.connect() as con:
            con.execute(
                "COPY (SELECT * REPLACE ((schema_version + 1)::UTINYINT AS schema_version), 1 AS news "
                f"FROM read_parquet('{good}', hive_partitioning = false)) TO '{path}' (FORMAT parquet)"
            )
        return path.name

    return Case(f"newer version: {table}", asks or table, NEWER, store=spoil)


def _newer_frames(table: str, pattern: str) -> Case:
    """A file of frames whose first one, in JSON, says another version."""

    def spoil(root: Path) -> str:
        data = sorted(root.glob(pattern))[0].read_bytes()
        (length,) = struct.unpack_from("<I", data, 8)
        header = json.loads(data[16 : 16 + length]) | {"schema_version": 9, "targets": "others"}
        text = json.dumps(header).encode()
        frame = struct.pack("<II", len(text), zlib.crc32(text)) + text
        path = root / ENTRIES[table]
        path.write_bytes(data[:8] + frame + data[16 + length :])
        return path.name

    return Case(f"newer version: {table}", table, NEWER, store=spoil)


def _newer_lines(table: str, pattern: str, count: int) -> Case:
    def spoil(root: Path) -> str:
        first = sorted(root.glob(pattern))[0].read_text().splitlines()[0]
        raw = json.loads(first) | {"schema_version": 9}
        raw.pop("crc32", None)
        path = root / ENTRIES[table]
        path.write_text(f"{json.dumps(raw)}\n" * count)
        return path.name

    return Case(f"newer version: {table}", table, NEWER, store=spoil)


def _doubled(name: str) -> Case:
    """A file whose name the engine could take for a pattern, beside those that it would match."""

    def spoil(root: Path) -> str:
        folder = root / f"samples/{DAY}/host=login1"
        (folder / f"{name}.parquet").write_bytes(b"no table")
        return f"{name}.parquet"

    return Case(f"pattern as a name: {name}", "samples", "is no Parquet file", store=spoil)


def _many_bad_lines(table: str) -> Case:
    def spoil(root: Path) -> str:
        _lines(root / ENTRIES[table])
        return Path(ENTRIES[table]).name

    return Case(
        f"3,000,000 lines that are none: {table}", table, "the rest is not read", store=spoil
    )


STORES: list[Case] = [
    *(_beside(kind, table) for kind, tables in _AT.items() for table in tables),
    _newer_table("samples", "samples/*/*/*.parquet", ENTRIES["samples"]),
    _newer_table("rollups", "rollups/*/*/*.parquet", ENTRIES["rollups"]),
    _newer_table("runs", "runs/*/*.parquet", ENTRIES["runs"]),
    *(
        _newer_table(table, f"{table}/*/*.parquet", ENTRIES[table])
        for table in ("jobs", "scalars", "topology")
    ),
    _newer_table("described", "described/*.parquet", ENTRIES["described"]),
    _newer_frames("spool", "spool/*/*.spool"),
    _newer_frames("windows", "windows/*/*.windows"),
    _newer_lines("events", "events/*/2*.jsonl", 1000),
    _newer_lines("parts", "runs/*.part.jsonl", 1000),
    _newer_lines("state", "state/*/*.json", 1),
    _doubled("**"),
    _doubled("6*"),
    _doubled("[0-9a-f]*"),
    _many_bad_lines("events"),
    _many_bad_lines("parts"),
]

# What the spoilt object of a bucket holds is missing, and nothing else.
SAMPLE, STATE = "samples/*/*/*.parquet", "state/*/*.json"
_FAULTS: dict[str, tuple[s3.Fault, str]] = {
    "vanished": (s3.refused(404, "NoSuchKey"), "has gone since"),
    "forbidden": (s3.refused(403, "AccessDenied"), "AccessDenied"),
    "archived": (s3.refused(403, "InvalidObjectState"), "is archived"),
    "server error": (s3.refused(500, "InternalError"), "InternalError"),
    "slow down": (s3.refused(503, "SlowDown"), "SlowDown"),
    "silent": (s3.silent, "no answer within"),
    "dripping": (s3.dripping, "no answer within"),
    "cut": (s3.cut, "cannot be read"),
    "redirected": (s3.elsewhere("http://127.0.0.1:1"), "was not followed"),
    "redirected to itself": (s3.elsewhere(""), "was not followed"),
}


def spoilt(server: HostileS3, pattern: str) -> str:
    """The key of the object that a case spoils."""
    return sorted(server.root.glob(pattern))[0].relative_to(server.root).as_posix()


def _fault(name: str, pattern: str, fault: s3.Fault, said: str) -> Case:
    kind = pattern.partition("/")[0]

    def spoil(server: HostileS3) -> str:
        key = spoilt(server, pattern)
        server.faults[key] = fault
        return key

    return Case(f"object {name}: {kind}", pattern, said, bucket=spoil)


def _listed(name: str, pattern: str, size: int, said: str, fault: s3.Fault = s3.endless) -> Case:
    """An object that is listed with another size."""

    def spoil(server: HostileS3) -> str:
        key = spoilt(server, pattern)
        server.more = [Listed(key, size, WHEN)]
        server.faults[key] = fault
        return key

    return Case(f"object {name}: {pattern.partition('/')[0]}", pattern, said, bucket=spoil)


def _key(name: str, key: str, *, told: str, encoded: bool = True, size: int = 100) -> Case:
    """A key of a stranger's below the prefix."""

    def spoil(server: HostileS3) -> str:
        server.more = [Listed(key, size, WHEN)]
        server.encoded = encoded
        return told

    return Case(f"key {name}", "", "is no file of a store", bucket=spoil)


def _page(name: str, change: Callable[[str], str | None], said: str) -> Case:
    """A listing of roll-ups that is none: samples and states are listed."""

    def spoil(server: HostileS3) -> str:
        server.page = lambda text, below, _: change(text) if below == "rollups/" else text
        return "rollups/"

    return Case(f"listing {name}", "", said, bucket=spoil)


def _many(server: HostileS3) -> str:
    server.more = [Listed(f"samples/{DAY}/stranger/{n}.txt", 10, WHEN) for n in range(60)]
    return "samples/"


def _bomb(text: str) -> str:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]>{text[text.index("?>") + 2 :]}&l9;'


BUCKETS: list[Case] = [
    *(
        _fault(name, pattern, fault, said)
        for name, (fault, said) in _FAULTS.items()
        for pattern in (SAMPLE, STATE)
    ),
    _fault("of another size", SAMPLE, s3.shorter, "were listed"),
    _fault("without an end", SAMPLE, s3.endless_chunks, "more than"),
    _fault("of 3 GB", STATE, s3.endless, "more than"),
    _fault("of 3 GB in chunks", STATE, s3.endless_chunks, "more than"),
    _listed("listed with 3 GB", SAMPLE, 3 << 30, "is larger than"),
    _listed("listed with 3 GB", STATE, 3 << 30, "is larger than"),
    _listed("listed with 900 MB", SAMPLE, 900 << 20, "were listed", s3.good),
    _key("with ..", f"samples/{DAY}/host=a/../../../../x.parquet", told="x.parquet"),
    _key("with .. as a host", f"samples/{DAY}/../x.parquet", told="x.parquet"),
    _key("that begins with /", "samples//etc/passwd", told="passwd"),
    _key("with a line end", f"samples/{DAY}/host=a/x\n.parquet", told="x?.parquet"),
    _key("with DEL", f"samples/{DAY}/host=a/x\x7f.parquet", told="x?.parquet"),
    _key("with U+202E", f"samples/{DAY}/host=a/x\u202e.parquet", told="x?.parquet"),
    _key("with ESC", f"samples/{DAY}/host=a\x1b[31m/x.parquet", told="x.parquet"),
    _key("with NUL", f"samples/{DAY}/host=a/x\0.parquet", told="x?.parquet"),
    _key("with NUL as it is", f"samples/{DAY}/host=a/x\0.parquet", told="parquet", encoded=False),
    _key("with ESC as it is", f"samples/{DAY}/host=a/x\x1b.parquet", told="parquet", encoded=False),
    _key("of 1,000 letters", f"samples/{DAY}/{'k' * 1000}", told="k" * 100),
    _key("of a state that leads out", "state/../../x.json", told="x.json"),
    _key("of a stranger", f"samples/{DAY}/host=login1/README.md", told="README.md"),
    Case("keys of a stranger, 60", "", "50 more objects", bucket=_many),
    _page("that fails", lambda _: None, "InternalError"),
    _page("that is no XML", lambda _: "<html>busy</html>", "no listing"),
    _page("that is cut", lambda text: text[: len(text) // 2], "no listing"),
    _page("that is a bomb", _bomb, "no listing"),
    _page(
        "without an end",
        lambda text: text.replace("<IsTruncated>false</IsTruncated>", "<IsTruncated>true</IsTruncated>"
                                  "<NextContinuationToken>0</NextContinuationToken>"),
        "does not end",
    ),
]  # fmt: skip
CASES = {case.name: case for case in [*STORES, *BUCKETS]}
