"""The doctor's judgement of others, of the agent and of its store."""

from __future__ import annotations

import re
import socket

import pytest

from iosonde.doctor.checks import CHECKS
from iosonde.doctor.finding import Findings
from iosonde.doctor.gather.agent import parse_metrics
from iosonde.doctor.judge.agent import judge_heard, judge_metrics, judge_process
from iosonde.doctor.judge.others import judge_others
from iosonde.doctor.judge.store import judge_apart, judge_durable, judge_store
from iosonde.doctor.judge.target import judge_state
from iosonde.host import child as expendable
from tests.kit.commands import run
from tests.kit.host.doctor_makers import MOUNTS, NOW, SECOND, levels, said, state


def test_who_else_probes_and_who_left():
    found = Findings("t")
    minute, month = NOW - 60 * SECOND, NOW - 30 * 86_400 * SECOND
    others = [
        {"path": "/work/.iosonde-0/login3", "host": "login3", "written_ns": minute},
        {"path": "/work/.iosonde-0/login4", "host": "login4", "written_ns": minute},
        {"path": "/w/old", "host": "old", "written_ns": month, "data_bytes": 1 << 30},
    ]
    judge_others(found, {"others": others}, [state(host="login3")], [state()], NOW)
    probes = said(found, "other-probes")
    assert probes.level == "note"
    assert probes.found["hosts"] == ["login3", "login4"]
    assert probes.found["known_operations_per_second"] == 12
    assert said(found, "abandoned-places").found == {"places": ["/w/old"], "bytes": 1 << 30}


def test_alone_on_a_target():
    found = Findings("t")
    judge_others(found, {"others": []}, [], [state()], NOW)
    assert set(levels(found).values()) == {"ok"}


def test_what_this_user_may_not_see_is_said():
    found = Findings("t")
    judge_others(found, {"others": [], "closed": [".iosonde-7"]}, [], [], NOW)
    assert said(found, "other-probes").says.endswith("may not look into .iosonde-7")


@pytest.mark.parametrize(
    ("changed", "level"),
    [
        ({}, "ok"),
        ({"written_ns": NOW - 60 * SECOND}, "warning"),
        ({"written_ns": NOW - 60 * SECOND, "period_ns": 30 * SECOND}, "ok"),
        ({"running": False}, "note"),
        ({"state": "damaged", "written_ns": None, "error": "not JSON"}, "problem"),
    ],
)
def test_when_the_agent_was_heard_of(changed, level):
    found = Findings("agent")
    judge_heard(found, [state(**changed)], NOW)
    assert levels(found) == {"agent-heard": level}


def metrics(page, **changed):
    found = Findings("agent")
    reply = expendable.Reply({"metrics": parse_metrics(page)})
    facts = {"address": "127.0.0.1:1", "version": "1.2.3", "now_s": 2000.0, "running": True}
    judge_metrics(found, reply, **(facts | changed))
    return found


PAGE = """\
iosonde_build_info{version="1.2.3"} 1
process_cpu_seconds_total 4.0
process_resident_memory_bytes 10485760
process_start_time_seconds 1000
iosonde_spool_waiting_rows 0
iosonde_spool_dropped_rows_total 0
"""


def test_an_agent_that_listens():
    found = metrics(PAGE)
    assert set(levels(found).values()) == {"ok"}
    assert "4.0 ms of CPU time each second and 10 MiB" in said(found, "agent-cost").says
    assert levels(metrics(PAGE, version="1.3"))["agent-version"] == "warning"
    dropped = PAGE.replace("rows_total 0", "rows_total 5")
    assert levels(metrics(dropped))["agent-rows"] == "problem"
    assert levels(metrics(PAGE, now_s=1010.0))["agent-cost"] == "warning"
    assert levels(metrics("somebody_else 1\n")) == {"agent-version": "note"}
    steps = [
        levels(metrics(f"{PAGE}iosonde_clock_steps_total {n}\n"))["agent-clock"] for n in (0, 2)
    ]
    assert steps == ["ok", "note"]


def test_the_process_behind_a_place():
    process = {
        "pid": 7,
        "name": "iosonde-agent",
        "program": "/usr/bin/iosonde-agent",
        "mount_namespace": "mnt:[1]",
        "own_mount_namespace": "mnt:[1]",
        "cpu_stat": "nr_periods 1000\nnr_throttled 0\nthrottled_time 0\n",
    }

    def judged(**changed):
        found = Findings("t")
        judge_process(found, process | changed)
        return levels(found)

    assert judged() == {"agent-process": "ok", "agent-throttled": "ok"}
    assert judged(program="/usr/bin/iosonde-agent (deleted)")["agent-process"] == "warning"
    assert judged(mount_namespace="mnt:[2]")["agent-process"] == "note"
    assert judged(cpu_stat="nr_periods 100\nnr_throttled 5\n")["agent-throttled"] == "warning"
    assert judged(cpu_stat=None, mount_namespace=None) == {}


