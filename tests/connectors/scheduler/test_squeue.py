"""squeue: what runs now, and nothing that only waits or is planned."""

from __future__ import annotations

from datetime import UTC

from iosonde.connectors.scheduler import squeue
from iosonde.connectors.source import head_of
from tests.kit.records.connected import survives, take
from tests.kit.samples.latencies import real

HEAD = "JOBID|USER|NAME|STATE|NODELIST|START_TIME|END_TIME|NODES|CPUS"
ROWS = (
    "9|root|waiting|PENDING||2027-11-21T11:20:24|NONE|4|8",
    "8|ann|a|b|c|RUNNING|u[001-002]|2026-11-21T11:20:24|2027-11-21T11:20:24|2|1",
    "7|bob|x|R|n1|1790000000|NONE|1|1",
    "6|bob|x|PD|(Priority)|N/A|N/A|1|1",
    "5|bob|x|RUNNING",
    "8|ann|a|b|c|RUNNING|u[001-002]|2026-11-21T11:20:24|2027-11-21T11:20:24|2|1",
)


def test_jobs_that_run(tmp_path):
    path = tmp_path / "q.txt"
    path.write_text("\n".join((HEAD, *ROWS, HEAD)) + "\n")
    assert squeue.recognises(head_of(path))
    out = take(squeue, path, zone=UTC)
    first, second = out.jobs
    assert (first.job_id, first.user, first.name) == ("8", "ann", "a|b|c")
    assert first.node_names == ("u001", "u002")
    assert first.end_ns is None, "the end is that of the time limit"
    assert first.state == second.state == "RUNNING"
    assert second.start_ns == 1790000000 * 10**9
    assert "fields of 9" in out.told[0]
    assert len(out.told) == 1


def test_a_real_list():
    out = take(squeue, real("nfs/squeue.txt"), zone=UTC)
    assert [(job.job_id, job.node_names, job.end_ns) for job in out.jobs] == [
        ("8", ("u001",), None),
        ("10", ("u001",), None),
    ]
    assert not out.told


def test_mutated(tmp_path):
    survives(squeue, tmp_path / "q.txt", "\n".join((HEAD, *ROWS)).encode(), zone=UTC)
