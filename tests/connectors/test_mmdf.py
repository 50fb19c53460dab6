"""mmdf: both its forms say the same; fullness is of data NSDs."""

import os
from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from iosonde.connectors.gpfs import mmdf
from iosonde.connectors.source import head_of
from tests.kit.records.connected import Out, survives, take
from tests.kit.samples.latencies import real

KIB = 1024
TABLE = """\
disk                disk size  failure holds    holds              free KB             free KB
name                    in KB    group metadata data        in full blocks        in fragments
--------------- ------------- -------- -------- ----- -------------------- -------------------
Disks in storage pool: system (Maximum disk size allowed is 8.6 TB)
meta1                 1000000        1 Yes      No           400000 ( 40%)          1000 ( 0%)
                -------------                         -------------------- -------------------
(pool total)          1000000                               400000 ( 40%)          1000 ( 0%)

Disks in storage pool: data (Maximum disk size allowed is 8.6 TB)
d1                    2000000        1 No       Yes          200000 ( 10%)          2000 ( 0%)
d2                    2000000       -1 No       Yes          600000 ( 30%)          3000 ( 0%) *
                -------------                         -------------------- -------------------
(pool total)          4000000                               800000 ( 20%)          5000 ( 0%)
                =============                         ==================== ===================
(data)                4000000                               800000 ( 20%)          5000 ( 0%)
(metadata)            1000000                               400000 ( 40%)          1000 ( 0%)
                =============                         ==================== ===================
(total)               5000000                              1200000 ( 24%)          6000 ( 0%)

Inode Information
-----------------
Number of used inodes:            4038
Number of free inodes:          496150
Number of allocated inodes:     500188
Maximum number of inodes:      1000000
"""
HEADERS = """\
mmdf:nsd:HEADER:version:reserved:reserved:nsdName:storagePool:diskSize:failureGroup:metadata:data:freeBlocks:freeBlocksPct:freeFragments:freeFragmentsPct:diskAvailableForAlloc:
mmdf:poolTotal:HEADER:version:reserved:reserved:poolName:poolSize:freeBlocks:freeBlocksPct:freeFragments:freeFragmentsPct:maxDiskSize:
mmdf:data:HEADER:version:reserved:reserved:totalData:freeBlocks:freeBlocksPct:freeFragments:freeFragmentsPct:
mmdf:metadata:HEADER:version:reserved:reserved:totalMetadata:freeBlocks:freeBlocksPct:freeFragments:freeFragmentsPct:
mmdf:inode:HEADER:version:reserved:reserved:usedInodes:freeInodes:allocatedInodes:maxInodes:
"""
COLON = (
    HEADERS
    + """\
mmdf:nsd:0:1:::meta1:system:1000000:1:Yes:No:400000:40:1000:0::
mmdf:poolTotal:0:1:::system:1000000:400000:40:1000:0:5:
mmdf:nsd:0:1:::d1:data:2000000:1:No:Yes:200000:10:2000:0::
mmdf:nsd:0:1:::d2:data:2000000:-1:No:Yes:600000:30:3000:0::
mmdf:poolTotal:0:1:::data:4000000:800000:20:5000:0:5:
mmdf:data:0:1:::4000000:800000:20:5000:0:
mmdf:metadata:0:1:::1000000:400000:40:1000:0:
mmdf:inode:0:1:::4038:496150:500188:1000000:
"""
)


def gauges(out: Out) -> dict[tuple[str, str, str], float]:
    found = {}
    for block in out.blocks:
        assert block.kind == "gauge"
        for place, name in enumerate(block.components):
            found[(block.level, name, block.metric)] = float(block.value[0, place])
    return found


def test_both_forms_say_the_same(tmp_path: Path) -> None:
    both = []
    for text in (TABLE, COLON):
        path = tmp_path / str(len(text))
        path.write_text(text)
        assert mmdf.recognises(head_of(path))
        out = take(mmdf, path, system="fs1")
        assert not out.told
        both.append(gauges(out))
    assert both[0] == both[1]
    found = both[0]
    assert found[("filesystem", "fs1", "total_bytes")] == 4_000_000 * KIB
    assert found[("filesystem", "fs1", "used_bytes")] == 3_195_000 * KIB
    assert found[("nsd", "d1", "used_bytes")] == 1_798_000 * KIB
    assert found[("nsd", "meta1", "metadata_used_bytes")] == 599_000 * KIB
    assert ("nsd", "meta1", "used_bytes") not in found
    assert found[("pool", "data", "free_bytes")] == 805_000 * KIB
    assert found[("filesystem", "fs1", "total_inodes")] == 1_000_000


def test_without_sums_data_nsds_are_summed_up(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(TABLE.split("(data)", maxsplit=1)[0])
    found = gauges(take(mmdf, path, system="fs1"))
    assert found[("filesystem", "fs1", "used_bytes")] == 3_195_000 * KIB


def test_when_it_was_is_an_estimate(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(COLON)
    os.utime(path, ns=(0, 1_500_000_000_000_000_000))
    out = take(mmdf, path)
    assert {b.time_ns[0] for b in out.blocks} == {1_500_000_000_000_000_000}
    assert out.flags() == {"estimated": 1}
    out = take(mmdf, path, day=date(2017, 3, 1), zone=ZoneInfo("America/Chicago"))
    assert {b.time_ns[0] for b in out.blocks} == {1_488_348_000_000_000_000}
    assert "naive-time" in out.flags()


def test_several_answers_are_a_series(tmp_path: Path) -> None:
    paths = []
    for day in (3, 1, 2):
        paths.append(tmp_path / str(day))
        paths[-1].write_text(COLON.replace(":200000:", f":{day}00000:"))
        os.utime(paths[-1], ns=(0, day * 10**15))
    out = take(mmdf, paths, system="fs1")
    assert out.values("free_bytes", "d1") == [day * 100_000 * KIB + 2000 * KIB for day in (1, 2, 3)]


@pytest.mark.parametrize("word", ["foo", "nan", "-5", "9" * 40, ""])
def test_a_size_that_is_none_is_missing(tmp_path: Path, word: str) -> None:
    path = tmp_path / "a"
    path.write_text(COLON.replace(":200000:", f":{word}:"))
    out = take(mmdf, path, system="fs1")
    assert "line 8" in out.told[0]
    assert ("nsd", "d1", "used_bytes") not in gauges(out)
    assert ("nsd", "d2", "used_bytes") in gauges(out)
    assert "not-a-number" in out.flags()


def test_more_free_than_there_is(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(COLON.replace("d1:data:2000000", "d1:data:2000"))
    assert "more free" in take(mmdf, path).told[0]


@pytest.mark.parametrize(
    ("name", "told"),
    [("mmdfStdout", 0), ("mmdfStdoutErrors", 2), ("mmdfStdoutMissingMetadata", 0)],
)
def test_real(name: str, told: int) -> None:
    path = real(f"umami/gpfs/mmdf_{name}.txt")
    assert mmdf.recognises(head_of(path))
    out = take(mmdf, path, system="project")
    assert len(out.told) == told
    found = gauges(out)
    free = found[("filesystem", "project", "free_bytes")]
    assert free == (475190722560 + 12059515296) * KIB
    assert found[("nsd", "P_DATA_VD02", "total_bytes")] == 46766489600 * KIB
    assert ("pool", "system", "total_bytes") in found or told


def test_mutated(tmp_path: Path) -> None:
    survives(mmdf, tmp_path / "a", TABLE.encode(), 100)
    survives(mmdf, tmp_path / "a", COLON.encode(), 100)