def store(**changed):
    hour = 3600 * SECOND
    facts = {
        "exists": True,
        "space": {"total_bytes": 100 << 30, "free_bytes": 50 << 30},
        "states": [state()],
        "spool": [{"written_ns": NOW - hour, "bytes": 100}],
        "days": {"2027-01-13": 1 << 20, "2027-01-14": 1 << 20},
    }
    found = Findings("store")
    judge_store(found, facts | changed, NOW, facts["states"])
    return found


@pytest.mark.parametrize(
    ("keep", "level", "says"),
    [
        (None, "note", "room for 10 more"),
        ({"max_age_ns": None, "max_bytes": None}, "note", "has no limit, and leaves 256 MiB free"),
        ({"max_age_ns": 2_592_000 * SECOND, "max_bytes": None}, "ok", "the agent keeps 30 days"),
        ({"max_age_ns": None, "max_bytes": 20 << 30}, "ok", "the agent keeps at most 20 GiB"),
    ],
)
def test_whether_the_store_has_a_limit_is_the_agents_to_say(keep, level, says):
    kept = None if keep is None else keep | {"min_free_bytes": 256 << 20}
    facts = {"space": {"total_bytes": 100 << 30, "free_bytes": 50 << 30}}
    facts |= {"days": {"2027-01-14": 5 << 30}}
    found = Findings("store")
    judge_store(found, facts, NOW, [state(keep=kept)])
    assert levels(found)["store-retention"] == level
    assert says in said(found, "store-retention").says
    stopped = Findings("store")
    judge_store(stopped, facts, NOW, [state(keep=kept, running=False)])
    assert levels(stopped)["store-retention"] == "note"


@pytest.mark.parametrize(
    ("id", "level", "changed"),
    [
        ("store-space", "problem", {"space": {"total_bytes": 100 << 30, "free_bytes": 1 << 28}}),
        ("store-spool", "warning", {"spool": [{"written_ns": NOW - 10_000 * SECOND, "bytes": 9}]}),
        ("store-retention", "note", {"days": {"2027-01-14": 20 << 30}}),
        ("store-private", "warning", {"open": ["jobs", "runs"]}),
        ("store-names", "warning", {"states": [state(namesake_ns=NOW)]}),
        ("store-clock", "warning", {"states": [state(written_ns=NOW + 60 * SECOND)]}),
    ],
)
def test_a_store_with_a_fault(id, level, changed):
    assert set(levels(store()).values()) == {"ok"}
    found = levels(store(**changed))
    assert {id: level for id, level in found.items() if level != "ok"} == {id: level}


def test_a_store_on_a_target():
    found = Findings("store")
    judge_apart(found, "/work/store", MOUNTS, {"/work": "/work/project", "/home": "/home"})
    judge_apart(found, "/var/lib/iosonde", MOUNTS, {"/work": "/work"})
    assert [(f.level, f.found["targets"]) for f in found.all] == [
        ("problem", ["/work"]),
        ("ok", []),
    ]


@pytest.mark.parametrize(
    ("path", "level"), [("/fast/store", "warning"), ("/merged", "warning"), ("/scratch", "ok")]
)
def test_a_store_that_does_not_last(path, level):
    found = Findings("store")
    judge_durable(found, path, MOUNTS)
    assert levels(found) == {"store-durable": level}


def test_what_the_probe_says_of_its_ops():
    def judged(op_state, busy=False):
        found = Findings("t")
        op = {"op": "md_create", "state": op_state, "host_busy": busy}
        judge_state(found, state(state=op_state, ops=[op]))
        return levels(found)

    assert judged("hung") == judged("failing") == {"target-state": "problem"}
    assert judged("slow", busy=True) == {"target-state": "note"}
    assert judged("ok") == {"target-state": "ok"}


def test_no_agent_is_said_in_words(tmp_path, capsys):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        run("doctor", str(tmp_path), "--agent", address, store=tmp_path)
    out = capsys.readouterr().out
    assert f"no agent answers at {address} (Connection refused)" in out
    assert "Errno" not in out


def test_no_advice_points_at_another_line():
    """With ``-q`` that line may not be there."""
    others = "|".join(CHECKS)
    assert not [
        id for id, check in CHECKS.items() if re.search(rf"as for ({others})", check.advice)
    ]
