"""``iosonde locate RUN``: runs of the store, measured here or imported, by their identity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.truth.locate.simulate import Noise, healthy, run, with_ost
from benchmarks.truth.locate.systems import system
from iosonde.bench.locate.answers import Source, located
from iosonde.bench.locate.stored import stored_transfers
from iosonde.ingest.transfer_tables import keep_transfers
from iosonde.model.errors import InputFileError
from iosonde.model.transfers import Topology, Transfers, with_targets
from tests.kit.commands import run as command
from tests.kit.runs.driven import bandwidth, left_in, rows_of


def simulated(slow: int) -> Transfers:
    machine = system(112)
    fault = with_ost(healthy(machine), np.array([slow]), 0.6)
    return run(machine, Noise(rates=True), fault, np.random.default_rng(3))


def test_what_is_stored_is_what_is_read(tmp_path: Path) -> None:
    wanted = simulated(17)
    assert keep_transfers(tmp_path, wanted, "run-1") == len(wanted)
    found = stored_transfers(tmp_path, "run-1")
    order = np.lexsort((wanted.rank, wanted.direction, wanted.repetition))
    assert np.array_equal(found.rank, wanted.rank[order])
    assert np.array_equal(found.seconds(), wanted.seconds()[order])
    assert [found.hosts[h] for h in found.host] == [wanted.hosts[h] for h in wanted.host[order]]
    names = [wanted.targets[t] for t in wanted.stripes.target[order]]
    assert [found.targets[t] for t in found.stripes.target] == names
    assert found.position is not None
    assert wanted.position is not None
    assert np.array_equal(found.position, wanted.position[order])
    assert found.rates is not None
    assert wanted.rates is not None
    assert found.rates.bytes.sum() == wanted.rates.bytes.sum()


def test_a_stored_run_is_located_with_its_rates(tmp_path: Path) -> None:
    keep_transfers(tmp_path, simulated(17), "run-1")
    found = located(Source(root=tmp_path, run_id="run-1"), None, None, pytest.fail)
    assert [one.components for one in found.findings.slow] == [("OST0017",)]
    assert "dips" not in found.findings.limits
    with pytest.raises(InputFileError, match="no transfers of the run run-2"):
        stored_transfers(tmp_path, "run-2")


def test_a_topology_names_the_osts_of_files_or_ranks() -> None:
    whole = simulated(17)
    bare = Transfers(**{**vars(whole), "stripes": whole.stripes.single(whole.rank * 0 - 1)})
    edges = {str(rank): f"OST{rank % 112:04d}" for rank in whole.rank.tolist()}
    edges["IOR.00000003"] = "elsewhere"
    found = with_targets(bare, Topology({"file": edges}))
    names = [found.targets[t] for t in found.stripes.target.tolist()]
    ranks = whole.rank.tolist()
    assert names == ["elsewhere" if r == 3 else f"OST{r % 112:04d}" for r in ranks]
    assert with_targets(whole, Topology({"file": edges})) is whole


def test_a_run_of_several_directories(
    place: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [place / name for name in "abcd"]
    for folder in folders:
        folder.mkdir()
    faults = ("--fault", "all@2:+4ms", "--fault", "all@6:+4ms", "--fault", "all:+1ms")
    sizes = ("-n", 8, "-t", "64k", "-b", "4M", "-R", 3, "--verify", "--reorder")
    assert bandwidth(*folders, *sizes, *faults, store=store) == 0
    assert [left_in(folder) for folder in folders] == [[]] * 4
    (name,) = {row.run_id for row in rows_of(store)}
    capsys.readouterr()
    assert command("locate", name[:14], store=store) == 0
    assert capsys.readouterr().out.startswith(f"{folders[2]} is slow: its ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-n", "1"), "1 ranks for 2 directories"),
        (("-n", "2", "--layout", "strided"), "--layout own"),
        (("-n", "2", "--keep"), "a run that writes, reads and removes"),
        (("-n", "2", "--reorder", "1"), "a multiple of 2"),
    ],
)
def test_what_several_directories_refuse(
    place: Path, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [place / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    assert bandwidth(*folders, *words) == 2
    assert said in capsys.readouterr().err
    assert bandwidth(folders[0], folders[0], "-n", 2) == 2
    assert "appears twice" in capsys.readouterr().err


def test_a_second_run_in_one_of_the_directories_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import fcntl

    folders = [place / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    assert bandwidth(folders[1], "-b", "1M", "--phases", "write", "--keep") == 0
    (lock,) = folders[1].glob(".iosonde-*/bench-bandwidth/lock")
    with lock.open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert bandwidth(*folders, "-n", 2, "-b", "1M") == 1
        assert f"{folders[1]}: another run uses" in capsys.readouterr().err
    assert bandwidth(*folders, "-n", 2, "-b", "1M") == 0
    assert [left_in(folder) for folder in folders] == [[], []]


def test_a_name_that_is_neither_run_nor_file(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("locate", "nothing.csv", store=store) == 1
    assert "there is no file nothing.csv, nor a run" in capsys.readouterr().err
