"""Compaction and retention: a reader between any two steps counts each row once, whatever is killed."""

from __future__ import annotations

import fcntl
import os
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from iosonde.engine.layout import folders, segments
from iosonde.engine.layout.merged import is_merged
from iosonde.engine.layout.segments import every_rollup, every_sealed, parquet_segments, rollup_path
from iosonde.model.errors import StoreError
from iosonde.model.units import DAY_NS
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from iosonde.weather.upkeep import day
from iosonde.weather.upkeep.compact import compact
from iosonde.weather.upkeep.retain import retain
from tests.kit.commands import run
from tests.kit.samples.makers import SECOND, START, simulated

LATER = START + 3 * DAY_NS
HOURS = 3


class KilledError(Exception):
    """Stands for a kill between two system calls."""


@pytest.fixture(scope="module")
def sealed_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hosts, three segments each: an agent begins a segment every hour."""
    root = tmp_path_factory.mktemp("sealed")
    for host in ("n1", "n2"):
        simulated(root, HOURS * 3600, host=host, probe={"period": "10s"})
    for path in (root / "spool").rglob("*.spool"):
        os.utime(path, ns=(START, START))
    shutil.copytree(root / "spool", root / "spool-before")
    seal(root)
    return root


@pytest.fixture
def store(sealed_store: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(sealed_store, tmp_path / "store")
    return tmp_path / "store"


def answers(root: Path) -> tuple[int, int, float, int]:
    """Samples, intervals and sums of the whole store, as a reader gets them now."""
    store = Store(root)
    rolled = store.rollups()
    service = np.nansum(store.samples(("service_ns",))["service_ns"])
    return store.count(), int(rolled.columns["n_due"].sum()), float(service), len(store.targets())


def test_a_reader_between_any_two_steps_sees_each_row_once(store):
    before, seen = answers(store), []
    done = compact(store, LATER, grace_ns=0, step=lambda name: seen.append((name, answers(store))))
    assert {name for name, _ in seen} >= {
        "roll up",
        "rolled up",
        "merged",
        "remove",
        "remove roll-up",
    }
    assert {found for _, found in seen} == {before}
    assert answers(store) == before
    assert done.merged >= 4
    assert len(every_sealed(store)) == len(every_rollup(store)) == len(done.made)


def test_killed_at_any_step_it_counts_each_row_once_and_goes_on(store):
    before, kills = answers(store), 0
    for kill_at in range(100):
        calls = iter(range(1000))

        def step(_: str, calls=calls, kill_at=kill_at) -> None:
            if next(calls) == kill_at % 7:
                raise KilledError

        try:
            compact(store, LATER, grace_ns=0, step=step)
        except KilledError:
            kills += 1
            assert answers(store) == before
            continue
        break
    compact(store, LATER, grace_ns=0)
    assert kills >= 4
    assert answers(store) == before
    assert len(every_sealed(store)) == 2


def test_within_the_grace_time_the_parts_stay_and_do_not_count(store):
    before, parts = answers(store), len(every_sealed(store))
    done = compact(store, LATER)
    assert answers(store) == before
    assert len(every_sealed(store)) == parts + len(done.made)
    assert len(parquet_segments(store)) == len(done.made)
    assert not compact(store, LATER).made


def test_what_arrives_late_is_merged_and_what_arrives_again_is_not_counted(store, tmp_path):
    first, *others = [one for one in every_sealed(store) if one.host == "n1"]
    again = others[0].path.read_bytes()
    held = first.path.read_bytes()
    first.path.unlink()
    rollup_path(store, first.path).unlink()
    missing = Store(store).count()
    compact(store, LATER, grace_ns=0)
    assert Store(store).count() == missing
    others[0].path.write_bytes(again)
    assert Store(store).count() == missing
    first.path.write_bytes(held)
    whole = answers(store)
    assert whole[0] > missing
    compact(store, LATER, grace_ns=0)
    assert answers(store) == whole
    assert len(every_sealed(store)) == 2


def damage(path: Path) -> None:
    """Flip the bits of a byte in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.filterwarnings("ignore::iosonde.model.errors.DamagedFileWarning")
def test_a_damaged_part_is_not_merged_and_a_damaged_whole_is_made_again(store):
    damaged = every_sealed(store)[0].path
    damage(damaged)
    before = answers(store)
    done = compact(store, LATER)
    assert damaged.exists()
    assert answers(store) == before
    for path in done.made:
        damage(path)
    assert answers(store) == before
    again = compact(store, LATER, grace_ns=0)
    assert again.made == done.made
    assert answers(store) == before
    assert len(every_sealed(store)) == len(done.made) + 1


