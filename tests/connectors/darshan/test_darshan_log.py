"""Binary Darshan logs: those we make (every number known) and recorded ones (formats 3.00 to 3.41)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from iosonde.connectors.darshan import library as darshan_library
from iosonde.connectors.darshan import log as darshan_log
from iosonde.connectors.source import Settings, head_of
from iosonde.model.errors import InputFileError, MissingPartError
from iosonde.model.jobs import Job
from tests.kit.records.darshan_made import (
    MIB,
    Made,
    jobs_of,
    moved,
    needs_recorded,
    recorded,
    write_log,
)

SETTINGS = Settings()


def read(path: Path, settings: Settings = SETTINGS) -> Job:
    told: list[InputFileError] = []
    (job,) = darshan_log.read(path, settings, told.append)
    assert not told
    assert isinstance(job, Job)
    return job


def value(job: Job, name: str) -> float | None:
    return job.scalars[name].value


SHARED = Made(
    (
        moved("POSIX", "/work/out", -1, written=400 * MIB, STATS=8, F_META_TIME=1.5),
        moved("POSIX", "/home/in", 0, read=8 * MIB, F_META_TIME=0.25),
        moved("STDIO", "<STDOUT>", 0, written=90 * MIB),
        moved("STDIO", "/work/log", 1, written=2 * MIB),
    )
)


@pytest.mark.parametrize("big", [False, True])
def test_a_log_we_made(tmp_path: Path, big: bool) -> None:
    path = write_log(tmp_path / "one", SHARED, big=big)
    assert darshan_log.recognises(head_of(path))
    job = read(path, Settings(system="cluster"))
    assert (job.source, job.job_id, job.user, job.system) == ("darshan", "4711", "1000", "cluster")
    assert (job.app, job.api, job.mode, job.direction) == ("solver", "posix", "shared", "write")
    assert (job.ranks, job.nodes, job.file_system) == (4, None, "/work")
    assert (job.start_ns, job.end_ns) == (1_490_000_867 * 10**9, 1_490_000_983 * 10**9)
    wanted = {
        "own_read_bytes": 8 * MIB,
        "own_written_bytes": 402 * MIB,
        "own_bytes": 410 * MIB,
        "own_reads": 8,
        "own_writes": 402,
        "own_opens": 3,
        "own_stats": 8,
        "own_files": 3,
        "own_io_s": 4 + 0.08 + 0.25,
        "duration_s": 117,
    }
    assert {name: value(job, name) for name in wanted} == pytest.approx(wanted)
    rate = value(job, "performance_bytes_per_s")
    assert rate == pytest.approx(408 * MIB / 4.33)
    assert value(job, "performance_posix_bytes_per_s") == rate
    assert value(job, "performance_stdio_bytes_per_s") == pytest.approx(100 * MIB)


def test_no_argument_is_kept(tmp_path: Path) -> None:
    job = read(write_log(tmp_path / "one", SHARED))
    assert "hunter2" not in repr(job)
    assert "/work/out" not in repr(job)


def test_an_incomplete_module_flags_what_is_made_of_it(tmp_path: Path) -> None:
    made = Made(SHARED.records, partial=("POSIX",))
    job = read(write_log(tmp_path / "one", made))
    assert job.scalars["own_bytes"].flags == ("incomplete",)
    assert job.scalars["performance_bytes_per_s"].flags == ("incomplete",)
    assert job.scalars["performance_stdio_bytes_per_s"].flags == ()
    assert value(job, "own_bytes") == 410 * MIB


def test_runs_of_one_second_differ(tmp_path: Path) -> None:
    one = read(write_log(tmp_path / "one", SHARED))
    other = Made((moved("POSIX", "/work/other", -1, written=400 * MIB),))
    assert one.key != read(write_log(tmp_path / "two", other)).key
    assert one.key == read(write_log(tmp_path / "again", SHARED)).key


@pytest.mark.parametrize("what", ["a byte", "cut", "ranks", "other"])
def test_damage_is_an_error_with_the_place(tmp_path: Path, what: str) -> None:
    path = write_log(tmp_path / "bad.darshan", SHARED)
    data = bytearray(path.read_bytes())
    if what == "a byte":
        data[-40] ^= 0xFF
    elif what == "cut":
        del data[-60:]
    elif what == "ranks":
        write_log(path, Made((moved("POSIX", "/work/a", 7, written=MIB),)))
        data = bytearray(path.read_bytes())
    else:
        data[8:16] = b"\0" * 8
    path.write_bytes(data)
    with pytest.raises(InputFileError, match=r"bad\.darshan: ") as caught:
        read(path)
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("ranks", [0, -1, 1 << 40])
def test_absurd_numbers_of_processes(tmp_path: Path, ranks: int) -> None:
    path = write_log(tmp_path / "absurd", Made(SHARED.records, ranks=ranks))
    with pytest.raises(InputFileError, match="processes"):
        read(path)


def test_without_pydarshan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_log(tmp_path / "one", SHARED)
    monkeypatch.setattr(darshan_library.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingPartError, match=r"pip install 'iosonde\[darshan\]'"):
        read(path)


def test_recognises_by_content_only(tmp_path: Path) -> None:
    for begin in (b"3.21\0\0\0\0" + b"\0" * 8, b"\x1f\x8b", b"", b"3.21"):
        path = tmp_path / "x.darshan"
        path.write_bytes(begin + b"rest" * 9)
        assert not darshan_log.recognises(head_of(path))


KNOWN = {
    "edison_4478544_vpic_write": ("vpicio_uni", "mpiio", "shared", "write", "/scratch2", 2048),
    "edison_4478544_bdcats_read": ("dbscan_read", "mpiio", "shared", "read", "/scratch2", 2048),
    "edison_6909118_ior_fpp_goodost": ("ior", "posix", "fpp", "write", "/scratch1", 48),
    "imbalanced-io": ("407752450", "mpiio", "shared", "mixed", "/lus/theta-fs0", 496),
    "mpi-io-test-ppc64-3.1.3": ("mpi-io-test", "mpiio", "shared", "mixed", "/projects", 4),
    "mpi-io-test-x86_64-3.0.0": ("mpi-io-test", "mpiio", "shared", "mixed", "/", 4),
    "mpi-io-test-x86_64-3.2.1": ("mpi-io-test", "mpiio", "shared", "mixed", "/", 4),
    "mpi-io-test-x86_64-3.4.7": ("mpi-io-test", "mpiio", "shared", "mixed", "/home", 4),
    "runtime_and_dxt_heatmaps_diagonal_write_only": (
        *("python", "posix", "fpp", "write", "/yellow/users", 32),
    ),
    "snyder_python3_id3116902-2110483_12-19-66980-15861026832475351160_1": (
        *("python3", "posix", "", "read", "/", 1),
    ),
    "treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1": (
        *("mpi-io-test", "mpiio", "shared", "mixed", "/yellow/users", 32),
    ),
}


@needs_recorded
def test_recorded_logs() -> None:
    jobs = {path.stem: job for path, job in jobs_of(recorded()).items()}
    found = {
        name: (job.app, job.api, job.mode, job.direction, job.file_system, job.ranks)
        for name, job in jobs.items()
    }
    assert found == KNOWN
    vpic = jobs["edison_4478544_vpic_write"]
    rates = [value(vpic, f"performance_{layer}_bytes_per_s") for layer in ("mpiio", "posix")]
    assert [round(rate / MIB, 1) for rate in rates if rate] == [24530.3, 24535.3]
    assert value(vpic, "own_bytes") == 2_199_023_259_968
    assert (vpic.job_id, vpic.start_ns) == ("4478544", 1_490_000_867 * 10**9)
    # As the year's table of benchmark jobs has it.
    read_rate = value(jobs["edison_4478544_bdcats_read"], "performance_bytes_per_s")
    assert read_rate is not None
    assert round(read_rate / MIB, 6) == 20615.869434
    assert jobs["mpi-io-test-x86_64-3.4.7"].start_ns == 1_746_769_033_308_287_647
    flagged = {name for name, job in jobs.items() if "incomplete" in job.scalars["own_bytes"].flags}
    assert flagged == {"imbalanced-io"}


@needs_recorded
def test_osts_of_recorded_logs() -> None:
    by_name = {path.stem: path for path in recorded()}
    osts = darshan_log.osts_of(by_name["edison_6909118_ior_fpp_goodost"])
    assert len(osts) == 48
    assert sorted({ost for some in osts.values() for ost in some}) == list(range(24))
    assert darshan_log.osts_of(by_name["mpi-io-test-x86_64-3.0.0"]) == {}


@needs_recorded
def test_rates_are_darshans_own() -> None:
    backend = pytest.importorskip("darshan.backend.cffi_backend")
    report = pytest.importorskip("darshan")
    checked = 0
    for path, job in jobs_of(recorded()).items():
        if path.stem == "imbalanced-io":
            continue  # 2014 records: pydarshan takes seconds for its frames of them
        whole = report.DarshanReport(str(path), read_all=False)
        for module, layer in (("POSIX", "posix"), ("MPI-IO", "mpiio")):
            ours = job.scalars.get(f"performance_{layer}_bytes_per_s")
            if ours is None or module not in whole.modules:
                continue
            whole.mod_read_all_records(module)
            frames = whole.records[module].to_df()
            derived = backend.accumulate_records(frames, module, job.ranks).derived_metrics
            assert ours.value == pytest.approx(derived.agg_perf_by_slowest * MIB, rel=1e-9)
            checked += 1
    assert checked == 17


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Damage behind the magic number."""
    some = bytearray(data)
    at = rng.randrange(16, len(some))
    match rng.randrange(5):
        case 0:
            some[at] ^= 1 << rng.randrange(8)
        case 1:
            for _ in range(20):
                some[rng.randrange(16, len(some))] = rng.randrange(256)
        case 2:
            del some[at:]
        case 3:
            some[at : at + 64] = bytes(len(some[at : at + 64]))
        case _:
            some[at:at] = rng.randbytes(8)
    return bytes(some)
