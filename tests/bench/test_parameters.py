"""What each parameter does, seen from outside."""

import pytest

from tests.kit.runs.driven import (
    OPS,
    SMALL,
    bench,
    by_op,
    counts,
    data_set,
    left_in,
    lines_of_table,
    pool,
    rows_of,
    whole,
)

KEPT = ("--phases", "precreate,benchmark")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--order", "random"),
        ("--one-by-one",),
        ("--one-by-one", "--order", "random"),
        ("-n", 3, "-O", 0),
        ("-n", 3, "-O", 2),
        ("-n", 2, "-T", "1/16"),
        ("--fsync", "--verify"),
    ],
)
def test_a_benchmark_phase_moves_every_pool_by_i(place, store, words):
    assert bench(place, *SMALL, "-R", 2, *words, *KEPT, store=store) == 0
    ranks = words[1] if "-n" in words else 1
    for rank in range(ranks):
        for number in range(2):
            assert pool(place, rank, number) == list(range(10, 30))
    rows = rows_of(store)
    for repetition in range(2):
        assert by_op(rows, "benchmark", repetition) == dict.fromkeys(OPS, 10 * ranks)
    assert len(whole(rows)) == 2
    assert bench(place, "--phases", "cleanup") == 0
    assert left_in(place) == []


def test_an_object_is_of_the_size_asked_for(place):
    for size, number in (("0", 0), ("1", 1), ("12k", 12 << 10)):
        assert bench(place, *SMALL, "-S", size, "--verify", *KEPT) == 0
        assert {path.stat().st_size for path in data_set(place).iterdir()} == {number}
        assert bench(place, "--phases", "cleanup") == 0


@pytest.mark.parametrize(("offset", "reader"), [(0, 1), (1, 2), (2, 0), (4, 2)])
def test_the_offset_says_who_reads_whose_objects(place, store, offset, reader):
    words = ("-n", 3, "-D", 1, "-P", 12, "-R", 1)
    assert bench(place, *words, "--phases", "precreate") == 0
    oldest = min(data_set(place, rank=1).iterdir())
    oldest.write_bytes(b"?" * 3901)
    look = ("-O", offset, "-I", 3, "--read-only", "--verify", "--phases", "benchmark")
    assert bench(place, *words, *look, store=store) == 1
    bad = {row.rank: row.outcomes for row in rows_of(store) if row.op == "md_read" and row.failed}
    assert set(bad) == {None, reader}
    assert bad[reader] == {"ok": 2, "corrupt": 1}


def test_waits_are_measured_and_last_as_long_as_was_asked(store):
    words = ("null:", "-n", 2, "-D", 1, "-P", 10, "-I", 5, "-R", 1, "--fault", "all:+5ms")
    assert bench(*words, "-T", 2, store=store) == 0
    (row,) = whole(rows_of(store))
    assert row.waiting_factor == 2
    assert row.op_time_ns >= 40 * 5_000_000
    assert 1.9 < row.wait_time_ns / row.op_time_ns < 4
    assert row.duration_ns > 5 * 4 * 5_000_000 * 2.8
    (made,) = whole(rows_of(store), "precreate")
    assert (made.wait_time_ns, made.waiting_factor) == (0, 0)


def test_read_only_changes_nothing(place, store):
    assert bench(place, *SMALL, "-n", 2, "--phases", "precreate") == 0
    before = {p: p.stat().st_ino for p in place.rglob("*") if p.is_file() and len(p.name) == 16}
    look = ("-n", 2, "-R", 2, "-I", 30, "--read-only", "--phases", "benchmark")
    assert bench(place, *look, store=store) == 0
    assert by_op(rows_of(store), "benchmark", 1) == {"md_stat": 120, "md_read": 120}
    after = {p: p.stat().st_ino for p in place.rglob("*") if p.is_file() and len(p.name) == 16}
    assert before == after


def test_bulk_is_four_phases_between_barriers(place, store):
    words = ("--pattern", "bulk", "-n", 3, "-D", 2, "-P", 7, "-R", 2)
    assert bench(place, *words, store=store) == 0
    expected = {
        (op, repetition, f"md_{op}", None): 42
        for op in ("create", "stat", "read", "delete")
        for repetition in range(2)
    }
    assert counts(rows_of(store)) == expected
    assert left_in(place) == []