@pytest.mark.filterwarnings("ignore::iosonde.model.errors.DamagedFileWarning")
def test_a_damaged_whole_removes_nothing(store):
    done = compact(store, LATER)
    parts = [one.path for one in every_sealed(store) if not is_merged(one.stem)]
    for path in parts[1:]:
        damage(path)
    for path in done.made:
        damage(path)
    told = compact(store, LATER, grace_ns=0).told
    assert all(path.exists() for path in parts)
    assert len(told) == len(done.made)
    assert all("do not match" in line for line in told)


def test_a_spool_segment_that_is_still_there_does_not_count_beside_the_merged_file(store):
    before = answers(store)
    compact(store, LATER, grace_ns=0)
    shutil.rmtree(store / "spool")
    shutil.copytree(store / "spool-before", store / "spool")
    assert answers(store) == before


def test_two_runs_at_once_are_refused(store):
    with (store / "samples" / ".upkeep.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="another"):
            compact(store, LATER)


def test_the_day_that_goes_on_is_left_alone(store):
    assert not compact(store, START + HOURS * 3600 * SECOND).made


def test_retention_lists_then_removes_samples_and_keeps_their_rollups(store):
    rolled = int(Store(store).rollups().columns["n_due"].sum())
    late = START + 30 * DAY_NS
    (store / "samples" / "date=2026-09-25" / "host=n1").mkdir(parents=True)
    last = every_sealed(store)[0].path
    newest = store / "samples" / "date=2026-10-20" / "host=n1" / last.name
    newest.parent.mkdir(parents=True)
    newest.write_bytes(last.read_bytes())
    listed = retain(store, late, samples_ns=10 * DAY_NS, rollups_ns=None, dry=True)
    assert all(one.path.exists() for one in listed)
    gone = retain(store, late, samples_ns=10 * DAY_NS, rollups_ns=None)
    assert {one.path for one in gone} == {one.path for one in listed}
    assert [one.path for one in every_sealed(store)] == [newest]
    assert int(Store(store).rollups().columns["n_due"].sum()) >= rolled


def test_retention_removes_nothing_that_it_did_not_write(store, tmp_path):
    first, second, third, *_ = (one.path for one in every_sealed(store))
    foreign = first.with_name("0123456789abcdef-000007.parquet")
    foreign.write_bytes(b"PAR1 of somebody else PAR1")
    note = first.with_name("notes.parquet")
    note.write_bytes(b"notes")
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere.parquet"
    second.rename(elsewhere)
    second.symlink_to(elsewhere)
    told: list[str] = []
    late = START + 3 * DAY_NS
    retain(store, late, samples_ns=DAY_NS, rollups_ns=None, tell=told.append)
    assert foreign.exists()
    assert note.exists()
    assert elsewhere.exists()
    assert not first.exists()
    assert not third.exists()
    assert len(told) == 2


def test_a_clock_that_is_years_ahead_removes_nothing(store):
    assert not retain(store, START + 4000 * DAY_NS, samples_ns=10 * DAY_NS, rollups_ns=None)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--keep", "1h"), "less than a day"),
        (("--keep", "10d", "--keep-rollups", "5d"), "outlive"),
        (("-n",), "--keep"),
        (("--grace", "soon"), "soon"),
    ],
)
def test_a_wrong_request_is_refused(store, capsys, words, told):
    assert run("store", "compact", *words, store=store) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(20))
def test_three_merges_within_ten_minutes_and_one_an_hour_later(seed, tmp_path, monkeypatch):
    """Earlier versions counted rows twice here, by the order of a folder."""
    dice = random.Random(seed)
    listed = folders.files_in
    for module in (segments, day):
        monkeypatch.setattr(module, "files_in", lambda *a: dice.sample(e := listed(*a), len(e)))
    rows, now_ns = 0, LATER
    for merges in range(5):
        for number in range(dice.randint(1, 3) if merges < 3 else 0):
            made = simulated(tmp_path, 20, seed=10 * merges + number, probe={"period": "10s"})
            rows += made["rows_written"]
        seal(tmp_path)
        compact(tmp_path, now_ns)
        for path in tmp_path.glob("*/date=*/host=*/*.parquet"):
            if path.stat().st_mtime_ns > LATER + DAY_NS:
                os.utime(path, ns=(now_ns, now_ns))
        assert Store(tmp_path).count() == rows
        assert int(Store(tmp_path).rollups().columns["n_due"].sum()) == rows
        now_ns += 180 * SECOND if merges < 2 else 3600 * SECOND
    assert len(every_sealed(tmp_path)) == len(every_rollup(tmp_path)) == 1


def test_the_command_names_what_it_made(store, capsys):
    assert run("store", "compact", "--keep", "30000d", store=store) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 2
    assert "6 files merged into 2" in err or "merged into 2" in err
    assert "0 old files removed" in err
