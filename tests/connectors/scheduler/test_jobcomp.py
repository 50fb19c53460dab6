"""Slurm's log of completed jobs, and what scontrol says of those it knows."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from iosonde.connectors.scheduler import jobcomp
from iosonde.connectors.sources import connector_of
from tests.kit.records.connected import survives, take

LOG = """\
JobId=24 UserId=root(0) GroupId=root(0) Name=a job=2 x JobState=COMPLETED Partition=debug TimeLimit=UNLIMITED \
StartTime=2026-02-26T14:35:32 EndTime=2026-02-26T14:36:02 NodeList=n[1-2,7] NodeCnt=3 ProcCnt=8 WorkDir=/root \
ReservationName= Tres=cpu=8 Account=phys QOS=normal WcKey= Cluster=unknown SubmitTime=2026-02-26T14:35:31 \
EligibleTime=2026-02-26T14:35:31 DerivedExitCode=0:0 ExitCode=1:9
JobId=25 UserId=ann(1000) GroupId=ann(1000) Name=b JobState=CANCELLED Partition=debug TimeLimit=600 \
StartTime=Unknown EndTime=2026-02-26T14:36:02 NodeList=(null) NodeCnt=0 ProcCnt=0 WorkDir=/root ExitCode=0:0
"""
SHOWN = """\
JobId=31 ArrayJobId=30 ArrayTaskId=1 JobName=array
   UserId=ann(1000) GroupId=ann(1000) MCS_label=N/A
   JobState=RUNNING Reason=None Dependency=(null)
   RunTime=00:01:02 TimeLimit=01:00:00 TimeMin=N/A
   StartTime=2026-02-26T14:35:32 EndTime=2026-02-26T15:35:32 Deadline=N/A
   NodeList=n[1-2]
   NumNodes=2-2 NumCPUs=4 NumTasks=4 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   Account=phys ExitCode=0:0

JobId=32 JobName=b UserId=ann(1000) JobState=PENDING StartTime=Unknown EndTime=Unknown NodeList=
"""


def test_completed_jobs(tmp_path):
    path = tmp_path / "log"
    path.write_text(LOG)
    assert connector_of(path) is jobcomp
    out = take(jobcomp, path, zone=ZoneInfo("Europe/Berlin"))
    assert (out.told, out.ended) == ([], None)
    one, two = out.jobs
    assert (one.job_id, one.name, one.user, one.account, one.system, one.state) == (
        *("24", "a job=2 x", "root", "phys"),
        *("", "COMPLETED"),
    )
    assert one.node_names == ("n1", "n2", "n7")
    assert one.start_ns == 1772112932 * 10**9
    assert one.scalars["duration_s"].value == 30
    assert (one.scalars["exit_code"].value, one.scalars["exit_signal"].value) == (1, 9)
    assert (two.state, two.start_ns, two.nodes, two.node_names) == ("CANCELLED", None, 0, ())


def test_what_scontrol_shows(tmp_path):
    path = tmp_path / "log"
    path.write_text(SHOWN)
    assert connector_of(path) is jobcomp
    running, waiting = take(jobcomp, path).jobs
    assert (running.job_id, running.end_ns, running.nodes, running.name) == ("31", None, 2, "array")
    assert running.scalars["duration_s"].value is None
    assert (waiting.state, waiting.start_ns) == ("PENDING", None)


def test_bad_records_have_their_place(tmp_path):
    path = tmp_path / "log"
    path.write_text(LOG + "garbage\n\nmore\n" + LOG.splitlines()[0] + "\nJobId=3 UserId=x\n")
    out = take(jobcomp, path)
    assert len(out.jobs) == 2
    assert [told.partition(": ")[0] for told in out.told] == [
        *(f"{path}, line {n}" for n in (5, 6, 7))
    ]


def test_mutated_logs_end_in_messages(tmp_path):
    survives(jobcomp, tmp_path / "log", (LOG + SHOWN).encode(), 150)
