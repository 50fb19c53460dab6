"""The rules that make a Job of Darshan's records: mode, direction, api, file system, the slowest rank, features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.connectors.darshan.counts import ModuleCounts
from iosonde.connectors.darshan.features import features
from iosonde.connectors.darshan.job import job_of
from iosonde.connectors.darshan.records import MODULES, LogHeader, Records, program_of
from iosonde.model.jobs import Job
from tests.kit.records.darshan_made import MIB, Record, moved


def records_of(module: str, some: list[Record]) -> Records:
    wanted = MODULES[module].counters
    return Records(
        module,
        np.array([record.id for record in some], dtype=np.uint64),
        np.array([record.rank for record in some], dtype=np.int64),
        np.array([[r.values.get(name, 0.0) for name in wanted] for r in some]).reshape(
            len(some), len(wanted)
        ),
    )


def job(records: list[Record], ranks: int = 4, piece: int = 1000) -> Job:
    tallies = {}
    for module in MODULES:
        mine = [record for record in records if record.module == module]
        if mine:
            tallies[module] = ModuleCounts(module, ranks, partial=False)
            for at in range(0, len(mine), piece):
                tallies[module].add(records_of(module, mine[at : at + piece]))
    files = {record.id: record.file for record in records}

    def mount_of(ids: np.ndarray) -> list[str]:
        return ["/" + files[number].split("/")[1] for number in ids.tolist()]

    return job_of(LogHeader("3.21", "app", ranks=ranks), tallies, mount_of, "darshan")


def posix(file: str, rank: int, read: int = 0, written: int = 0, **more: float) -> Record:
    return moved("POSIX", f"/work/{file}", rank, read * MIB, written * MIB, **more)


MODES = {
    "one file of all, summed up": ([posix("a", -1, written=9)], "shared"),
    "one file of all, rank by rank": ([posix("a", n, written=9) for n in range(4)], "shared"),
    "one of two ranks": ([posix("a", n, written=9) for n in range(2)], "shared"),
    "a file each": ([posix(f"a{n}", n, written=9) for n in range(4)], "fpp"),
    "half of them": ([posix(f"a{n}", n, written=9) for n in range(2)], "fpp"),
    "rank 0 does it all": ([posix("a", 0, written=9)], ""),
    "a file each, and a small shared one": (
        [*(posix(f"a{n}", n, written=9) for n in range(4)), posix("in", -1, read=5)],
        "fpp",
    ),
    "a shared file, and small logs of each": (
        [*(posix(f"a{n}", n, written=1) for n in range(4)), posix("out", -1, written=9)],
        "shared",
    ),
    "written by one, read back by the next": (
        [
            *(posix(f"a{n}", n, written=9) for n in range(4)),
            *(posix(f"a{n}", (n + 1) % 4, read=9) for n in range(4)),
        ],
        "fpp",
    ),
    "opened by all, used by one each": (
        [posix(f"a{n}", m, written=9 * (n == m)) for n in range(4) for m in range(4)],
        "fpp",
    ),
    "one aggregator, but all by MPI-IO": (
        [posix("a", 0, written=9), moved("MPI-IO", "/work/a", -1, written=9 * MIB)],
        "shared",
    ),
    "nothing moved": ([posix("a", -1)], ""),
}


@pytest.mark.parametrize("name", MODES)
def test_mode(name: str) -> None:
    records, mode = MODES[name]
    assert job(records).mode == mode


def test_of_one_rank_nothing_can_be_said() -> None:
    assert job([posix("a", 0, written=9)], ranks=1).mode == ""


@pytest.mark.parametrize(
    ("read", "written", "direction"),
    [
        *((9, 0, "read"), (0, 9, "write"), (90, 10, "read"), (10, 90, "write")),
        *((89, 11, "mixed"), (11, 89, "mixed"), (0, 0, "")),
    ],
)
def test_direction(read: int, written: int, direction: str) -> None:
    found = job([posix("a", -1, read, written)])
    assert found.direction == direction
    if not direction:
        assert found.scalars["performance_bytes_per_s"].flags == ("no-traffic",)
        assert found.scalars["performance_bytes_per_s"].value is None


def test_api_is_the_highest_layer_of_most_bytes() -> None:
    low, small = posix("a", -1, written=9), posix("b", -1, written=1)
    by_mpi = moved("MPI-IO", "/work/a", -1, written=9 * MIB)
    by_hdf5 = Record("H5F", "/work/a", -1, {})
    assert job([low, small]).api == "posix"
    assert job([low, small, by_mpi]).api == "mpiio"
    assert job([low, small, by_mpi, by_hdf5]).api == "hdf5"
    assert job([low, small, Record("H5F", "/work/b", -1, {})]).api == "posix"
    assert job([small, moved("STDIO", "/work/c", 0, written=9 * MIB)]).api == "stdio"
    alone = job([by_mpi])
    assert (alone.api, alone.scalars["own_bytes"].value) == ("mpiio", 9 * MIB)
    assert (alone.scalars["own_reads"].value, alone.scalars["own_writes"].value) == (0, 9)
    assert alone.scalars["own_stats"].value is None


def test_file_system_of_most_bytes() -> None:
    many = [moved("POSIX", f"/home/{n}", 0, read=MIB) for n in range(20)]
    assert job([*many, moved("POSIX", "/work/a", 0, read=19 * MIB)]).file_system == "/home"
    assert job([*many, moved("POSIX", "/work/a", 0, read=21 * MIB)]).file_system == "/work"


def test_the_slowest_rank() -> None:
    """Over files of their own the times of a rank add up; files of all have their slowest rank's."""
    found = job(
        [
            *(posix("a", 0, written=100), posix("b", 0, read=200, F_META_TIME=0.5)),
            *(posix("c", 1, written=300), posix("d", -1, read=400, F_SLOWEST_RANK_TIME=2.5)),
        ]
    )
    assert found.scalars["own_io_s"].value == pytest.approx(1 + 2 + 0.5 + 2.5)
    rate = found.scalars["performance_bytes_per_s"].value
    assert rate == pytest.approx(1000 * MIB / 6.0)


