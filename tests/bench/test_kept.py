"""Trees that are kept: used again, checked, never mistaken for somebody else's."""

import threading

import pytest

from tests.kit.runs.driven import (
    OPS,
    SMALL,
    bench,
    by_op,
    data_set,
    ended,
    left_in,
    pool,
    rows_of,
    started,
    until,
    wait_for,
    whole,
)

MAKE = (*SMALL, "--phases", "precreate")
LOOK = ("-I", 5, "-R", 1, "--phases", "benchmark")


@pytest.fixture
def kept(place):
    """A place with a tree of one rank, two data sets of twenty objects."""
    assert bench(place, *MAKE) == 0
    return place


def test_phases_one_by_one_and_again(place, store):
    assert bench(place, *MAKE, store=store) == 0
    assert pool(place, 0, 1) == list(range(20))
    for again in range(1, 4):
        assert bench(place, *LOOK, store=store) == 0
        assert pool(place, 0, 1) == list(range(5 * again, 20 + 5 * again))
    assert bench(place, "--phases", "cleanup", store=store) == 0
    assert left_in(place) == []
    rows = rows_of(store)
    assert [row.phase for row in whole(rows, "benchmark")] == ["benchmark"] * 3
    assert by_op(rows, "cleanup") == {"md_delete": 40}


def test_what_is_not_asked_for_is_as_the_tree_has_it(place, store):
    assert bench(place, "-n", 2, "-D", 3, "-P", 11, "-S", 77, "--phases", "precreate") == 0
    assert bench(place, "-n", 2, *LOOK, store=store) == 0
    (row,) = whole(rows_of(store))
    had = {name: row.parameters[name] for name in ("data_sets", "objects", "size_bytes")}
    assert had == {"data_sets": 3, "objects": 11, "size_bytes": 77}
    assert by_op(rows_of(store), "benchmark") == dict.fromkeys(OPS, 2 * 3 * 5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-n", 2), "ranks 1 (asked for: 2)"),
        (("-D", 3), "data_sets 2 (asked for: 3)"),
        (("-P", 21), "objects 20 (asked for: 21)"),
        (("-S", "1k"), "size_bytes 3901 (asked for: 1024)"),
        (("--pattern", "bulk", "--phases", "stat"), "pattern cycle (asked for: bulk)"),
    ],
)
def test_a_tree_that_was_made_otherwise_is_told(kept, capsys, words, said):
    before = pool(kept)
    assert bench(kept, *LOOK, *words) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "--phases cleanup" in err
    assert pool(kept) == before


@pytest.mark.parametrize("ranks", [1, 3])
def test_cleanup_takes_any_tree_whatever_is_asked_beside(place, ranks):
    assert bench(place, "--pattern", "bulk", "-n", 2, "-D", 1, "-P", 5, "--keep") == 0
    assert bench(place, "-n", ranks, "--phases", "cleanup") == 0
    assert left_in(place) == []


def test_precreate_on_a_begun_tree_makes_what_is_missing(kept, store):
    newest = sorted(data_set(kept).iterdir())[-3:]
    for path in newest:
        path.unlink()
    assert bench(kept, *MAKE, store=store) == 0
    assert by_op(rows_of(store), "precreate") == {"md_create": 3}
    assert pool(kept) == list(range(20))


def test_holes_are_mended_before_the_clock_runs(kept, store, capsys):
    sorted(data_set(kept).iterdir())[7].unlink()
    assert bench(kept, *LOOK, store=store) == 0
    assert "the kept tree was repaired: 1 objects made, 0 removed" in capsys.readouterr().err
    assert by_op(rows_of(store), "benchmark") == dict.fromkeys(OPS, 10)


def test_content_that_is_not_what_was_written_is_found(kept, store, capsys):
    oldest = sorted(data_set(kept).iterdir())
    flipped = bytearray(oldest[1].read_bytes())
    flipped[100] ^= 1
    oldest[1].write_bytes(flipped)
    oldest[3].write_bytes(b"")
    assert bench(kept, *LOOK, "--verify", store=store) == 1
    rows = {row.op: row for row in rows_of(store) if row.rank is None}
    assert rows["md_read"].outcomes == {"ok": 8, "corrupt": 1, "short": 1}
    assert rows["md_stat"].outcomes == {"ok": 9, "short": 1}
    assert rows["md_delete"].outcomes == {"ok": 10}
    assert rows[None].failed == 3
    err = capsys.readouterr().err
    assert "corrupt: not what was written" in err
    assert "short: fewer bytes than were written" in err
    assert bench(kept, *LOOK, "--verify") == 0, "they are gone by now"


