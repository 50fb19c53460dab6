"""A benchmark phase that ends by time: as many iterations as it needs, whole pools, one phase in the rows."""

from __future__ import annotations

import shlex

import pytest

from iosonde.bench.report.cautions import run_cautions
from iosonde.bench.report.repeat import repeat_command
from iosonde.bench.runs import store as runs
from iosonde.model.runs import RunRow
from tests.kit.runs.driven import bench
from tests.kit.samples.makers import SECOND

GIB = 1 << 30


@pytest.fixture
def place(tmp_path):
    found = tmp_path / "work"
    found.mkdir()
    return found


def phases(store):
    return [
        row
        for row in runs.read(store)
        if row.rank is None and row.op is None and row.phase == "benchmark"
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("-n", "1"),
        ("-n", "2"),
        ("-n", "3", "-O", "2", "-W"),
        ("-n", "2", "--order", "random"),
        ("-n", "2", "--read-only"),
    ],
)
def test_a_phase_goes_on_until_its_time_is_over(place, store, words):
    """A pool of 20 objects is used up many times: nothing fails, and the rates count the time of all laps."""
    assert bench(place, *words, "-D", 2, "-P", 20, "-R", 2, "-w", "300ms", store=store) == 0
    found = phases(store)
    assert [row.repetition for row in found] == [0, 1]
    for row in found:
        assert row.complete
        assert row.failed == 0
        assert 0.3 * SECOND <= row.duration_ns < 3 * SECOND
        per_lap = 2 * 20 * (2 if "--read-only" in words else 4) * row.ranks
        assert row.ops > 2 * per_lap
        assert row.rate_per_s == pytest.approx(row.ops * 1e9 / row.duration_ns)
        assert row.outcomes == {"ok": row.ops}
    assert not any("before the limit" in text for text in run_cautions(runs.read(store)))
    assert not list(place.iterdir())


def test_each_op_is_counted_once_over_all_laps(place, store):
    assert bench(place, "-n", 2, "-D", 1, "-P", 10, "-R", 1, "-w", "100ms", store=store) == 0
    every = [row for row in runs.read(store) if row.phase == "benchmark" and row.op]
    for rank in (None, 0, 1):
        ops = {row.op: row for row in every if row.rank == rank}
        assert len(ops) == 4
        assert len({row.ops for row in ops.values()}) == 1
        for row in ops.values():
            # On a slow machine a rank has too few operations for a 0.99 quantile.
            told = [ns for ns in (row.q50_ns, row.q99_ns, row.max_ns) if ns is not None]
            assert told == sorted(told)
    assert len(every) == 12


def test_samples_of_all_laps_are_kept(place, store):
    words = ("-n", 2, "-D", 1, "-P", 10, "-R", 1, "-w", "50ms", "--samples")
    assert bench(place, *words, store=store) == 0
    import duckdb

    files = str(store / "samples" / "**" / "*benchmark*.parquet")
    ((n,),) = duckdb.sql(f"SELECT count(*) FROM read_parquet('{files}')").fetchall()
    assert n == phases(store)[0].ops


def test_the_command_of_such_a_run_asks_for_the_same(place, store):
    assert bench(place, "-P", 10, "-D", 1, "-R", 1, "-w", "50ms", store=store) == 0
    command = shlex.split(repeat_command(runs.read(store)) or "")
    assert "-I" not in command
    assert bench(*command[3:], store=store) == 0
    first, second = runs.read_runs(store)
    assert first.rows[0].parameters == second.rows[0].parameters


def test_iterations_that_end_before_the_limit_are_named(place, store, capsys):
    assert bench(place, "-P", 20, "-D", 1, "-I", 5, "-R", 1, "-w", "30s", store=store) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "before the limit of 30s: all 5 iterations were done; try it without -I" in said


def test_bulk_that_ends_before_the_limit_is_named(place, store):
    assert bench(place, "--pattern", "bulk", "-P", 20, "-D", 1, "-w", "30s", store=store) == 0
    found = [text for text in run_cautions(runs.read(store)) if "before the limit" in text]
    assert [text.partition(" ")[0] for text in found] == ["create"]
    assert "larger -P" in found[0]


# ---- cautions


def row(**more):
    common = {"run_id": "r", "source": "iosonde", "instrument": "metadata", "host": "h"}
    common |= {"target": "/work", "backend": "posix", "pattern": "cycle", "phase": "benchmark"}
    common |= {"ranks": 4, "ops": 10, "duration_ns": 9 * SECOND, "bytes": 1 << 20}
    common["parameters"] = {"data_sets": 10, "objects": 1000, "size_bytes": 3901, "offset": 1}
    common["machine"] = {"memory_bytes": 24 * GIB, "machines": 1, "file_system": "ext4"}
    return RunRow(**(common | more))


def test_a_set_that_fits_in_memory_is_named_with_what_to_try():
    (text,) = run_cautions([row()])
    assert "The files fit in this host's memory (149 MiB of 24.0 GiB)" in text
    assert "-P 330000" in text
    assert len(text.split()) <= 25
    parameters = row().parameters
    assert run_cautions([row(parameters=parameters | {"direct": True})]) == []
    assert run_cautions([row(parameters=parameters | {"objects": 330_000})]) == []
    assert run_cautions([row(backend="s3")]) == []
    apart = row(
        parameters=parameters | {"offset": 1}, ranks=4, machine=row().machine | {"machines": 4}
    )
    assert run_cautions([apart]) == []


def test_short_phases_are_named_once():
    rows = [row(repetition=n, duration_ns=(n + 1) * SECOND // 10, backend="s3") for n in range(3)]
    (text,) = run_cautions(rows)
    assert text.startswith("3 of 3 benchmark phases took 100 ms to 300 ms, under a second")
    assert "-w 30s" in text
    assert run_cautions([row(phase="precreate", duration_ns=5, backend="s3")]) == []


def test_a_wear_out_that_did_not_end_is_named():
    limits = row().parameters | {"limit_ns": SECOND, "wear_out_ns": 2 * SECOND}
    (text,) = run_cautions(
        [
            row(
                parameters=limits,
                backend="s3",
                stonewall_per_s=1.0,
                duration_ns=2 * SECOND,
                complete=False,
            )
        ]
    )
    assert "wear-out ended at its own limit, 2s" in text
