"""Time of each rank on each Lustre file, and the OSTs of the file.

A file's time is what its reads, or writes, took (``F_READ_TIME``, ``F_WRITE_TIME``), without what a program did between
them. Names of files are private and stay in the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iosonde.connectors.darshan.records import Module

if TYPE_CHECKING:
    from iosonde.connectors.darshan.raw import RawLog

LEAST_BYTES = 1 << 20
"""Least size of a file: below, latency dominates over bandwidth."""
_TIMED = Module(
    "posix",
    "struct darshan_posix_file",
    (
        *("BYTES_READ", "BYTES_WRITTEN", "F_READ_START_TIMESTAMP", "F_WRITE_START_TIMESTAMP"),
        *("F_READ_TIME", "F_WRITE_TIME"),
    ),
)
_READ, _WRITTEN, _READ_BEGIN, _WRITE_BEGIN, _READ_S, _WRITE_S = range(6)
_WAYS = ((0, _WRITTEN, _WRITE_BEGIN, _WRITE_S), (1, _READ, _READ_BEGIN, _READ_S))


def timed_files(log: RawLog) -> dict[str, Any]:
    """Rows of Lustre files as JSON-compatible values. Raises InputFileError."""
    osts = dict(log.stripes())
    rows: list[list[float]] = []
    number: dict[int, int] = {}
    for records in log.records("POSIX", _TIMED):
        for file, rank, values in zip(
            records.ids.tolist(), records.ranks.tolist(), records.values, strict=True
        ):
            if not osts.get(file) or rank >= log.run.ranks:
                continue
            place = number.setdefault(file, len(number))
            for way, size, begin, seconds in _WAYS:
                if values[size] >= LEAST_BYTES and values[seconds] > 0 and values[begin] >= 0:
                    each = (values[size], values[begin], values[seconds])
                    rows.append([way, rank, place, *map(float, each)])
    start = log.run.start_ns or 0
    run = f"{log.run.job_id}-{log.run.program}-{start // 1_000_000_000}"
    found = [osts[file] for file in number]
    return {"run": run, "rows": rows, "osts": found, "start_ns": start}
