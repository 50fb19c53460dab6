"""Forms of Lustre's texts that servers of today print: histograms in job_stats, escaped names of jobs."""

from __future__ import annotations

import pytest

from iosonde.connectors.lustre import job_stats
from iosonde.model.jobs import Job
from tests.python.lmt_files import Got

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
