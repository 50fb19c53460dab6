"""``iosonde locate``: files in, sentences, JSON and pictures out; damaged files get their place named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.truth.locate.simulate import Noise, healthy, run, with_ost
from benchmarks.truth.locate.systems import System, system
from iosonde.bench.locate.files import read_rates, read_topology, read_transfers
from iosonde.cli.main import main
from iosonde.engine.files import write_frame
from iosonde.model.errors import InputFileError
from iosonde.model.frames import Frame
from iosonde.model.transfers import DIRECTIONS, Transfers

HEAD = (
    "repetition,direction,rank,host,file,targets,bytes,transfer_begin_ns,transfer_end_ns,position"
)


def frame_of(transfers: Transfers) -> Frame:
    """The table of some transfers on one target each."""
    n = len(transfers)

    def names(every: tuple[str, ...], number: np.ndarray) -> np.ndarray:
        return np.array(every, dtype=object)[number]

    return Frame(
        {
            "repetition": transfers.repetition,
            "direction": names(DIRECTIONS, transfers.direction),
            "rank": transfers.rank,
            "host": names(transfers.hosts, transfers.host),
            "file": names(transfers.files, transfers.file),
            "targets": names(transfers.targets, transfers.stripes.target),
            "bytes": transfers.bytes,
            "transfer_begin_ns": transfers.transfer_begin_ns,
            "transfer_end_ns": transfers.transfer_end_ns,
            "position": np.zeros(n) if transfers.position is None else transfers.position,
        }
    )


def write_topology(machine: System, path: Path) -> None:
    parents = machine.topology().parents
    lines = [f"{c},{p},{level}" for level, edges in parents.items() for c, p in edges.items()]
    path.write_text("\n".join(["child,parent,level", *lines]) + "\n")


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run whose OST0017 is slow, as CSV and Parquet, and its topology."""
    folder, machine = tmp_path_factory.mktemp("locate"), system(112)
    fault = with_ost(healthy(machine), np.array([17]), 0.55)
    rng = np.random.default_rng(1)
    frame = frame_of(run(machine, Noise(repetitions=2), fault, rng))
    write_frame(frame, folder / "run.csv", "csv")
    write_frame(frame, folder / "run.parquet", "parquet")
    write_topology(machine, folder / "topology.csv")
    return folder


@pytest.mark.parametrize("name", ["run.csv", "run.parquet"])
def test_the_slow_target_is_named(
    slow: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["locate", str(slow / name), "--topology", str(slow / "topology.csv")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("OST0017 is slow: its files took 1.8x (1.")
    assert "as those of the other 111 OSTs, in 2 of 2 repetitions." in out
    assert "tail costs" in out


def test_json_and_pictures(slow: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topology = str(slow / "topology.csv")
    for picture in ("light.png", "dark.svg"):
        more = ["--dark", "--width", "5"] if picture.startswith("dark") else []
        given = ["locate", str(slow / "run.csv"), "--topology", topology, "--format", "json"]
        assert main([*given, "--plot", str(tmp_path / picture), *more]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["slow"][0]["components"] == ["OST0017"]
        assert answer["slow"][0]["fault"] == "slow OST"
        assert answer["counts"]["targets"] == 112
        assert len(answer["rates"]) == 4
        assert (tmp_path / picture).stat().st_size > 10_000
    assert "of a slow component" in (tmp_path / "dark.svg").read_text()


def test_without_topology_it_says_what_it_cannot_tell(
    slow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["locate", str(slow / "run.csv")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("OST0017 is slow")
    assert "Without servers of the OSTs" in out


def test_bad_rows_are_named_and_good_ones_stay(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    rows = [
        "0,write,0,h,f,OST0,10,1000,2000,0.5",
        "0,sideways,1,h,f,OST0,10,1000,2000,",
        "0,read,x,h,f,OST0,10,1000,2000,",
        "0,read,2,h,f,OST0=0;OST1=1,10,1000,2000,",
        "0,read,2,h,f,OST0=1;OST1=3,10,1000,2000,",
        "0,read,3,,,,10,1000,2000",
        "0,read,4,h,f,OST0,10,,2000,",
        f"0,read,5,h,f,OST0,{2**70},1000,2000,",
    ]
    path.write_text("\n".join([HEAD, *rows]))
    warnings: list[str] = []
    transfers = read_transfers(path, warnings.append)
    assert transfers.rank.tolist() == [0, 2, 3]
    assert transfers.stripes.share.tolist() == [1.0, 0.25, 0.75]
    assert transfers.stripes.counts().tolist() == [1, 2, 0]
    assert transfers.host.tolist() == [0, 0, -1]
    lines = ["line 3", "line 4", "line 5", "line 8", "line 9"]
    assert len(warnings) == 5
    assert all(f", {line}:" in text for line, text in zip(lines, warnings, strict=True))


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", HEAD + "\n", "\x00\x01\x02", HEAD + "\nx" * 3, "PAR1"]
)
def test_a_file_that_is_none_is_one_line(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "none"
    path.write_text(text)
    assert main(["locate", str(path)]) == 1
    error = capsys.readouterr().err.splitlines()
    assert error[-1].startswith("iosonde: ")
    assert "expected" in error[-1]
    assert not any("Traceback" in line for line in error)


def test_a_topology_that_contradicts_itself_is_named(tmp_path: Path) -> None:
    path = tmp_path / "topology.csv"
    path.write_text("child,parent,level\nOST0,oss0,ost\nOST0,oss1,ost\noss0,g0,oss\nx,y,rack\n")
    warnings: list[str] = []
    topology = read_topology(path, warnings.append)
    assert topology.parents == {"ost": {"OST0": "oss0"}, "oss": {"oss0": "g0"}}
    assert "line 3" in warnings[0]
    assert "line 5" in warnings[1]
    with pytest.raises(InputFileError, match="no column child"):
        read_topology(tmp_path / "rates.csv" if write_rates(tmp_path) else path, warnings.append)


def write_rates(folder: Path) -> bool:
    text = "direction,rank,begin_ns,bytes\nwrite,0,1000,5\nwrite,0,250001000,7\n"
    (folder / "rates.csv").write_text(text)
    return True


def test_rates_are_read(tmp_path: Path) -> None:
    write_rates(tmp_path)
    rates = read_rates(tmp_path / "rates.csv", lambda _: None)
    assert rates.bytes.tolist() == [5, 7]
    assert rates.repetition.tolist() == [0, 0]


def test_hosts_come_from_the_topology_too(slow: Path, tmp_path: Path) -> None:
    text = (slow / "run.csv").read_text().splitlines()
    table = [line.split(",") for line in text]
    place = table[0].index("host")
    ranks = {row[table[0].index("rank")] for row in table[1:]}
    for row in table[1:]:
        row[place] = ""
    path, topology = tmp_path / "run.csv", tmp_path / "topology.csv"
    path.write_text("\n".join(",".join(row) for row in table))
    edges = [f"{rank},host{int(rank) // 4},rank" for rank in sorted(ranks)]
    topology.write_text("\n".join(["child,parent,level", *edges]))
    from iosonde.bench.locate.answers import Source, located

    without = located(Source(path), None, None, lambda _: None).findings
    with_hosts = located(Source(path), str(topology), None, lambda _: None).findings
    assert "client hosts" in without.limits
    assert "client hosts" not in with_hosts.limits
