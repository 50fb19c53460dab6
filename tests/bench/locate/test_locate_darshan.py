"""``iosonde locate`` of Darshan logs: a slow OST is named, a healthy log names none, others say what they lack."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from iosonde.cli.main import main
from iosonde.connectors.darshan.log_transfers import transfers_of_log
from iosonde.model.errors import InputFileError
from tests.kit.commands import run
from tests.kit.records.darshan_made import (
    MIB,
    Made,
    Record,
    moved,
    needs_recorded,
    recorded,
    write_log,
)

pytest.importorskip("darshan", reason="pydarshan is an extra")
OSTS, FILES = 24, 4


def log(path: Path, slow: dict[int, float], *, seed: int = 1, small: int = 0) -> Path:
    """A log of a job whose ranks write and read a file of 64 MiB each; times differ by 5%."""
    rng = np.random.default_rng(seed)
    records: list[Record] = []
    osts: dict[str, tuple[int, ...]] = {}
    for rank in range(OSTS * FILES):
        ost, file = rank % OSTS, f"/work/out/rank{rank:04d}"
        took = 0.64 * slow.get(ost, 1.0) * np.exp(rng.normal(0, 0.05, 2))
        times = {"F_READ_TIME": float(took[0]), "F_WRITE_TIME": float(took[1])}
        starts = {"F_WRITE_START_TIMESTAMP": 1.0, "F_READ_START_TIMESTAMP": 20.0}
        records.append(moved("POSIX", file, rank, 64 * MIB, 64 * MIB, **times, **starts))
        osts[file] = (ost,)
    for rank in range(small):
        # A header of its own kind: latency, not bandwidth, and all of them on one OST.
        file = f"/work/out/head{rank:04d}"
        records.append(moved("POSIX", file, rank, 0, 2 * MIB, F_WRITE_TIME=2.0))
        osts[file] = (3,)
    records.append(moved("POSIX", "/home/me/log", 0, 0, 64 * MIB, F_WRITE_TIME=900.0))
    return write_log(path, Made(tuple(records), ranks=OSTS * FILES, osts=osts))


def verdict(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["locate", str(path), *words]) == 0
    return capsys.readouterr().out


def test_the_slow_ost_of_a_log_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = verdict(log(tmp_path / "slow.darshan", {17: 2.0}), capsys)
    assert out.startswith("OST0011 is slow: its files took 2.")
    assert "as those of the other 23 OSTs" in out
    assert "all ranks busy" not in out, "times of a log add up to no rate of all"


def test_a_slow_server_is_named_with_a_topology(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edges = [f"OST{ost:04x},oss{ost // 4},ost" for ost in range(OSTS)]
    topology = tmp_path / "topology.csv"
    topology.write_text("\n".join(["child,parent,level", *edges]))
    path = log(tmp_path / "slow.darshan", dict.fromkeys(range(8, 12), 1.6))
    assert verdict(path, capsys, "--topology", str(topology)).startswith("oss2 is slow: its files")


def test_a_healthy_log_gives_no_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    false = 0
    for seed in range(6):
        path = log(tmp_path / f"{seed}.darshan", {}, seed=seed, small=20 * (seed % 2))
        false += not verdict(path, capsys).startswith("Nothing is slow: 24 OSTs")
    assert false == 0


def test_bytes_times_and_targets_are_the_logs(tmp_path: Path) -> None:
    found = transfers_of_log(log(tmp_path / "a.darshan", {}, small=5))
    assert len(found) == 2 * OSTS * FILES, "neither small files nor those beside Lustre"
    assert set(found.bytes.tolist()) == {64 * MIB}
    assert found.targets == tuple(f"OST{ost:04x}" for ost in range(OSTS))
    assert found.seconds().mean() == pytest.approx(0.64, rel=0.02)
    assert (found.stripes.target == found.rank % OSTS).all()


def test_an_imported_log_is_found_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    assert run("import", str(log(tmp_path / "a.darshan", {17: 2.0})), store=store) == 0
    name = "darshan-4711-solver-1490000867"
    assert f"files of {name} lie on 24 OSTs: 'iosonde locate {name}'" in capsys.readouterr().out
    for word in (name, "darshan-4711"):
        assert run("locate", word, store=store) == 0
        out = capsys.readouterr().out
        assert out.startswith("OST0011 is slow: its files took 2.")
        assert "all ranks busy" not in out
    assert run("locate", "darshan-5", store=store) == 2
    assert "there is no run 'darshan-5'" in capsys.readouterr().err


def test_names_of_files_stay_in_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = log(tmp_path / "a.darshan", {17: 2.0})
    assert not any("work" in name for name in transfers_of_log(path).files)
    found = json.loads(verdict(path, capsys, "--format", "json"))
    assert found["slow"][0]["components"] == ["OST0011"]
    assert found["rates"] == []


def test_a_log_without_lustre_or_a_damaged_one_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Made((moved("POSIX", "/work/a", 0, 64 * MIB, 0),))
    with pytest.raises(InputFileError, match="no file on Lustre of 1 MiB"):
        transfers_of_log(write_log(tmp_path / "b.darshan", other))
    torn = tmp_path / "c.darshan"
    torn.write_bytes(log(tmp_path / "d.darshan", {}).read_bytes()[:900])
    assert main(["locate", str(torn)]) == 1
    error = capsys.readouterr().err.splitlines()
    assert error[-1].startswith("iosonde: ")
    assert not any("Traceback" in line for line in error)


@needs_recorded
def test_a_recorded_job_on_healthy_osts_names_none(capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = (one for one in recorded() if one.stem == "edison_6909118_ior_fpp_goodost")
    assert verdict(path, capsys).startswith("Nothing is slow: 24 OSTs")