def test_what_is_not_verified_is_not_found(kept, store):
    oldest = min(data_set(kept).iterdir())
    oldest.write_bytes(b"?" * 3901)
    assert bench(kept, *LOOK, store=store) == 0


def test_an_object_that_vanishes_meanwhile_is_counted(kept, store):
    first, *_, last = sorted(data_set(kept).iterdir())[:5]

    def thief():
        wait_for(lambda: not first.exists())
        last.unlink()

    theft = threading.Thread(target=thief)
    theft.start()
    code = bench(kept, *LOOK, "--fault", "stat:+100ms", store=store)
    theft.join()
    assert code == 1
    failed = {r.op: r.outcomes for r in rows_of(store) if r.rank is None and r.op and r.failed}
    assert failed == {op: {"ok": 9, "ENOENT": 1} for op in ("md_stat", "md_read", "md_delete")}


def test_without_a_tree_there_is_nothing_to_measure(place, capsys):
    assert bench(place, *LOOK) == 2
    assert "there is no kept tree" in capsys.readouterr().err
    assert left_in(place) == []
    assert bench(place, "--phases", "cleanup") == 0
    assert left_in(place) == []


@pytest.mark.parametrize("phases", ["precreate", "cleanup", "precreate,benchmark,cleanup"])
def test_what_is_in_the_way_is_left_alone(place, tmp_path, capsys, phases):
    (own,) = {path.name for path in _own_name(tmp_path)}
    for make in (_file, _strangers, _link):
        make(place / own, tmp_path)
        before = sorted(place.rglob("*")), left_in(tmp_path / "elsewhere")
        assert bench(place, *SMALL, "--phases", phases) == 1
        err = capsys.readouterr().err
        assert "nothing of it was touched" in err
        assert (sorted(place.rglob("*")), left_in(tmp_path / "elsewhere")) == before
        (place / own).rename(tmp_path / f"away-{make.__name__}")


def _own_name(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    trial = tmp_path / "trial"
    trial.mkdir()
    assert bench(trial, *MAKE) == 0
    return list(trial.iterdir())


def _file(path, tmp_path):
    path.write_text("mine")


def _strangers(path, tmp_path):
    (path / "bench-metadata").mkdir(parents=True)
    (path / "bench-metadata" / "theirs").write_text("mine")


def _link(path, tmp_path):
    path.symlink_to(tmp_path / "elsewhere")


def test_a_link_in_place_of_a_data_set_is_not_followed(kept, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / f"{0:016x}").write_text("mine")
    folder = data_set(kept, 0, 1)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(elsewhere)
    assert bench(kept, *LOOK) == 1
    assert bench(kept, "--phases", "cleanup") == 1
    assert (elsewhere / f"{0:016x}").read_text() == "mine"
    folder.unlink()
    assert bench(kept, "--phases", "cleanup") == 0
    assert left_in(kept) == []


def test_a_strangers_file_in_a_data_set_stays(kept, store, capsys):
    (data_set(kept) / "theirs").write_text("mine")
    assert bench(kept, *LOOK) == 0
    assert bench(kept, "--phases", "cleanup", store=store) == 1
    assert (data_set(kept) / "theirs").read_text() == "mine"
    assert "objects are left" in capsys.readouterr().err
    assert by_op(rows_of(store), "cleanup") == {"md_delete": 40}
    (data_set(kept) / "theirs").unlink()
    assert bench(kept, "--phases", "cleanup") == 0
    assert left_in(kept) == []


def test_a_damaged_note_is_told(kept, capsys):
    note = data_set(kept).parent.parent / "note"
    good = note.read_text()
    for text in (good[:-9], good.replace("1,", "2,", 1), good.replace("20", '"20"'), "[]", ""):
        note.write_text(text)
        assert bench(kept, *LOOK) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "what the kept tree says of itself" in line
    note.write_text(good)
    assert bench(kept, *LOOK) == 0


def test_another_run_at_the_same_time_is_told(place, capsys):
    words = ("-D", 1, "-P", 4, "-I", 4, "-R", 1000, "--fault", "stat:+100ms")
    with started(place, *words, "--no-store") as first:
        until(first, '"benchmark"')
        assert bench(place, *words) == 1
        assert "another run uses the tree" in capsys.readouterr().err
        assert bench(place, "--phases", "cleanup") == 1
        assert "another run uses the tree" in capsys.readouterr().err
        assert len(pool(place)) in (3, 4), "nothing of the first run was touched"
        first.terminate()
        assert ended(first)[0] == 130
    assert left_in(place) == []