def test_what_darshan_could_not_record_is_missing() -> None:
    some = [posix("a", 0, written=9, STATS=-1), posix("b", 1, written=9, STATS=3)]
    stats = job(some).scalars["own_stats"]
    assert (stats.value, stats.n, stats.missing, stats.flags) == (3, 1, 0.5, ("missing",))
    none = job(some[:1]).scalars["own_stats"]
    assert (none.value, none.missing) == (None, 1.0)


def test_features_are_shares_and_logarithms() -> None:
    sizes = {"SIZE_READ_100K_1M": 10, "SIZE_WRITE_0_100": 30, "SEQ_READS": 5, "CONSEC_WRITES": 27}
    one = posix("a", -1, read=10, written=30, FILE_NOT_ALIGNED=4, F_META_TIME=0.4, **sizes)
    found = job([one, moved("MPI-IO", "/work/a", -1, 10 * MIB, 30 * MIB)])
    known = features(found)
    wanted = {
        "read_bytes_ratio": 0.25,
        "reads_ratio": 0.25,
        "sequential_reads_ratio": 0.5,
        "consecutive_writes_ratio": 0.9,
        "accesses_below_1k_ratio": 0.75,
        "accesses_100k_1m_ratio": 0.25,
        "unaligned_file_ratio": 0.1,
        "metadata_time_ratio": 0.5,
        "collective_ratio": 0.75,
        "shared_bytes_ratio": 1,
        "stdio_bytes_ratio": 0,
        "mean_read_bytes_log10": np.log10(MIB),
        "files_per_rank_log10": np.log10(1 / 4),
    }
    assert {name: known[name] for name in wanted} == pytest.approx(wanted)
    for name, scalar in found.scalars.items():
        if name.startswith("feature_"):
            assert scalar.unit == name.rpartition("_")[2]
    writes = job([posix("a", -1, written=9)])
    assert writes.scalars["feature_sequential_reads_ratio"].value is None
    assert "collective_ratio" not in features(writes)


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("/a/b/ior -o secret", "ior"),
        ("ior", "ior"),
        ("", ""),
        ("   ", ""),
        ("/a/b/", "b"),
        ("a\x1b[2J\n b", "a?[2J"),
    ],
)
def test_program_only(command: str, program: str) -> None:
    assert program_of(command) == program


RECORD = st.tuples(
    st.sampled_from(["POSIX", "MPI-IO", "STDIO"]),
    st.integers(0, 5),
    st.integers(-1, 3),
    st.integers(-1, 1 << 40),
    st.integers(0, 1 << 40),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(RECORD, min_size=1, max_size=40), st.integers(1, 7))
def test_pieces_do_not_matter(some: list[tuple[str, int, int, int, int]], piece: int) -> None:
    records = [
        moved(module, f"/work/{file}", rank, read, written)
        for module, file, rank, read, written in some
    ]
    whole, pieces = job(records), job(records, piece=piece)
    assert (whole.mode, whole.api, whole.direction, whole.step, whole.file_system) == (
        *(pieces.mode, pieces.api, pieces.direction, pieces.step, pieces.file_system),
    )
    for name, scalar in whole.scalars.items():
        value = pieces.scalars[name].value
        assert value == (None if scalar.value is None else pytest.approx(scalar.value)), name


def test_many_records_take_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compaction on the way gives the same as none."""
    records = [posix(f"a{n % 50}", n % 4, written=1) for n in range(400)]
    before = job(records, piece=10)
    monkeypatch.setattr("iosonde.connectors.darshan.counts._MOST_WAITING", 30)
    assert job(records, piece=10) == before


def test_records_of_other_ranks_are_left_out_and_counted() -> None:
    tally = ModuleCounts("POSIX", 4, partial=False)
    tally.add(records_of("POSIX", [posix("a", n, written=9) for n in (-2, -1, 0, 3, 4, 1 << 40)]))
    assert (tally.n, tally.impossible, tally.moved_bytes) == (3, 3, 27 * MIB)
