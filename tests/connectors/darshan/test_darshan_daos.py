"""Jobs that did their I/O in DAOS, past the kernel: logs of format 3.41, and the text of darshan-parser."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from iosonde.connectors.darshan import log as darshan_log
from iosonde.connectors.darshan import text as darshan_text
from iosonde.connectors.darshan.library import names
from iosonde.connectors.source import Settings
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job
from tests.kit.records.connected import take
from tests.kit.records.darshan_made import MIB, Made, id_of

_MODULES = {
    "POSIX": (1, 4, "posix", 0),
    "MPI-IO": (2, 3, "mpiio", 0),
    "DFS": (16, 1, "dfs", 32),
    "DAOS": (17, 1, "daos", 48),
}
"""Number in a log, version, prefix, bytes behind the counters (UUIDs, object ids)."""

Values = dict[str, float]


def log_bytes(records: list[tuple[str, str, int, Values]]) -> bytes:
    """A log of format 3.41: 64 modules. ``records``: module, file, rank, counters."""
    job = struct.pack("<7q", 1000, 1490000867, 0, 1490000983, 0, 4, 4711)
    regions: dict[str, bytes] = {
        "job": job
        + b"lib_ver=3.4.0\n".ljust(1024, b"\0")
        + b"/bin/sim x\nlustre\t/work\next4\t/\0",
        "names": b"".join(
            struct.pack("<Q", id_of(file)) + file.encode() + b"\0"
            for file in dict.fromkeys(file for _, file, _, _ in records)
        ),
    }
    for module, file, rank, values in records:
        _, _, prefix, more = _MODULES[module]
        whole = [int(values.get(name, 0)) for name in names(prefix)]
        floats = [float(values.get(name, 0)) for name in names(prefix, floats=True)]
        regions[module] = regions.get(module, b"") + (
            struct.pack("<Qq", id_of(file), rank)
            + struct.pack(f"<{len(whole)}q{len(floats)}d", *whole, *floats)
            + bytes(more)
        )
    packed = {name: zlib.compress(data) for name, data in regions.items()}
    maps, versions, at = [(0, 0)] * 65, [0] * 64, 1328
    for name, data in packed.items():
        if name != "job":
            maps[0 if name == "names" else 1 + _MODULES[name][0]] = (at, len(data))
        if name in _MODULES:
            versions[_MODULES[name][0]] = _MODULES[name][1]
        at += len(data)
    head = struct.pack("<8sqB7xQ", b"3.41", 6567223, 0, 0)
    head += b"".join(struct.pack("<QQ", *pair) for pair in maps) + struct.pack("<64I", *versions)
    return head + b"".join(packed.values())


def read(path: Path, *records: tuple[str, str, int, Values]) -> Job:
    path.write_bytes(log_bytes(list(records)))
    told: list[InputFileError] = []
    (job,) = darshan_log.read(path, Settings(), told.append)
    assert not told
    assert isinstance(job, Job)
    return job


def value(job: Job, name: str) -> float | None:
    return job.scalars[name].value


TIMES = {"F_READ_TIME": 1.0, "F_WRITE_TIME": 3.0, "F_META_TIME": 0.0, "F_SLOWEST_RANK_TIME": 4.0}
DFS: Values = {
    **{"BYTES_READ": 100 * MIB, "BYTES_WRITTEN": 300 * MIB, "READS": 10, "READXS": 5},
    **{"WRITES": 20, "NB_WRITES": 10, "OPENS": 4, "GLOBAL_OPENS": 2, "STATS": 7},
    **TIMES,
}
DAOS: Values = {
    **{"BYTES_WRITTEN": 400 * MIB, "ARRAY_WRITES": 30, "KV_PUTS": 6, "ARRAY_OPENS": 4},
    **TIMES,
}
SMALL: Values = {"BYTES_READ": MIB, "READS": 1, "OPENS": 1, "F_READ_TIME": 0.01}


@pytest.mark.parametrize("beside", [False, True])
def test_files_in_daos_are_io(tmp_path: Path, beside: bool) -> None:
    small = [("POSIX", "/work/in", 0, SMALL)] if beside else []
    job = read(tmp_path / "a", ("DFS", "/out", -1, DFS), *small)
    assert value(job, "own_bytes") == (401 if beside else 400) * MIB
    assert value(job, "own_reads") == 15 + beside
    assert value(job, "own_writes") == 30
    assert value(job, "own_opens") == 6 + beside
    assert value(job, "performance_bytes_per_s") == pytest.approx(100 * MIB)
    assert value(job, "performance_dfs_bytes_per_s") == pytest.approx(100 * MIB)
    assert job.scalars["performance_bytes_per_s"].flags == ()
    assert (job.api, job.mode, job.direction) == ("dfs", "shared", "mixed")
    assert job.file_system == ""


def test_its_files_lie_on_no_mount_point(tmp_path: Path) -> None:
    job = read(tmp_path / "a", ("DFS", "/work/out", -1, DFS), ("POSIX", "/work/in", 0, SMALL))
    assert job.file_system == ""


def test_objects_without_files_are_io(tmp_path: Path) -> None:
    job = read(tmp_path / "a", ("DAOS", "1234.5", 0, {**DAOS, "F_SLOWEST_RANK_TIME": 0}))
    assert value(job, "own_bytes") == 400 * MIB
    assert (value(job, "own_writes"), value(job, "own_opens")) == (36, 4)
    assert value(job, "performance_bytes_per_s") == pytest.approx(100 * MIB)
    assert (job.api, job.direction) == ("daos", "write")


def test_the_same_bytes_count_once(tmp_path: Path) -> None:
    """MPI-IO above DFS above DAOS; POSIX that an interception library turned into DFS."""
    posix = {"BYTES_WRITTEN": 400 * MIB, "WRITES": 40, "OPENS": 4, **TIMES}
    mpi = {"BYTES_WRITTEN": 400 * MIB, "COLL_WRITES": 4, **TIMES}
    above = read(
        tmp_path / "a",
        *(("MPI-IO", "/out", -1, mpi), ("DFS", "/out", -1, DFS), ("DAOS", "1.2", -1, DAOS)),
    )
    assert value(above, "own_bytes") == 400 * MIB
    assert value(above, "performance_mpiio_bytes_per_s") == pytest.approx(100 * MIB)
    caught = read(tmp_path / "b", ("POSIX", "/work/out", -1, posix), ("DFS", "/out", -1, DFS))
    assert value(caught, "own_bytes") == 400 * MIB
    assert caught.api == "posix"
    assert caught.file_system == "/work"


def test_the_text_says_the_same(tmp_path: Path) -> None:
    made = Made(())
    lines = [
        "# darshan log version: 3.41", "# exe: /bin/sim", "# jobid: 4711", f"# nprocs: {made.ranks}",
        f"# start_time: {made.start}", f"# end_time: {made.end}", "# run time: 117.0",
    ]  # fmt: skip
    for number, count in [*DFS.items()]:
        cells = ("DFS", -1, id_of("/out"), f"DFS_{number}", count, "/out", "UNKNOWN", "UNKNOWN")
        lines.append("\t".join(map(str, cells)))
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines) + "\n")
    (job,) = take(darshan_text, path).jobs
    assert value(job, "own_bytes") == 400 * MIB
    assert value(job, "performance_bytes_per_s") == pytest.approx(100 * MIB)


def test_a_job_without_io_still_says_so(tmp_path: Path) -> None:
    job = read(tmp_path / "a", ("DFS", "/out", -1, {"OPENS": 1}))
    assert job.scalars["performance_bytes_per_s"].flags == ("no-traffic",)
