"""The doctor's judgement on recorded texts, his patience with what hangs, and his command."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

import iosonde
from iosonde.measure import expendable
from iosonde.measure.doctor.checks import CHECKS
from iosonde.measure.doctor.examine import choose
from iosonde.measure.doctor.finding import Findings, size
from iosonde.measure.doctor.gather_agent import parse_metrics
from iosonde.measure.doctor.gather_place import MARK, holder, slug
from iosonde.measure.doctor.judge_agent import judge_heard, judge_metrics, judge_process
from iosonde.measure.doctor.judge_host import judge_host
from iosonde.measure.doctor.judge_options import judge_options
from iosonde.measure.doctor.judge_others import judge_others
from iosonde.measure.doctor.judge_place import judge_places
from iosonde.measure.doctor.judge_stat import judge_stat
from iosonde.measure.doctor.judge_store import judge_apart, judge_store
from iosonde.measure.doctor.judge_target import judge_answer, judge_mount, judge_state
from iosonde.measure.doctor.mounts import missing_mount, mount_of, parse_mountinfo
from tests.python import recorded
from tests.python.commands import put, run

SECOND = 1_000_000_000
NOW = 1_800_000_000 * SECOND
MOUNTS = parse_mountinfo(recorded.TABLE)


def levels(found):
    return {finding.id: finding.level for finding in found.all}


def said(found, id):
    (finding,) = [finding for finding in found.all if finding.id == id]
    return finding


def options_of(path):
    found = Findings("target")
    judge_options(found, mount_of(MOUNTS, path))
    return found


# --- mounts -----------------------------------------------------------------------------------


def test_the_mount_table_is_read_as_it_is_written():
    by_point = {mount.point: mount for mount in MOUNTS}
    assert len(MOUNTS) == len(recorded.TABLE.splitlines())
    assert by_point["/with space"].source == "/dev/disk one"
    assert by_point["/bound"].root == "/srv/data"
    assert by_point["/home"].options["vers"] == "4.2"
    assert by_point["/home"].number("timeo") == 600
    assert by_point["/home"].number("vers") is None
    assert "rw" not in by_point["/broken"].options
    assert parse_mountinfo("nonsense\n1 2 3\n\x00\n27 1 254:0 / / rw -\n") == []


def test_a_path_lies_on_the_longest_mount_above_it_and_on_the_latest_of_equals():
    assert mount_of(MOUNTS, "/work/project").kind == "lustre"
    assert mount_of(MOUNTS, "/workshop").point == "/"
    over = parse_mountinfo(recorded.LUSTRE + "\n" + recorded.TMPFS.replace("/fast", "/work"))
    assert mount_of(over, "/work").kind == "tmpfs"
    assert mount_of([], "/") is None


def test_a_mount_that_fstab_promises_and_the_table_lacks_is_a_problem():
    fstab = (
        "# comment\n/dev/vda / ext4 defaults\nfiler:/gone /gone nfs defaults 0 0\nx none swap sw\n"
    )
    assert missing_mount(fstab, MOUNTS, "/gone/project") == "/gone"
    assert missing_mount(fstab, MOUNTS, "/gonewith") is None
    assert missing_mount(fstab, MOUNTS, "/home") is None
    found = Findings("t")
    root = mount_of(MOUNTS, "/")
    judge_mount(found, "/gone", root, root, "/gone")
    assert levels(found)["target-mount"] == "problem"


@pytest.mark.parametrize(
    ("path", "level"),
    [("/tmp", "warning"), ("/bound/x", "warning"), ("/work/x", "ok"), ("/", "ok")],
)
def test_the_root_file_system_is_named(path, level):
    found = Findings("t")
    judge_mount(found, path, mount_of(MOUNTS, path), mount_of(MOUNTS, "/"), None)
    assert levels(found)["target-mount"] == level


@pytest.mark.parametrize(
    ("path", "level"),
    [
        ("/work", "ok"),
        ("/fast", "problem"),
        ("/merged", "warning"),
        ("/net", "warning"),
        ("/ssh", "ok"),
    ],
)
def test_what_is_no_storage_is_named(path, level):
    found = Findings("t")
    judge_mount(found, path, mount_of(MOUNTS, path), mount_of(MOUNTS, "/"), None)
    assert levels(found)["target-file-system"] == level
    assert levels(found)["target-read-only"] == "ok"


def test_a_file_system_that_turned_read_only_is_a_problem():
    found = Findings("t")
    judge_mount(found, "/broken", mount_of(MOUNTS, "/broken"), mount_of(MOUNTS, "/"), None)
    assert levels(found)["target-read-only"] == "problem"


def test_nfs_as_most_have_it_is_well():
    found = options_of("/home")
    assert set(levels(found).values()) == {"ok"}
    assert said(found, "nfs-hard").found["gives_up_s"] == 180
    assert said(found, "nfs-connections").found["connections"] == 4
    assert said(found, "nfs-attributes").found["believed_max_s"] == 60


def test_nfs_soft_over_udp_with_a_local_cache():
    found = options_of("/old")
    bad = {id: level for id, level in levels(found).items() if level != "ok"}
    assert bad == {
        "nfs-hard": "warning",
        "nfs-version": "warning",
        "nfs-attributes": "note",
        "fs-cache": "warning",
    }
    assert said(found, "nfs-hard").found["gives_up_s"] == pytest.approx(4.4)
    assert "lookupcache=positive" in said(found, "nfs-attributes").says


def test_nfs_without_an_attribute_cache():
    found = options_of("/exact")
    assert "every stat asks the server" in said(found, "nfs-attributes").says
    assert levels(found)["mount-sync"] == "note"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/work", {"lustre-locks": "ok", "lustre-statfs": "ok", "parallel-servers": "note"}),
        ("/lfs2", {"lustre-locks": "note", "lustre-statfs": "warning"}),
        ("/gpfs", {"parallel-servers": "note", "mount-atime": "ok"}),
        ("/ceph", {"ceph-async": "note", "fs-cache": "ok"}),
        ("/share", {"smb-cache": "warning"}),
        ("/ssh", {"fuse-daemon": "note"}),
        ("/scratch", {"local-barriers": "ok", "mount-atime": "ok"}),
        ("/broken", {"local-barriers": "warning"}),
        ("/strict", {"mount-atime": "note", "mount-sync": "note", "local-barriers": "ok"}),
    ],
)
def test_other_types(path, expected):
    found = levels(options_of(path))
    assert {id: found.get(id) for id in expected} == expected
    assert not any(id.startswith("nfs-h") for id in found)


def test_small_reads_of_a_fuse_daemon_are_named():
    assert "64 KiB" in said(options_of("/ssh"), "fuse-daemon").says.replace("64.0", "64")


# --- host ------------------------------------------------------------------------------------


def host_facts(**changed):
    facts = {
        "clock_source": "tsc",
        "clock_sources": "tsc hpet",
        "clock_cost_ns": 60,
        "timer_late_ns": [80_000] * 20,
        "cpus": 8,
        "loadavg": "0.50 0.40 0.30 1/100 5",
        "pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
        "meminfo": recorded.MEMINFO,
        "clock_sync": {
            "state": 0,
            "status": 1,
            "offset_ns": -20_000,
            "max_error_ns": 3_000_000,
            "estimated_error_ns": 1000,
        },
        "stat_before": recorded.STAT.format(user=0, steal=0),
        "stat_after": recorded.STAT.format(user=20, steal=0),
    }
    found = Findings("host")
    found.all = judge_host(facts | changed, "login2")
    return found


def test_a_good_host():
    found = host_facts()
    assert set(levels(found).values()) == {"ok"}
    assert len(found.all) == 8


@pytest.mark.parametrize(
    ("id", "level", "changed"),
    [
        ("host-clock-source", "warning", {"clock_source": "hpet"}),
        ("host-clock-cost", "note", {"clock_cost_ns": 400}),
        ("host-clock-cost", "warning", {"clock_cost_ns": 1500}),
        ("host-timer", "note", {"timer_late_ns": [80_000] * 19 + [9_000_000]}),
        ("host-timer", "warning", {"timer_late_ns": [1_200_000] * 20}),
        ("host-load", "note", {"loadavg": "9.00 1 1 1/1 1"}),
        ("host-load", "warning", {"loadavg": "30.00 1 1 1/1 1"}),
        ("host-cpu-pressure", "warning", {"pressure": recorded.PRESSURE}),
        ("host-cpu-pressure", "note", {"pressure": None}),
        ("host-memory", "warning", {"meminfo": recorded.MEMINFO.replace("8000000", "500000")}),
        ("host-steal", "warning", {"stat_after": recorded.STAT.format(user=20, steal=900)}),
    ],
)
def test_a_host_with_a_fault(id, level, changed):
    found = host_facts(**changed)
    assert {id: level for id, level in levels(found).items() if level != "ok"} == {id: level}
    assert said(found, id).advice


def test_a_clock_that_nobody_keeps():
    sync = {"offset_ns": 0, "max_error_ns": 16 * SECOND, "estimated_error_ns": 0}
    for state, status in ((5, 0), (0, 0x40)):
        found = host_facts(clock_sync=sync | {"state": state, "status": status})
        assert levels(found)["host-clock-sync"] == "warning"


def test_what_the_kernel_does_not_tell_is_not_judged():
    silent = dict.fromkeys(("clock_source", "loadavg", "meminfo", "clock_sync", "stat_before"))
    found = host_facts(**silent)
    assert set(levels(found)) == {"host-clock-cost", "host-timer", "host-cpu-pressure"}


# --- the place -------------------------------------------------------------------------------

DATA = {
    "size_bytes": 1 << 30,
    "allocated_bytes": 1 << 30,
    "cached_bytes": 0,
    "cached_by": "cachestat",
    "extents": {"extents": 3, "complete": True, "shared_bytes": 0},
    "direct": "granted",
}
POOL = {
    "object_bytes": 3901,
    "files": 1000,
    "sampled": 16,
    "broken": 0,
    "cached": 0,
    "strangers": 0,
}
PLACE = {
    "path": "/work/.iosonde-0/login2",
    "uid": "0",
    "host": "login2",
    "mark": MARK,
    "lock": {"says": "pid 7, since 1 s", "held": True, "pid": 7},
    "strangers": [],
    "data": DATA,
    "pools": [POOL],
}


def place(*, running=True, path="/work", facts=None, **changed):
    found = Findings("t")
    facts = {"own": [PLACE | changed]} if facts is None else facts
    judge_places(found, facts, mount_of(MOUNTS, path), 16 << 30, running)
    return found


def test_a_good_place():
    assert set(levels(place()).values()) == {"ok"}


@pytest.mark.parametrize(
    ("id", "level", "changed"),
    [
        ("bigfile-cache", "warning", {"data": DATA | {"direct": "EINVAL"}}),
        ("bigfile-holes", "warning", {"data": DATA | {"allocated_bytes": 1 << 20}}),
        ("bigfile-holes", "warning", {"data": DATA | {"extents": {"shared_bytes": 4096}}}),
        ("bigfile-cached", "note", {"data": DATA | {"cached_bytes": 1 << 29}}),
        ("bigfile-cache", "problem", {"data": None}),
        ("pool-whole", "problem", {"pools": []}),
        ("pool-whole", "warning", {"pools": [POOL | {"broken": 2}]}),
        ("pool-cached", "note", {"pools": [POOL | {"cached": 12}]}),
        ("place-lock", "warning", {"lock": {"says": "", "held": False, "pid": None}}),
        ("place-present", "warning", {"mark": "another version"}),
        ("place-present", "note", {"error": "Permission denied"}),
        ("place-leftovers", "note", {"strangers": ["core.7"]}),
        ("place-leftovers", "note", {"pools": [POOL, POOL | {"object_bytes": 7}]}),
    ],
)
def test_a_place_with_a_fault(id, level, changed):
    found = levels(place(**changed))
    assert {id: level for id, level in found.items() if level != "ok"} == {id: level}


def test_a_buffered_big_file_is_judged_by_its_size_and_by_what_is_cached():
    large = DATA | {"direct": "EINVAL", "size_bytes": 32 << 30, "allocated_bytes": 32 << 30}
    assert levels(place(data=large))["bigfile-cache"] == "ok"
    warm = large | {"cached_bytes": 8 << 30}
    assert levels(place(data=warm))["bigfile-cached"] == "warning"


def test_a_place_in_memory():
    assert levels(place(path="/fast"))["bigfile-cache"] == "problem"


def test_a_probe_that_runs_below_a_later_mount_is_found():
    assert levels(place(facts={"own": []}))["place-covered"] == "problem"
    assert levels(place(facts={"own": []}, running=False))["place-present"] == "note"
    hidden = {"own": [], "closed": [".iosonde-7"]}
    assert levels(place(facts=hidden))["place-present"] == "note"


def test_loads_left_behind_are_named():
    found = place(facts={"own": [PLACE], "loads": [".iosonde-load-0000000000000001"]})
    assert ".iosonde-load-" in said(found, "place-leftovers").says


@pytest.mark.parametrize(
    ("path", "period_ns", "level"),
    [
        ("/home", SECOND, "ok"),  # 333 s after creation, attributes live 60 s
        ("/home", SECOND // 10, "note"),
        ("/old", SECOND, "note"),
        ("/exact", 1, "ok"),
        ("/share", SECOND, "ok"),
        ("/work", SECOND, "note"),
        ("/scratch", SECOND, "note"),
        ("/gpfs", SECOND, "note"),
        ("/ssh", SECOND, "note"),
    ],
)
def test_whether_a_stat_reaches_the_server(path, period_ns, level):
    found = Findings("t")
    judge_stat(found, mount_of(MOUNTS, path), PLACE, period_ns)
    assert levels(found) == {"stat-cache": level}


def test_the_lock_table():
    device = os.makedev(8, 0x11)
    assert holder(recorded.LOCKS, device, 131) == (True, 4711)
    assert holder(recorded.LOCKS, device, 132) == (False, None)
    assert holder(recorded.LOCKS, os.makedev(0, 0x34), 77) == (True, None)
    assert holder("nonsense", device, 131) == (False, None)


def test_a_hosts_folder_is_named_as_the_probe_names_it():
    assert slug("login2.cluster") == "login2.cluster"
    assert re.fullmatch(r"a-b-[0-9a-f]{8}", slug("a b"))
    assert slug("../etc") != slug("etc")
    assert "/" not in slug("a/b")


# --- others, agent, store --------------------------------------------------------------------


def state(**changed):
    return {
        "host": "login2",
        "target": "/work",
        "path": "/work",
        "written_ns": NOW - SECOND,
        "period_ns": SECOND,
        "running": True,
        "state": "ok",
        "notes": [],
        "ops": [],
        "error": None,
    } | changed


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
    judge_store(found, facts | changed, NOW)
    return found


@pytest.mark.parametrize(
    ("id", "level", "changed"),
    [
        ("store-space", "problem", {"space": {"total_bytes": 100 << 30, "free_bytes": 1 << 28}}),
        ("store-spool", "warning", {"spool": [{"written_ns": NOW - 10_000 * SECOND, "bytes": 9}]}),
        ("store-retention", "note", {"days": {"2027-01-14": 20 << 30}}),
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


def test_what_the_probe_says_of_its_ops():
    def judged(op_state, busy=False):
        found = Findings("t")
        op = {"op": "md_create", "state": op_state, "host_busy": busy}
        judge_state(found, state(state=op_state, ops=[op]))
        return levels(found)

    assert judged("hung") == judged("failing") == {"target-state": "problem"}
    assert judged("slow", busy=True) == {"target-state": "note"}
    assert judged("ok") == {"target-state": "ok"}


# --- patience --------------------------------------------------------------------------------


def sleeps(tell):
    tell.found(before=1)
    tell.trying("to sleep")
    time.sleep(60)


def breaks(tell):
    raise ValueError("no such luck")


def killed(tell):
    tell.trying("to live")
    os.kill(os.getpid(), 9)


def test_children_that_answer_hang_break_and_die():
    began = time.monotonic()
    questions = {
        "quick": lambda tell: tell.found(answer=[1, "é" * 100_000]),
        "hang": sleeps,
        "break": breaks,
        "die": killed,
    }
    replies = expendable.ask_all(questions, 0.5)
    assert time.monotonic() - began < 5
    assert replies["quick"].facts == {"answer": [1, "é" * 100_000]}
    assert replies["quick"].hang is replies["quick"].error is None
    hang = replies["hang"].hang
    assert hang.trying == "to sleep"
    assert hang.seconds >= 0.5
    assert replies["hang"].facts == {"before": 1}
    assert replies["break"].error == "no such luck"
    assert "to live" in replies["die"].error
    with pytest.raises(ProcessLookupError):
        os.kill(hang.pid, 0)
    found = Findings("t")
    assert not judge_answer(found, replies["hang"], mount_of(MOUNTS, "/work"))
    assert "does not answer (lustre from" in found.all[0].says
    assert found.all[0].found["trying"] == "to sleep"


def test_a_child_that_never_stops_talking_is_not_believed_for_ever(monkeypatch):
    def talks(tell):
        while True:
            tell.found(answer="x" * 60_000)

    monkeypatch.setattr(expendable, "MAX_BYTES", 1 << 20)
    began = time.monotonic()
    assert expendable.ask(talks, 30).error
    assert time.monotonic() - began < 10


# --- what is examined, and the command -------------------------------------------------------


def test_by_default_the_targets_of_this_host_are_examined():
    states = [
        state(target="work"),
        state(host="login3", target="work"),
        state(host="login3", target="/x", path="/x"),
    ]
    (target,) = choose(states, [], "login2")
    assert (target.name, target.path, len(target.own), len(target.others)) == (
        "work (/work)",
        "/work",
        1,
        1,
    )
    assert [t.path for t in choose(states, [], "nobody")] == ["/work", "/x"]
    assert [t.name for t in choose(states, ["work", "/a/../b"], "login2")] == ["work (/work)", "/b"]


def test_the_command_finds_a_directory_that_is_not_there(tmp_path, capsys):
    code = run("doctor", str(tmp_path / "gone"), "--agent", "127.0.0.1:1", store=tmp_path)
    out = capsys.readouterr().out
    assert code == 1
    assert "there is no such directory (ENOENT)" in out
    assert "1 problem" in out.splitlines()[-1]


def test_json_holds_every_finding_with_its_numbers(tmp_path, capsys):
    put(tmp_path, work=json.loads(json.dumps(state(schema_version=1, path=str(tmp_path)))))
    options = ("--agent", "127.0.0.1:1", "--host", "login2", "--format", "json")
    run("doctor", *options, store=tmp_path)
    findings = json.loads(capsys.readouterr().out)
    keys = ["id", "subject", "level", "says", "found", "why", "advice"]
    assert all(list(finding) == keys for finding in findings)
    assert all((f["advice"] is None) == (f["level"] == "ok") for f in findings)
    by_id = {finding["id"]: finding for finding in findings}
    assert by_id["store-apart"]["level"] == "problem"
    assert by_id["place-covered"]["level"] == "problem"


def test_names_from_a_target_cannot_reach_the_terminal(tmp_path, capsys):
    (tmp_path / ".iosonde-0" / "evil\x1b[31mhost").mkdir(parents=True)
    run("doctor", str(tmp_path), "--agent", "127.0.0.1:1", store=tmp_path / "store")
    assert "\x1b" not in capsys.readouterr().out


def test_strange_things_in_a_place_are_refused_not_followed(tmp_path, capsys):
    own = tmp_path / f".iosonde-{os.geteuid()}" / slug("login2")
    own.mkdir(parents=True)
    (own / "MARK").symlink_to("/etc/passwd")
    os.mkfifo(own / "data")
    arguments = ("--agent", "127.0.0.1:1", "--host", "login2", "--format", "json")
    run("doctor", str(tmp_path), *arguments, store=tmp_path / "store")
    findings = {f["id"]: f for f in json.loads(capsys.readouterr().out)}
    assert findings["target-answers"]["level"] == "ok"
    assert findings["place-present"]["level"] == "note"


def test_sizes_for_people():
    assert [size(n) for n in (0, 1023, 1024, 10 << 20, 3 << 40)] == [
        "0 bytes",
        "1023 bytes",
        "1 KiB",
        "10 MiB",
        "3 TiB",
    ]


# --- one list of checks ----------------------------------------------------------------------


def test_every_check_is_made_somewhere_and_documented():
    folder = Path(iosonde.__file__).parent / "measure" / "doctor"
    source = "".join(file.read_text() for file in folder.glob("judge_*.py"))
    source += (folder / "examine.py").read_text()
    made = set(re.findall(r'found\.add\(\s*"([a-z-]+)"', source))
    assert made == set(CHECKS)
    page = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*?) \| (.*?) \|$", page, flags=re.M)
    assert rows == [(id, check.looks_at, check.why) for id, check in CHECKS.items()]
