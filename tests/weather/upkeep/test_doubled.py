"""Stores of an earlier version in which rows stand twice: found, told in numbers, repaired, whoever dies meanwhile."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from iosonde.cli.main import main
from iosonde.engine.layout.segments import every_rollup, every_sealed
from iosonde.model.units import DAY_NS
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from iosonde.weather.upkeep.compact import compact
from iosonde.weather.upkeep.doubled import check, repair
from iosonde.weather.upkeep.retain import retain
from tests.kit.commands import run
from tests.kit.doubled import grandparent_beside, overlapping, within_one_file
from tests.kit.samples.makers import START, simulated

LATER = START + 3 * DAY_NS
DAY = ("--since", "2026-09-21", "--until", "2026-09-22")


class KilledError(Exception):
    """Stands for a kill between two system calls."""


@pytest.fixture(scope="module")
def sound_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four segments of a day, with a slow half hour."""
    root = tmp_path_factory.mktemp("sound")
    slow = {"op": "md_stat", "after": "90m", "for": "30m", "multiply": 8.0}
    simulated(root, 4 * 3600, slow, probe={"period": "10s"})
    for path in (root / "spool").rglob("*.spool"):
        os.utime(path, ns=(START, START))
    seal(root)
    assert len(every_sealed(root)) == 5
    return root


DEFECTS = (grandparent_beside, within_one_file, overlapping)


@pytest.fixture(params=DEFECTS, ids=[one.__name__ for one in DEFECTS])
def defect(request: pytest.FixtureRequest, sound_store: Path, tmp_path: Path) -> tuple[Path, int]:
    """A store with each defect, and how many rows stand twice."""
    root = tmp_path / "store"
    shutil.copytree(sound_store, root)
    return root, request.param(root)


def answers(root: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Rows, roll-ups, windows, slowdown with its baseline and events of a store."""
    store = Store(root)
    found = [str(store.count()), str(int(store.rollups().columns["n_due"].sum()))]
    for words in (
        ("export", "windows", "--window", "10m", "--format", "csv"),
        ("slowdown", "--window", "10m", "--json", *DAY),
        ("events", *DAY, "--format", "json"),
    ):
        capsys.readouterr()
        assert run(*words, store=root) == 0
        found.append(capsys.readouterr().out)
    return found


def test_it_is_found_told_in_numbers_and_repaired(defect, sound_store, capsys):
    (root, twice), right = defect, answers(sound_store, capsys)
    assert run("store", "check", store=sound_store) == 0
    assert "0 rows count twice" in capsys.readouterr().out
    assert run("store", "check", "--json", store=root) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == int(right[0])
    (of_samples,) = (one for one in told["doubled"] if one["table"] == "samples")
    assert (of_samples["date"], of_samples["host"]) == ("2026-09-21", "login2")
    assert told["doubled_rows"] == of_samples["twice"] == twice > 0
    assert told["doubled_in_rollups"] > 0
    assert run("store", "check", "--repair", store=root) == 0
    assert run("store", "check", store=root) == 0
    assert answers(root, capsys) == right
    compact(root, LATER, grace_ns=0)
    assert answers(root, capsys) == right
    assert len(every_sealed(root)) == len(every_rollup(root)) == 1


def test_a_repair_may_die_anywhere(defect, sound_store, capsys):
    (root, _), right = defect, answers(sound_store, capsys)
    before, deaths = Store(root).count(), 0
    for kill_at in range(10):
        calls = iter(range(100))

        def step(_: str, calls=calls, kill_at=kill_at) -> None:
            if next(calls) == kill_at:
                raise KilledError

        try:
            repair(root, check(root).doubled, step)
        except KilledError:
            deaths += 1
            assert Store(root).count() in (before, int(right[0]))
            continue
        break
    assert deaths >= 3
    assert run("store", "check", "--repair", store=root) == 0
    assert answers(root, capsys) == right


@pytest.mark.parametrize("make", [grandparent_beside, overlapping])
def test_what_segments_tell_apart_is_read_once_before_it_is_repaired(
    make, sound_store, tmp_path, capsys
):
    root = tmp_path / "store"
    shutil.copytree(sound_store, root)
    make(root)
    assert answers(root, capsys) == answers(sound_store, capsys)


def test_what_is_doubled_in_one_file_counts_once_when_it_is_merged_again(
    sound_store, tmp_path, capsys
):
    root = tmp_path / "store"
    shutil.copytree(sound_store, root)
    late = every_sealed(root)[-1].path
    kept = late.read_bytes()
    within_one_file(root)
    twice = Store(root).count() - Store(sound_store).count()
    assert twice > 0
    late.write_bytes(kept)
    late.with_name("ffffffffffffffff-000009.parquet").write_bytes(kept)
    done = compact(root, LATER)
    assert done.twice >= twice
    assert Store(root).count() == Store(sound_store).count()


def test_roll_ups_whose_samples_are_gone_take_each_interval_once(sound_store, tmp_path, capsys):
    root = tmp_path / "store"
    shutil.copytree(sound_store, root)
    right = int(Store(root).rollups().columns["n_due"].sum())
    overlapping(root)
    shutil.rmtree(root / "samples" / "date=2026-09-21")
    assert int(Store(root).rollups().columns["n_due"].sum()) == right
    assert run("store", "check", "--json", store=root) == 1
    told = json.loads(capsys.readouterr().out)
    assert [one["table"] for one in told["doubled"]] == ["rollups"]
    assert run("store", "check", "--repair", store=root) == 0
    assert run("store", "check", store=root) == 0
    assert int(Store(root).rollups().columns["n_due"].sum()) == right


def test_retention_waits_for_files_that_share_rows(sound_store, tmp_path):
    root = tmp_path / "store"
    shutil.copytree(sound_store, root)
    overlapping(root)
    told: list[str] = []
    assert not retain(root, LATER, samples_ns=DAY_NS, rollups_ns=None, tell=told.append)
    assert len(told) == 2
    compact(root, LATER, grace_ns=0)
    assert len(retain(root, LATER, samples_ns=DAY_NS, rollups_ns=None)) == 1


def test_it_says_how_to_ask(capsys):
    assert main(["store"]) == 2
    assert "store check --repair" in capsys.readouterr().out
    assert main(["store", "chek"]) == 2
    assert "iosonde store check" in capsys.readouterr().err
    assert main(["store", "check", "--repair", "--store", "/no,/none"]) == 2
