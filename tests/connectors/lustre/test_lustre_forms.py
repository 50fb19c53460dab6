"""Forms of Lustre's texts that servers of today print: histograms in job_stats, escaped names of jobs."""

from __future__ import annotations

import io
import tarfile

import pytest

from iosonde.connectors.lustre import job_stats, proc
from iosonde.model.jobs import Job
from tests.kit.records.connected import take
from tests.kit.records.lmt_files import Got

T0 = 1790000000


def job(name="4711", at=T0, written=(20, 1 << 20)):
    """An entry of 2.15: start and elapsed time, squares, and a histogram of sizes."""
    ops, size = written
    return (
        f"- job_id:          {name}\n"
        f"  snapshot_time:   {at}.000000001 secs.nsecs\n"
        f"  start_time:      {T0 - 9}.500000000 secs.nsecs\n"
        "  elapsed_time:    9.500000001 secs.nsecs\n"
        "  read_bytes:      { samples:           0, unit: bytes, min:        0, max:        0, "
        "sum:                0, sumsq:                  0, hist: {  } }\n"
        f"  write_bytes:     {{ samples: {ops:11}, unit: bytes, min: {size:8}, max: {size:8}, "
        f"sum: {ops * size:16}, sumsq: {ops * size * size:18}, hist: {{ 4K: 3, 1M: {ops} }} }}\n"
        f"  write:           {{ samples: {ops:11}, unit: usecs, min:       11, max:      900, "
        "sum:              911, sumsq:             810121, hist: { 16: 1, 1K: 1 } }\n"
        "  getattr:         { samples:           2, unit: usecs, min:        1, max:        3, "
        "sum:                4, sumsq:                 10 }\n"
    )


def test_a_histogram_behind_a_counter_takes_nothing_with_it(tmp_path):
    path = tmp_path / "jobs"
    path.write_text(f"obdfilter.work-OST0000.job_stats=\njob_stats:\n{job()}")
    got = Got(job_stats, path)
    (one,) = [item for item in got.items if isinstance(item, Job)]
    assert [error.what for error in got.told if "snapshot" not in error.what] == []
    assert one.scalars["own_written_bytes"].value == 20 << 20
    assert one.scalars["own_read_bytes"].value == 0
    assert one.scalars["own_writes"].value == 20


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ('"4711:1000:n\\x2Fa"', "4711"),
        ('"my\\x20job:7"', "my job:7"),
        ('"a\\x0Ab:c"', "a\\x0Ab:c"),
        ('"\\xFF\\x1B[2J:c"', "\\xFF\\x1B[2J:c"),
    ],
)
def test_escaped_bytes_in_names_of_jobs(tmp_path, written, name):
    path = tmp_path / "jobs"
    path.write_text(f"job_stats:\n{job(written)}")
    (one,) = Got(job_stats, path, system="work").items
    assert one.job_id == name


def jobs_file(path, at, moved, ost="work-OST0000", begin=True):
    stamp = f"BEGIN {at}\n" if begin else ""
    path.write_text(f"{stamp}obdfilter.{ost}.job_stats=\njob_stats:\n{job(at=at, written=moved)}")
    return path


def test_snapshots_of_jobs_in_files_of_their_own_belong_together(tmp_path):
    one = jobs_file(tmp_path / "a", T0, (20, 1 << 20), begin=False)
    two = jobs_file(tmp_path / "b", T0 + 60, (50, 1 << 20), begin=False)
    out = take(job_stats, [two, one])
    assert out.told == []
    (steps,) = [b for b in out.blocks if b.metric == "written_bytes"]
    assert (steps.value.tolist(), steps.step_ns.tolist()) == ([[30 << 20]], [60 * 10**9])
    (whole,) = out.jobs
    assert whole.scalars["own_written_bytes"].value == 50 << 20


def test_servers_that_were_asked_one_after_the_other_are_one_snapshot(tmp_path):
    paths = [
        jobs_file(tmp_path / f"{server}-{n}", T0 + 3600 * n + server, (10 + n, 1 << 20), ost)
        for n in range(3)
        for server, ost in enumerate(("work-OST0000", "work-OST0001"))
    ]
    out = take(job_stats, paths)
    (steps,) = [b for b in out.blocks if b.metric == "written_bytes"]
    assert steps.value.tolist() == [[2 << 20], [2 << 20]]
    assert steps.time_ns.tolist() == [(T0 + 1) * 10**9, (T0 + 3601) * 10**9]


def test_file_systems_have_snapshots_of_their_own(tmp_path):
    paths = [
        jobs_file(
            tmp_path / f"{system}-{n}", T0 + 3600 * n + late, (10 + n, 1), f"{system}-OST0000"
        )
        for n in range(2)
        for system, late in (("home", 0), ("work", 900))
    ]
    steps = {b.system: b for b in take(job_stats, paths).blocks if b.metric == "written_bytes"}
    assert {system: block.value.tolist() for system, block in steps.items()} == {
        "home": [[1]],
        "work": [[1]],
    }
    assert steps["work"].time_ns.tolist() == [(T0 + 900) * 10**9]


def tree(path, at, total, ost="work-OST0000"):
    """A tar archive with one snapshot of a server."""
    text = f"snapshot_time {at}.5 secs.nsecs\nwrite_bytes {total} samples [bytes] 1 1 {total} {total}\n"
    with tarfile.open(path, "w") as tar:
        info = tarfile.TarInfo(f"proc/fs/lustre/obdfilter/{ost}/stats")
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text.encode()))
    return path


def test_a_snapshot_a_tar_archive(tmp_path):
    paths = [tree(tmp_path / f"{n}.tar", T0 + 60 * n, 1000 + n * n) for n in range(3)]
    out = take(proc, paths[::-1])
    assert out.told == []
    steps = out.series("written_bytes", "work-OST0000")
    assert [(step, value) for _, step, value in steps] == [(60 * 10**9, 1), (60 * 10**9, 3)]
    alone = take(proc, [paths[0], tree(tmp_path / "other.tar", T0, 7, "work-OST0001")])
    assert "and 1 more is one snapshot" in alone.told[0]


SIZES = {
    "kbytestotal": 1000,
    "kbytesfree": 400,
    "kbytesavail": 300,
    "filestotal": 50,
    "filesfree": 20,
}


@pytest.mark.parametrize("packed", [False, True])
def test_pages_that_zero_bytes_fill_up(tmp_path, packed):
    """Lustre 2.15's /sys, copied page by page."""
    files = {
        f"{osd}/work-{target}/{name}": f"{value}\n".encode().ljust(4096, b"\0")
        for osd, target in (("osd-ldiskfs", "OST0000"), ("osd-zfs", "MDT0001"))
        for name, value in SIZES.items()
    }
    if packed:
        path = tmp_path / "x.tar"
        with tarfile.open(path, "w") as tar:
            for name, data in files.items():
                info = tarfile.TarInfo(f"sys/fs/lustre/{name}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    else:
        path = tmp_path / "copy"
        for name, data in files.items():
            file = path / "sys/fs/lustre" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    out = take(proc, path)
    assert out.told == []
    for target in ("work-OST0000", "work-MDT0001"):
        assert out.values("total_bytes", target) == [1000 * 1024]
        assert out.values("used_bytes", target) == [600 * 1024]
        assert out.values("available_bytes", target) == [300 * 1024]
        assert out.values("used_inodes", target) == [30]
