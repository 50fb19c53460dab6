"""Text of darshan-parser: the same Job as the log, whatever part of it was printed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.connectors.darshan import log as darshan_log
from iosonde.connectors.darshan import text as darshan_text
from iosonde.connectors.source import Settings, head_of
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job, Scalar
from tests.kit.records.darshan_made import (
    MIB,
    Made,
    Record,
    jobs_of,
    moved,
    needs_recorded,
    recorded,
    text_of,
    write_log,
)

MADE = Made(
    (
        moved("POSIX", "/work/deep/in", 0, read=8 * MIB, F_META_TIME=0.25, SEQ_READS=4),
        *(moved("POSIX", f"/work/out.{n}", n, written=100 * MIB) for n in range(4)),
        *(moved("MPI-IO", f"/work/out.{n}", n, written=100 * MIB) for n in range(4)),
        moved("STDIO", "<STDERR>", 2, written=MIB),
        moved("STDIO", "/home/log", 2, written=MIB),
    ),
    partial=("MPI-IO",),
)


def parsed(text: str, path: Path) -> tuple[Job, list[str]]:
    path.write_text(text)
    told: list[InputFileError] = []
    (job,) = darshan_text.read(path, Settings(), told.append)
    assert isinstance(job, Job)
    return job, [str(error) for error in told]


def same(one: Job, other: Job) -> None:
    """But for times, which text has to six digits, and instants, which it has to the second."""
    for name in (
        "job_id",
        "step",
        "user",
        "app",
        "api",
        "mode",
        "direction",
        "file_system",
        "ranks",
    ):
        assert getattr(one, name) == getattr(other, name), name
    assert one.scalars.keys() == other.scalars.keys()
    for name, scalar in one.scalars.items():
        twin = other.scalars[name]
        if scalar.value is not None:
            assert twin.value == pytest.approx(scalar.value, rel=1e-3, abs=1e-4), name
        if scalar.value is None or scalar.unit in ("bytes", "operations", "files", "log10"):
            assert twin.value == scalar.value, name
        assert twin[1:] == scalar[1:], name


def test_the_same_as_the_log(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log", MADE)
    (whole,) = darshan_log.read(log, Settings(), pytest.fail)
    assert isinstance(whole, Job)
    assert (whole.mode, whole.direction, whole.api) == ("fpp", "write", "mpiio")
    job, told = parsed(text_of(MADE, total=True, perf=True), tmp_path / "text")
    assert not told
    assert darshan_text.recognises(head_of(tmp_path / "text"))
    assert not darshan_text.recognises(head_of(log))
    same(whole, job)
    assert job.key == whole.key
    assert "hunter2" not in repr(job)


def test_gzip(tmp_path: Path) -> None:
    job, _ = parsed(text_of(MADE), tmp_path / "text")
    packed = tmp_path / "text.gz"
    packed.write_bytes(gzip.compress(text_of(MADE).encode()))
    assert darshan_text.recognises(head_of(packed))
    (other,) = darshan_text.read(packed, Settings(), pytest.fail)
    assert other == job
    packed.write_bytes(gzip.compress(text_of(MADE).encode())[:-300])
    with pytest.raises(InputFileError):
        list(darshan_text.read(packed, Settings(), lambda _: None))


def test_sums_alone(tmp_path: Path) -> None:
    job, told = parsed(text_of(MADE, base=False, total=True, perf=True), tmp_path / "text")
    assert not told
    assert (job.mode, job.direction, job.api, job.file_system) == ("", "write", "posix", "")
    values = {name: scalar.value for name, scalar in job.scalars.items()}
    assert values["own_written_bytes"] == 400 * MIB
    assert values["own_stats"] == 0
    assert values["own_files"] is None
    assert values["performance_bytes_per_s"] == pytest.approx(100 * MIB)
    assert values["performance_mpiio_bytes_per_s"] == pytest.approx(100 * MIB)


def test_rates_alone(tmp_path: Path) -> None:
    job, told = parsed(text_of(MADE, base=False, perf=True), tmp_path / "text")
    assert not told
    assert job.scalars["performance_bytes_per_s"].value == pytest.approx(100 * MIB)
    assert job.scalars["own_bytes"].value is None


def test_a_whole_run_time_of_older_versions(tmp_path: Path) -> None:
    text = text_of(MADE).replace("# run time: 117.0000", "# run time: 117")
    assert parsed(text, tmp_path / "text")[0].scalars["duration_s"].value == 117


def test_lines_that_are_no_good_are_told_of(tmp_path: Path) -> None:
    lines = text_of(MADE).splitlines()
    at = next(n for n, line in enumerate(lines) if "POSIX_BYTES_READ\t" in line)
    first = lines[at].split("\t")
    bad = {
        "nan": "\t".join([*first[:3], "POSIX_BYTES_READ", "nan", *first[5:]]),
        "inf": "\t".join([*first[:3], "POSIX_BYTES_READ", "1e999", *first[5:]]),
        "junk": "\t".join([*first[:3], "POSIX_BYTES_READ", "\x00\x1b[2J", *first[5:]]),
        "rank": "\t".join([first[0], "99", *first[2:]]),
        "id": "\t".join([*first[:2], "9" * 30, *first[3:]]),
        "columns": "POSIX\t0",
    }
    for name, line in bad.items():
        changed = lines.copy()
        if name in ("nan", "inf", "junk"):
            changed[at] = line
        else:
            changed.append(line)
        job, told = parsed("\n".join(changed) + "\n", tmp_path / name)
        assert len(told) == 1, name
        assert ", line " in told[0]
        assert "\x1b" not in told[0]
        assert job.scalars["own_written_bytes"].value == 401 * MIB
        missing = name in ("nan", "inf", "junk")
        assert ("missing" in job.scalars["own_read_bytes"].flags) == missing


def test_the_same_record_again(tmp_path: Path) -> None:
    lines = text_of(MADE).splitlines()
    rows = [line for line in lines if line.startswith("POSIX\t0")]
    job, told = parsed("\n".join(lines + rows[:3]) + "\n", tmp_path / "text")
    assert len(told) == 1
    assert "again" in told[0]
    assert job.scalars["own_read_bytes"].value == 8 * MIB


def test_dxt_is_left_out_and_counted(tmp_path: Path) -> None:
    dxt = "# DXT, file_id: 1, file_name: /work/a\n X_POSIX  0  write  0  0  16  0.1  0.2\n" * 3
    job, told = parsed(text_of(MADE) + dxt, tmp_path / "text")
    assert len(told) == 1
    assert "6 lines of DXT" in told[0]
    assert job.scalars["own_written_bytes"].value == 401 * MIB


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("# darshan log version: 2.05\n", "first line"),
        ("# darshan log version: 3.21\n# exe: a\n", "nprocs"),
        ("# darshan log version: 3.21\n# nprocs: 99999999999\n", "processes"),
        (text_of(MADE)[:-20], "within a line"),
        ("\n".join(text_of(MADE).splitlines()[:-5]) + "\n", "within a record"),
        (text_of(MADE).partition("# STDIO module data")[0], "before the data of STDIO"),
        (text_of(MADE) * 2, "second log"),
    ],
)
def test_texts_that_give_no_job(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InputFileError, match=why):
        parsed(text, tmp_path / "text")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_mutated_text_is_an_error_or_a_job(tmp_path: Path, data: st.DataObject) -> None:
    text = bytearray(text_of(MADE).encode())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(text) - 1))
        junk = data.draw(st.binary(max_size=12) | st.sampled_from([b"\t", b"\n", b"-9e99", b"nan"]))
        text[at : at + data.draw(st.integers(0, 40))] = junk
    path = tmp_path / "text"
    path.write_bytes(text)
    try:
        (job,) = darshan_text.read(path, Settings(), lambda _: None)
    except InputFileError:
        return
    assert isinstance(job, Job)
    for scalar in job.scalars.values():
        assert isinstance(scalar, Scalar)
        assert scalar.value is None or 0 <= scalar.value < 1e30 or scalar.unit == "log10"


@needs_recorded
def test_text_of_recorded_logs(tmp_path: Path) -> None:
    """The text is made here from what pydarshan itself reads, of every log."""
    backend = pytest.importorskip("darshan.backend.cffi_backend")
    for path, whole in jobs_of(recorded()).items():
        job, told = parsed(_text_from(backend, path), tmp_path / "text")
        assert not told
        same(whole, job)


def _text_from(backend: object, path: Path) -> str:
    b = backend
    log = b.log_open(str(path))
    about, files = b.log_get_job(log), b.log_get_name_records(log)
    mounts = [m for m in b.log_get_mounts(log) if m[1] != "autofs"]
    made: list[Record] = []
    modules = b.log_get_modules(log)
    for module in ("POSIX", "MPI-IO", "STDIO"):
        prefix = {"MPI-IO": "MPIIO_"}.get(module, f"{module}_")
        while module in modules and (one := b.log_get_record(log, module, "dict")) is not None:
            values = {k.removeprefix(prefix): v for k, v in one["counters"].items()}
            values |= {k.removeprefix(prefix): v for k, v in one["fcounters"].items()}
            made.append(Record(module, files[one["id"]], one["rank"], values, one["id"]))
    b.log_close(log)
    text = text_of(
        Made(
            tuple(made),
            ranks=about["nprocs"],
            exe=b.log_get_exe(b.log_open(str(path))),
            job_id=about["jobid"],
            uid=about["uid"],
            start=about["start_time_sec"],
            end=about["end_time_sec"],
            partial=tuple(m for m in modules if modules[m]["partial_flag"]),
            mounts=tuple(mounts),
        )
    )
    before, _, after = text.partition("# run time: ")
    return f"{before}# run time: {about['run_time']:.4f}\n{after.partition(chr(10))[2]}"
