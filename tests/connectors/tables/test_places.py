"""A table of parts: which disk is in which enclosure."""

from pathlib import Path

import pytest

from iosonde.connectors.source import head_of
from iosonde.connectors.tables import places
from iosonde.jobs.store.series import write_edges
from iosonde.model.metrics import Edge
from iosonde.weather.samples.parents import parents_of
from tests.kit.records.connected import survives, take

TABLE = "child,parent,level\nn1/disk1,enclosure 1,enclosure\nn1/disk1,ST4000,model\ndisk2,enclosure 1,\n"


def test_a_row_is_an_edge(tmp_path: Path) -> None:
    path = tmp_path / "parts.csv"
    path.write_text(TABLE)
    assert places.recognises(head_of(path))
    out = take(places, path)
    assert [(e.level, e.child, e.parent) for e in out.edges] == [
        ("enclosure", "n1/disk1", "enclosure 1"),
        ("model", "n1/disk1", "ST4000"),
        ("part", "disk2", "enclosure 1"),
    ]
    assert out.told == []
    survives(places, path, TABLE.encode())


@pytest.mark.parametrize("header", ["child,level", "child,parent,time", "child,parent,child", ""])
def test_other_tables_are_none(tmp_path: Path, header: str) -> None:
    path = tmp_path / "other.csv"
    path.write_text(f"{header}\na,b,c\n")
    assert not places.recognises(head_of(path))


def test_a_second_parent_of_a_level_is_told(tmp_path: Path) -> None:
    path = tmp_path / "parts.csv"
    path.write_text("child,parent\ndisk1,e1\ndisk1,e1\ndisk1,ST4000\n")
    out = take(places, path)
    assert {e.parent for e in out.edges} == {"e1"}
    assert "line 4: disk1 has a second parent, ST4000" in out.told[0]


@pytest.mark.parametrize("row", ["disk3,", ",enclosure 2", "disk3", "a,b,c,d"])
def test_a_bad_row_is_told_with_its_line(tmp_path: Path, row: str) -> None:
    path = tmp_path / "parts.csv"
    path.write_text(f"child,parent\n{row}\n\ndisk4,enclosure 2\n")
    out = take(places, path)
    assert [e.child for e in out.edges] == ["disk4"]
    assert "line 2" in out.told[0]


def test_the_latest_parents_count_and_places_of_nodes_are_none(tmp_path: Path) -> None:
    def edge(child: str, parent: str, time_ns: int, level: str = "disk") -> Edge:
        return Edge("table", "", time_ns, level, child, parent)

    assert parents_of(tmp_path) == {}
    old = [edge("disk1", "enclosure 1", 1), edge("disk2", "enclosure 1", 1)]
    new = [
        edge("disk1", "enclosure 2", 2),
        edge("disk1", "ST4000", 2, "model"),
        edge("7", "1,2,3", 2, "node"),
    ]
    write_edges(tmp_path, [*old, *new])
    assert parents_of(tmp_path) == {
        "disk1": {"enclosure 2", "ST4000"},
        "disk2": {"enclosure 1"},
    }
