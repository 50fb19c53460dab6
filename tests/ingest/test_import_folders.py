"""A folder of logs as people have them: of many kinds, with links, pipes, packed and foreign files among them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from iosonde.ingest import recognise as recogniser
from iosonde.ingest.recognise import recognise
from iosonde.model.errors import InputFileError
from tests.connectors.lustre.test_lctl_get_param import T0, text
from tests.connectors.scheduler.test_jobcomp import LOG
from tests.connectors.test_packed import TEXT
from tests.kit.commands import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    here = tmp_path / "logs"
    (here / "oss1" / "old").mkdir(parents=True)
    (here / ".snapshot").mkdir()
    (here / "README.md").write_text("# what this is\n")
    (here / "empty").touch()
    (here / "packed.zst").write_bytes(b"\x28\xb5\x2f\xfdabc")
    (here / "sacct.txt").write_text(TEXT)
    (here / ".snapshot" / "sacct.txt").write_text(TEXT)
    (here / "jobcomp.log").write_text(LOG)
    (here / "lat-0.00-0-stat.csv").write_text("time,runtime\n0.1,0.002\n0.2,0.003\n")
    for n in range(2):
        (here / "oss1" / f"{n}.txt").write_text(text(T0 + 60 * n, n + 1))
    (here / "oss1" / "old" / "loop").symlink_to(here)
    (here / "oss1" / "again.txt").symlink_to(here / "oss1" / "0.txt")
    os.mkfifo(here / "pipe")
    return here


def test_everything_is_found_and_nothing_is_followed(folder: Path) -> None:
    found = recognise([folder])
    kinds = {path.name: one.KIND for path, one in found.found}
    assert kinds == {
        "0.txt": "lctl get_param",
        "1.txt": "lctl get_param",
        "sacct.txt": "sacct",
        "jobcomp.log": "Slurm job completion log",
        "lat-0.00-0-stat.csv": "latencies of md-workbench",
    }
    assert [one.place.name for one in found.unknown] == ["README.md", "empty", "packed.zst"]
    assert found.unopened == []


def test_a_tree_and_files_beside_it(tmp_path: Path) -> None:
    place = tmp_path / "proc" / "fs" / "lustre" / "obdfilter" / "work-OST0000"
    place.mkdir(parents=True)
    (place / "num_exports").write_text("3\n")
    (tmp_path / "sacct.txt").write_text(TEXT)
    found = recognise([tmp_path])
    assert [(path, one.KIND) for path, one in found.found] == [
        (tmp_path, "Lustre /proc"),
        (tmp_path / "sacct.txt", "sacct"),
    ]
    assert found.unknown == []


def test_more_files_than_can_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recogniser, "MOST_FILES", 3)
    with pytest.raises(InputFileError, match="more than 3 files"):
        recognise([folder])


def test_the_command(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("import", str(folder), str(folder / "sacct.txt"), store=tmp_path / "store") == 0
    out, err = capsys.readouterr()
    assert f"{folder}/oss1/0.txt and 1 more: lctl get_param" in out
    assert out.count("sacct: ") == 1
    assert "lat-0.00-0-stat.csv: latencies" in err
    ends = out[out.index("left out:") :].splitlines()
    assert ends[1:4] == [
        "  README.md: source or manual of a program; named alone it is read",
        "  empty: is empty",
        "  packed.zst: is packed by zstd; try zstd -d",
    ]
    assert "samples of lat" in out


def test_a_folder_of_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README").write_text("hello\n")
    assert run("import", str(tmp_path), store=tmp_path / "store") == 1
    assert "a folder with nothing in it that can be read" in capsys.readouterr().err


def test_other_values_of_the_same_instants_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log"
    for n, word in (
        (2, "metrics of work"),
        (2, "already in the store"),
        (3, "take the place of others"),
    ):
        path.write_text(text(T0, 1) + text(T0 + 60, n))
        assert run("import", str(path), store=tmp_path / "store") == 0
        assert word in capsys.readouterr().out


def test_a_record_without_a_file_system_says_what_to_give(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mmdf"
    path.write_text(
        "disk                disk size  failure holds    holds              free KB\n"
        "nsd2  10000000000        2 No       Yes      9000000000 ( 90%)       2000 ( 0%)\n"
    )
    run("import", str(path), store=tmp_path / "store")
    assert "--system NAME" in capsys.readouterr().out
    run("import", str(path), "--system", "scratch", store=tmp_path / "store")
    assert "--system" not in capsys.readouterr().out


def test_jobs_that_only_their_scheduler_knows_are_not_called_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sacct"
    path.write_text(TEXT)
    assert run("import", str(path), store=tmp_path / "store") == 0
    assert "2,999 jobs have no I/O performance value" in capsys.readouterr().out.replace(
        "\u202f", " "
    )
    assert run("jobs", "--format", "json", store=tmp_path / "store") == 0
    assert json.loads(capsys.readouterr().out)["n"] == 2_999
    assert run("explain", "--diagram", "--job", "1", store=tmp_path / "store") == 1
    assert "come from sacct, without I/O performance" in capsys.readouterr().err


def test_very_many_files_of_a_kind_are_written_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    row = "UUID 1K-blocks Used Available Use% Mounted on\nwork-OST0000_UUID 100 {n} 50 1% /work[OST:0]\n"
    for n in range(15):
        (folder / f"{n}.txt").write_text(f"BEGIN {T0 + n}\n{row.format(n=n)}" + "junk\n" * (n == 3))
    assert run("import", str(folder), store=tmp_path / "store") == 1
    out, err = capsys.readouterr()
    assert "0.txt and 14 more: lfs df: 45 samples of 3 metrics of work" in out
    assert "3.txt, line 4: no row of lfs df" in err
    assert len(list((tmp_path / "store").rglob("metrics/*/*.parquet"))) == 3


def test_links_that_lead_in_a_circle_get_a_message(tmp_path: Path, capsys) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    log = tmp_path / "sacct.txt"
    log.write_text(TEXT)
    for given in ([str(tmp_path / "a")], [str(tmp_path / "a"), str(tmp_path)]):
        assert run("import", *given, "--zone", "UTC", store=tmp_path / "store") == 1
        assert f"cannot read {tmp_path / 'a'}: Too many levels" in capsys.readouterr().err


def test_a_folder_of_which_nothing_can_be_read(tmp_path: Path, capsys) -> None:
    (tmp_path / "letter").write_text("dear all\n")
    assert run("import", str(tmp_path), store=tmp_path.parent / "store") == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == ["left out:", "  letter: no kind that iosonde reads"]
    assert "a folder with nothing in it that can be read" in err
