"""What GPFS says of its state: health, waiters, disks, classes of QoS; tables for people, and the colon form."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from zoneinfo import ZoneInfo

import pytest

from iosonde.connectors.gpfs import mmdiag, mmhealth, mmlsdisk, mmlsqos
from iosonde.connectors.prometheus import text as prometheus_text
from iosonde.connectors.source import head_of
from iosonde.connectors.sources import connector_of
from iosonde.model.units import parse_time
from tests.kit.records.connected import Out, survives, take

UTC = ZoneInfo("UTC")
S = 10**9
T = 1_790_000_000

HEALTH = """
Node name:      n1.example.org
Node status:    DEGRADED
Status Change:  2 hours ago

Component      Status        Status Change     Reasons & Notices
----------------------------------------------------------------
GPFS           TIPS          17 min. ago       callhome_not_enabled, swapped_warn
NETWORK        HEALTHY       2 hours ago       -
FILESYSTEM     DEGRADED      2 hours ago       unmounted_fs_check(scratch)
DISK           CHECKING      2 hours ago       -
"""
HEALTH_COLON = """
mmhealth:Event:HEADER:version:reserved:reserved:node:component:entityname:entitytype:event:arguments:activesince:
mmhealth:State:HEADER:version:reserved:reserved:node:component:entityname:entitytype:status:laststatuschange:
mmhealth:State:0:1:::n1:NODE:n1:NODE:FAILED:2020-01-27 09%3A35%3A21.859186 EST:
mmhealth:Event:0:1:::n1:GPFS:n1:NODE:gpfs_down::2020-01-07 16%3A47%3A43.892296 EST:
mmhealth:State:0:1:::n1:NETWORK:ib0:NIC:HEALTHY:2020-01-07 16%3A47%3A39.397852 EST:
mmhealth:State:0:1:::n1:FILESYSTEM:scratch:FILESYSTEM:DEPEND:2020-01-27 09%3A35%3A21.6 EST:
mmhealth:State:0:1:::n1:DISK:nsd7:DISK:HEALTHY:2020-01-27 09%3A35%3A21.6 EST:
"""
WAITERS = """
=== mmdiag: waiters ===
Waiting 6861.7395 sec since 11:04:20, ignored, thread 19428 FsckClientReaperThread: on ThCond 0x7F (x), reason 'y'
Waiting 64.3890 sec since 17:55:45, monitored, thread 120655 NSDThread: for I/O completion
Waiting 0.0259 sec since 10:24:00, monitored, thread 23241 NSDThread: for I/O completion
"""
WAITERS_COLON = """
mmdiag:waiters:HEADER:version:reserved:reserved:threadId:threadAddr:threadName:waitStartTime:waitTime:isMonitored:aux:
mmdiag:waiters:0:1:::101445:00F57:FsckClientReaperThread:2021-09-23_15%3A31%3A33-0400:6861.7:ignored::
mmdiag:waiters:0:1:::101446:00F58:RebuildWorkThread:2021-09-23_15%3A31%3A33-0400:44.3:monitored:for I/O%3A x:
"""
DISKS = """
disk         driver   sector     failure holds    holds                            storage
name         type       size       group metadata data  status        availability pool
------------ -------- ------ ----------- -------- ----- ------------- ------------ ------------
nsd1         nsd         512          -1 Yes      Yes   ready         up           system
nsd2         nsd        4096        4001 No       Yes   being emptied up           data
nsd3         nsd        4096        4001 No       Yes   ready         down         data
"""
DISKS_COLON = """
mmlsdisk::HEADER:version:reserved:reserved:nsdName:driverType:sectorSize:failureGroup:metadata:data:status:\
availability:diskID:storagePool:
mmlsdisk::0:1:::nsd1:nsd:512:1:yes:yes:ready:up:1:system:
mmlsdisk::0:1:::nsd2:nsd:512:2:no:yes:being emptied:up:2:data:
mmlsdisk::0:1:::nsd3:nsd:512:2:no:yes:ready:recovering:3:data:
"""
QOS = """
QOS config::            enabled
=== for pool nvme1
17:59:55  other iops=829.83 ioql=0.85 qsdl=0.25 et=5
18:00:00  other iops=100 ioql=0.5 qsdl=nan et=5
=== for pool system
18:00:00  misc iops=24875 ioql=4 qsdl=0.0055852 et=5 MBs=212.95
"""
QOS_COLON = """
mmlsqos:status:HEADER:version:reserved:reserved:enabled:throttling:monitoring:fineStatsSecs:idStats:
mmlsqos:stats:HEADER:version:reserved:reserved:pool:timeEpoch:class:iops:ioql:qsdl:et:MBs:
mmlsqos:status:0:1:::Yes:Yes:Yes:0:No:
mmlsqos:stats:0:1:::nvme1:1790000000:other:829,83:0,85256:1,0751e-05:30:1525.5:
mmlsqos:stats:0:1:::system:1790000000:misc:24875:nan:0:30:212.95:
"""
ALL = [
    (mmhealth, HEALTH), (mmhealth, HEALTH_COLON), (mmdiag, WAITERS), (mmdiag, WAITERS_COLON),
    (mmlsdisk, DISKS), (mmlsdisk, DISKS_COLON), (mmlsqos, QOS), (mmlsqos, QOS_COLON),
]  # fmt: skip


def file(path: Path, text: str) -> Path:
    path.write_text(text)
    os.utime(path, ns=(0, T * S))
    return path


def gauges(out: Out) -> dict[tuple[str, str, str], list[float]]:
    return {
        (block.level, block.metric, name): out.values(block.metric, name)
        for block in out.blocks
        for name in block.components
    }


@pytest.mark.parametrize(("connector", "text"), ALL)
def test_it_is_recognised_and_only_once(tmp_path: Path, connector: ModuleType, text: str) -> None:
    path = file(tmp_path / "a.txt", text)
    assert connector.recognises(head_of(path))
    found = connector_of(path)
    assert found is not None
    assert found.KIND == connector.KIND


def test_health_for_people(tmp_path: Path) -> None:
    out = take(mmhealth, file(tmp_path / "a", HEALTH))
    assert not out.told
    assert gauges(out) == {
        ("server", "healthy", "n1.example.org"): [0],
        ("server", "healthy", "n1.example.org/GPFS"): [1],
        ("server", "healthy", "n1.example.org/NETWORK"): [1],
        ("server", "healthy", "n1.example.org/FILESYSTEM"): [0],
    }
    assert out.flags() == {"estimated": 1, "missing": 1}
    assert out.series("healthy", "n1.example.org")[0][0] == T * S


def test_health_by_colons(tmp_path: Path) -> None:
    out = take(mmhealth, file(tmp_path / "a", HEALTH_COLON), system="gpfs1")
    assert gauges(out) == {
        ("server", "healthy", "n1"): [0],
        ("device", "healthy", "ib0@n1"): [1],
        ("filesystem", "healthy", "scratch@n1"): [0],
        ("nsd", "healthy", "nsd7@n1"): [1],
    }
    assert out.series("healthy", "scratch@n1", "scratch")


@pytest.mark.parametrize(("text", "longest", "n"), [(WAITERS, 64.389, 2), (WAITERS_COLON, 44.3, 1)])
def test_waiters(tmp_path: Path, text: str, longest: float, n: int) -> None:
    out = take(mmdiag, file(tmp_path / "n7.txt", text))
    assert gauges(out) == {
        ("server", "waiters", "n7"): [n],
        ("server", "longest_wait_s", "n7"): [longest],
    }


def test_no_waiter_is_none_and_a_log_of_nodes_is_read(tmp_path: Path) -> None:
    one = "n1:  === mmdiag: waiters ===\nn2:  === mmdiag: waiters ===\n"
    wait = (
        "n2:  Waiting 7.5 sec since 17:55:45, monitored, thread 1 NSDThread: for I/O completion\n"
    )
    path = file(tmp_path / "log", f"BEGIN {T}\n{one}BEGIN {T + 60}\n{one}{wait}")
    out = take(mmdiag, path)
    assert out.series("waiters", "n1") == [(T * S, 0, 0), ((T + 60) * S, 0, 0)]
    assert out.values("longest_wait_s", "n2") == [0, 7.5]
    assert "estimated" not in out.flags()


@pytest.mark.parametrize("text", [DISKS, DISKS_COLON])
def test_disks(tmp_path: Path, text: str) -> None:
    out = take(mmlsdisk, file(tmp_path / "a", text), system="scratch")
    assert not out.told
    assert [out.values("available", f"nsd{n}", "scratch") for n in (1, 2, 3)] == [[1], [1], [0]]
    assert [out.values("ready", f"nsd{n}", "scratch") for n in (1, 2, 3)] == [[1], [0], [1]]


def test_classes_by_colons(tmp_path: Path) -> None:
    out = take(mmlsqos, file(tmp_path / "a", QOS_COLON), system="scratch")
    assert out.series("ops_per_s", "nvme1/other") == [((T - 30) * S, 30 * S, 829.83)]
    assert out.values("bytes_per_s", "system/misc") == [212.95e6]
    assert out.values("queued_ops", "nvme1/other") == [1.0751e-05]
    assert not out.series("in_flight_ops", "system/misc")


def test_classes_for_people(tmp_path: Path) -> None:
    path = file(tmp_path / "a", QOS)
    at = parse_time("2026-09-21T18:00:03Z", 0)
    os.utime(path, ns=(0, at))
    out = take(mmlsqos, path, system="scratch", zone=UTC)
    assert not out.told
    end = parse_time("2026-09-21T18:00:00Z", 0)
    assert out.series("ops_per_s", "nvme1/other") == [
        (end - 10 * S, 5 * S, 829.83),
        (end - 5 * S, 5 * S, 100),
    ]
    assert out.values("queued_ops", "nvme1/other") == [0.25]
    os.utime(path, ns=(0, parse_time("2026-09-22T00:00:03Z", 0)))  # it was recorded before midnight
    assert take(mmlsqos, path, zone=UTC).series("ops_per_s", "system/misc")[0][0] == end - 5 * S


@pytest.mark.parametrize(
    ("connector", "text", "said"),
    [
        (mmhealth, HEALTH.replace("Node name", "Node"), "before the node's name"),
        (mmhealth, HEALTH_COLON.replace("State:HEADER", "Stat:HEADER"), "before its title"),
        (mmdiag, WAITERS.replace("0.0259", "soon"), "'soon' is no number"),
        (mmdiag, WAITERS + "Waiting 3.0 sec si", "is cut"),
        (mmlsdisk, DISKS + "nsd9  nsd  512  -1 Yes", "is cut"),
        (mmlsdisk, DISKS_COLON.replace("recovering", "perhaps"), "has no state"),
        (mmlsqos, QOS + "18:00:05  other io", "is cut"),
        (mmlsqos, QOS.replace("18:00:00  misc", "28:00:00  misc"), "cannot be"),
        (mmlsqos, QOS_COLON.replace("1790000000", "9" * 30), "cannot be"),
    ],
)
def test_a_bad_line_is_named_and_the_others_count(
    tmp_path: Path, connector: ModuleType, text: str, said: str
) -> None:
    out = take(connector, file(tmp_path / "a", text), zone=UTC)
    assert any(said in line and "line " in line for line in out.told), out.told
    if "name" not in said and "title" not in said:
        assert out.blocks or "9" * 30 in text


@pytest.mark.parametrize(("connector", "text"), ALL)
def test_mutated(tmp_path: Path, connector: ModuleType, text: str) -> None:
    survives(connector, tmp_path / "a", text.encode(), 60, zone=UTC)


def test_pages_of_an_exporter(tmp_path: Path) -> None:
    """Indented, one sample for each state a thing may be in."""
    page = """
        # HELP gpfs_health_status GPFS health status
        # TYPE gpfs_health_status gauge
        gpfs_health_status{component="GPFS",entityname="n1",entitytype="NODE",status="DEGRADED"} 1
        gpfs_health_status{component="GPFS",entityname="n1",entitytype="NODE",status="HEALTHY"} 0
        gpfs_health_status{component="FILESYSTEM",entityname="ess",entitytype="FILESYSTEM",status="HEALTHY"} 1
        # TYPE gpfs_disk_availability gauge
        gpfs_disk_availability{availability="down",fs="ess",name="VS003",storagepool="system"} 0
        gpfs_disk_availability{availability="up",fs="ess",name="VS003",storagepool="system"} 1
        # TYPE gpfs_qos_iops gauge
        gpfs_qos_iops{class="misc",fs="ess",pool="nvme1"} 33.267
    """
    path = file(tmp_path / "a", page)
    assert prometheus_text.recognises(head_of(path))
    out = take(prometheus_text, path)
    assert gauges(out) == {
        ("server", "healthy", "n1/GPFS"): [0],
        ("filesystem", "healthy", "ess"): [1],
        ("nsd", "available", "VS003"): [1],
        ("pool", "ops_per_s", "nvme1/misc"): [33.267],
    }
