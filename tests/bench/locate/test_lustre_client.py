"""Servers of OSTs from what a Lustre client shows its users, in a tree laid out as the kernel's."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.bench.locate import lustre_client
from iosonde.bench.locate.lustre_client import topology_of_client
from iosonde.model.errors import InputFileError
from tests.kit.commands import run


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lustre_client, "TREES", (tmp_path / "sys", tmp_path / "proc"))
    return tmp_path


def osc(tree: Path, name: str, ost: int, server: str, where: str = "proc") -> None:
    folder = tree / where / f"{name}-OST{ost:04x}-osc-ffff88090509f000"
    folder.mkdir(parents=True)
    (folder / "ost_conn_uuid").write_text(f"{server}\n")


def test_each_ost_has_its_server(tree: Path) -> None:
    for ost in range(16):
        osc(tree, "work", ost, f"10.0.0.{ost // 4}@o2ib", "sys" if ost % 2 else "proc")
    (tree / "proc" / "work-MDT0000-mdc-ffff88090509f000").mkdir()
    (tree / "proc" / "work-OST00ff-osc-ffff88090509f000").mkdir()  # nothing in it: not connected
    parents = topology_of_client("lustre").parents
    assert parents == {"ost": {f"OST{ost:04x}": f"10.0.0.{ost // 4}@o2ib" for ost in range(16)}}


def test_several_file_systems_need_a_name(tree: Path) -> None:
    osc(tree, "work", 0, "10.0.0.1@tcp")
    osc(tree, "nbp-2", 0, "10.0.1.1@tcp")
    with pytest.raises(InputFileError, match="several Lustre file systems: nbp-2, work"):
        topology_of_client("lustre")
    assert topology_of_client("lustre:nbp-2").parents == {"ost": {"OST0000": "10.0.1.1@tcp"}}
    with pytest.raises(InputFileError, match="no Lustre file system home whose"):
        topology_of_client("lustre:home")


def test_the_command_reads_it(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["direction,rank,bytes,transfer_begin_ns,transfer_end_ns,targets"]
    for rank in range(64):
        ost = rank % 16
        osc(tree, "work", ost, f"oss{ost // 2}@tcp") if rank < 16 else None
        took = 2000 + 10 * (rank % 7) + (2000 if ost // 2 == 3 else 0)
        lines.append(f"write,{rank},1000000,1000,{1000 + took},OST{ost:04x}")
    path = tmp_path / "run.csv"
    path.write_text("\n".join(lines))
    assert run("locate", str(path), "--topology", "lustre") == 0
    assert capsys.readouterr().out.startswith("oss3@tcp is slow: its writes took 2.0x")