def test_bulk_in_one_shared_directory(place, store):
    words = ("--pattern", "bulk", "--shared", "-n", 3, "-D", 2, "-P", 7)
    assert bench(place, *words, "--keep", store=store) == 0
    assert [path.name for path in data_set(place).parent.parent.glob("r*")] == ["r00000"]
    assert pool(place, 0, 1) == list(range(21))
    assert set(counts(rows_of(store)).values()) == {42}
    assert bench(place, *words, "--phases", "stat,read,delete") == 0
    assert left_in(place) == []


def test_bulk_goes_on_with_what_the_stonewall_left(place, store):
    words = ("--pattern", "bulk", "-n", 2, "-D", 1, "-P", 1000, "-w", "200ms")
    assert bench(place, *words, "--fault", "create:+40ms", store=store) == 0
    made = by_op(rows_of(store), "create")["md_create"]
    assert 2 <= made <= 12
    assert {by_op(rows_of(store), op)[f"md_{op}"] for op in ("stat", "read", "delete")} == {made}
    assert left_in(place) == []


@pytest.mark.parametrize("wear_out", [(), ("-W",), ("-W", "300ms")])
def test_a_stonewall_ends_a_phase_and_wearing_out_levels_the_ranks(place, store, wear_out):
    words = ("-n", 3, "-D", 1, "-P", 400, "-I", 400, "-R", 1, "-O", 0)
    limit = ("--fault", "stat:+40ms", "-w", "250ms", *wear_out)
    assert bench(place, *words, *limit, store=store) == 0, (
        "a limit that was asked for is no failure"
    )
    rows = rows_of(store)
    (row,) = whole(rows)
    assert not row.complete
    assert row.duration_ns >= 250_000_000
    assert row.stonewall_per_s > 0
    assert row.rate_per_s > 0
    steps = {r.rank: r.ops for r in rows if r.phase == "benchmark" and r.op == "md_stat"}
    assert 3 <= steps.pop(None) <= 3 * 8
    assert all(1 <= done <= 8 for done in steps.values()), "not all 400"
    if wear_out == ("-W",):
        assert len(set(steps.values())) == 1
    assert left_in(place) == []


def test_a_sweep_is_one_table(place, store, capsys):
    words = ("-n", "1,2", "-D", "1,2", "-I", "2,4", "-P", "4,8", "-R", 1)
    assert bench(place, *words, store=store) == 0
    assert len(lines_of_table(capsys.readouterr().out)) == 8
    found = whole(rows_of(store))
    asked = {
        (row.ranks, *(row.parameters[name] for name in ("data_sets", "iterations", "objects")))
        for row in found
    }
    pairs = [(2, 4), (4, 8)]
    assert asked == {(n, d, *pair) for n in (1, 2) for d in (1, 2) for pair in pairs}
    assert len({row.run_id for row in found}) == 8
    assert left_in(place) == []


def test_one_place_that_cannot_be_does_not_keep_another(place, store, capsys):
    words = (place / "missing", place, place / "gone", *SMALL)
    assert bench(*words, store=store) == 1
    seen = capsys.readouterr()
    assert f"{place}/missing: cannot open" in seen.err
    assert f"{place}/gone: cannot open" in seen.err
    assert {row.target for row in rows_of(store)} == {str(place)}
    assert lines_of_table(seen.out)


def test_a_fault_is_for_its_time_only(store):
    words = ("null:", "-D", 1, "-P", 100, "-I", 50, "-R", 1, "--max-errors", "1000")
    faults = ("--fault", "create:+10ms", "--fault", "stat:EIO:0s:100ms")
    assert bench(*words, *faults, store=store) == 0, "that time was over"
    assert bench(*words, "--fault", "stat:EIO", "--fault", "read:x2", store=store) == 1
    first, second = whole(rows_of(store))
    assert first.outcomes == {"ok": 200}
    assert second.outcomes == {"ok": 150, "EIO": 50}
