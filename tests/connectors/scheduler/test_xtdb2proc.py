"""xtdb2proc: nodes at their coordinates."""

import gzip
from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from iosonde.connectors.scheduler import xtdb2proc
from iosonde.connectors.source import head_of
from tests.kit.records.connected import survives, take
from tests.kit.samples.latencies import real

ROW = "cpu=1,slot=0,cabinet=null,x_coord={x},y_coord=2,z_coord=3,processor_status='up, so to say',processor_id={n}"


def test_a_node_lies_at_its_coordinates(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("# tables\n" + ROW.format(x=1, n=7) + ",last=1\n" + ROW.format(x=0, n=8) + "\n")
    assert xtdb2proc.recognises(head_of(path))
    out = take(xtdb2proc, path, system="c")
    assert [(e.level, e.child, e.parent, e.time_ns) for e in out.edges] == [
        ("node", "7", "1,2,3", 0),
        ("node", "8", "0,2,3", 0),
    ]
    out = take(xtdb2proc, path, day=date(2017, 3, 20), zone=ZoneInfo("UTC"))
    assert {e.time_ns for e in out.edges} == {1_489_968_000_000_000_000}


@pytest.mark.parametrize("x", ["null", "nan", "-1", "1.5", "9" * 30, ""])
def test_a_record_without_a_place_is_told(tmp_path: Path, x: str) -> None:
    path = tmp_path / "a"
    path.write_text(ROW.format(x=x, n=7) + "\n" + ROW.format(x=1, n=8) + "\n")
    out = take(xtdb2proc, path)
    assert [e.child for e in out.edges] == ["8"]
    assert "line 1" in out.told[0]


def test_twice_and_cut(tmp_path: Path) -> None:
    rows = [ROW.format(x=x, n=7) for x in (1, 1, 2)]
    path = tmp_path / "a"
    path.write_text("\n".join([*rows, ROW.format(x=1, n=123456)])[:-3])
    out = take(xtdb2proc, path)
    assert [e.parent for e in out.edges] == ["1,2,3"]
    assert [line.split(": ")[0][-1] for line in out.told] == ["3", "4"]


@pytest.mark.parametrize("name", ["edison.xtdb2proc", "edison_4478544_xtdb2proc"])
def test_real(name: str) -> None:
    path = real(f"umami/topology/{name}.gz")
    assert xtdb2proc.recognises(head_of(path))
    out = take(xtdb2proc, path)
    assert not out.told
    assert len(out.edges) == gzip.decompress(path.read_bytes()).count(b"processor_id=") > 100


def test_mutated(tmp_path: Path) -> None:
    data = "\n".join(ROW.format(x=x, n=x) for x in range(30))
    survives(xtdb2proc, tmp_path / "a", data.encode(), 100)
