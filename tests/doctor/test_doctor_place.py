"""The doctor's judgement of a host and of the probe's own files."""

from __future__ import annotations

import os
import re

import pytest

from iosonde.doctor.finding import Findings
from iosonde.doctor.gather.place import MARK, holder
from iosonde.doctor.judge.host import judge_host
from iosonde.doctor.judge.place import ProbeFiles, asked_of, judge_places
from iosonde.doctor.judge.stat import judge_stat
from iosonde.host.mounts import mount_of
from iosonde.model.names import slug
from tests.kit.host import recorded
from tests.kit.host.doctor_makers import MOUNTS, SECOND, faults, levels, said


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
    assert faults(found) == {id: level}
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


def place(*, running=True, path="/work", facts=None, reads="direct", asked=None, **changed):
    found = Findings("t")
    facts = {"own": [PLACE | changed]} if facts is None else facts
    mount = mount_of(MOUNTS, path)
    judge_places(found, facts, mount, 16 << 30, running=running, asked=asked or ProbeFiles(reads))
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


@pytest.mark.parametrize(("reads", "level"), [("evicted", "note"), ("cached", "warning")])
def test_o_direct_that_is_granted_and_not_used(reads, level):
    found = place(reads=reads)
    assert levels(found)["bigfile-cache"] == level
    assert "not used" in said(found, "bigfile-cache").says


TOLD = {
    "access": "direct",
    "direct": "auto",
    "file_bytes": 1 << 30,
    "object_bytes": 3901,
    "pool": 1000,
    "ops": [{"op": "data_read", "cache": "direct"}],
}


@pytest.mark.parametrize(
    ("told", "changed", "id", "level", "says"),
    [
        ({"access": "buffered"}, {}, "bigfile-cache", "warning", "not used"),
        ({"access": "buffered", "direct": "never"}, {}, "bigfile-cache", "warning", "switched off"),
        ({"access": "memory"}, {}, "bigfile-cache", "problem", "in memory"),
        ({"file_bytes": 2 << 30}, {}, "bigfile-holes", "warning", "made it 2 GiB"),
        ({"pool": 1300}, {}, "pool-whole", "ok", "1000 small files"),
        ({"pool": 1400}, {}, "pool-whole", "warning", "keeps 1400"),
        ({"object_bytes": 7}, {}, "pool-whole", "problem", "no pool"),
    ],
)
def test_what_the_probe_says_of_its_files_is_held_against_them(told, changed, id, level, says):
    found = place(asked=asked_of(TOLD | told), **changed)
    assert levels(found)[id] == level
    assert says in said(found, id).says


def test_what_the_probe_says_agrees_with_a_good_place():
    assert set(levels(place(asked=asked_of(TOLD))).values()) == {"ok"}
    two = [POOL | {"object_bytes": 7, "files": 5000, "broken": 3}, POOL]
    found = place(asked=asked_of(TOLD), pools=two)
    assert said(found, "pool-whole").found["object_bytes"] == 3901
    assert asked_of({"ops": TOLD["ops"]}) == ProbeFiles("direct")


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
