"""iosonde runs: the comparison, one run, data; and the tables at every width."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.bench.report.details import details
from iosonde.bench.report.side_by_side import comparison
from iosonde.bench.runs import store as runs
from iosonde.bench.runs.compare import compare, comparison_table, slow_ranks
from iosonde.bench.runs.described import fault_words
from iosonde.cli.bench.bandwidth_options import rank_fault
from iosonde.cli.bench.values import fault
from iosonde.cli.shared.named_run import run_named
from iosonde.cli.shared.render import text_of
from iosonde.engine.contract import RUN_TYPES
from iosonde.model.errors import UsageError
from iosonde.model.runs import RunRow
from tests.kit.commands import run
from tests.kit.runs.made_runs import benchmark
from tests.kit.samples.makers import SECOND, START


def test_a_run_becomes_a_line_of_the_paper():
    (one,) = compare(benchmark())
    assert (one.creates_per_s, one.balance, one.max_ns) == (100.0, 0.682, 3.5e9)
    assert one.q75_ns == (1e6, 2e6, 3e6, 4e6)
    assert (one.ranks, one.data_sets, one.iterations, one.objects) == (2, 4, 2000, 10_000)
    header, (row,) = comparison_table([one])
    assert dict(zip(header, row, strict=True))["read_q75_ns"] == 1e6
    assert len(header) == len(row)


def test_iterations_are_medians_and_the_largest_max():
    rows = [
        r for i, rate in enumerate((10.0, 30.0, 20.0)) for r in benchmark(rate=rate, repetition=i)
    ]
    rows[0] = replace(rows[0], max_ns=9e9)
    (one,) = compare(rows)
    assert (one.creates_per_s, one.max_ns, one.repetitions) == (20.0, 9e9, 3)


def test_waiting_factors_together_and_apart():
    rows = [r for t, rate in ((4.0, 5.0), (0.0, 50.0)) for r in benchmark(rate=rate, factor=t)]
    (one,) = compare(rows)
    assert (one.creates_per_s, one.waiting_factors) == (50.0, 2)
    assert [o.creates_per_s for o in compare(rows, every_factor=True)] == [50.0, 5.0]
    assert "of several waiting factors" in comparison([one], START)
    assert "of several waiting factors" not in comparison(compare(rows, every_factor=True), START)


def test_bulk_takes_each_op_from_its_phase():
    parts = []
    for phase in ("create", "stat", "read", "delete"):
        for row in benchmark(pattern="bulk", phase=phase):
            if row.op in (None, f"md_{phase}"):
                parts.append(row)
    (one,) = compare(parts)
    assert (one.phase, one.creates_per_s) == ("bulk", 100.0)
    assert one.q75_ns == (1e6, 2e6, 3e6, 4e6)


def test_what_is_not_known_is_not_zero():
    row = RunRow(
        **{"run_id": "x", "source": "mdtest", "host": "h", "target": "t", "backend": "unknown"},
        **{"pattern": "cycle", "phase": "cleanup", "ranks": None, "ops": None},
    )
    (one,) = compare([row])
    text = comparison([one], START, 140)
    assert (one.creates_per_s, one.failed, one.q75_ns) == (None, None, (None,) * 4)
    assert "n/a" in text
    assert "quantiles: not measured" in text
    (rank_only,) = compare([replace(row, rank=3)])
    assert rank_only.run_id == "x"


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=60)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(NAMES, NAMES, st.floats(1e-3, 1e9), st.floats(1e-3, 1e6)), min_size=1, max_size=6
    ),
    st.integers(80, 200),
)
def test_the_table_fits_any_terminal(made, columns):
    rows = []
    for place, (name, target, rate, scale) in enumerate(made):
        rows += benchmark(
            f"{place}{name}", rate, scale=scale, target=target, factor=float(place % 2)
        )
    text = comparison(compare(rows), START, columns)
    table = text.partition("\n\n")[0].splitlines()
    assert len(table) == 2 + len(made)
    assert max(map(len, table)) <= columns
    assert all(line.isprintable() for line in text.splitlines())
    assert "creates/s" in table[1]


def test_wide_and_narrow():
    rows = compare(benchmark("one") + benchmark("two", target="/home", rate=2180.0))
    wide = comparison(rows, START, 140).splitlines()
    assert wide[1].split() == [
        *(
            "run",
            "when",
            "target",
            "backend",
            "what",
            "N",
            "D",
            "I",
            "P",
            "creates/s",
            "balance",
            "max",
        ),
        *("read", "stat", "create", "delete"),
    ]
    assert "2,180" in wide[3]
    assert "68.2%" in wide[2]
    narrow = comparison(rows, START, 80).splitlines()
    assert narrow[1].split()[-4:] == ["read", "stat", "create", "delete"]
    assert any(line.startswith("all: ") and "backend posix" in line for line in narrow)


def test_a_cut_name_still_names_its_run():
    """What a narrow table shows can be given to a command."""
    starts = ("selftest-20261121T042321-563348", "selftest-20261121T051213-118822")
    names = [f"{start}-{kind}" for start in starts for kind in ("ior-easy", "ior-hard")]
    rows = compare([row for name in names for row in benchmark(name)])
    cut = 0
    for columns in range(80, 160):
        lines = comparison(rows, START, columns).splitlines()
        shown = [line.split()[0] for line in lines[2:6]]
        if len(set(shown)) == len(names):
            assert sorted(run_named(name, names) for name in shown) == sorted(names)
            cut += "…" in shown[0]
    assert cut
    with pytest.raises(UsageError, match="begins 4 runs"):
        run_named("selftest", names)


def test_slow_ranks_are_named():
    (one,) = slow_ranks(benchmark())
    assert (one.ranks, one.median_ns, one.slowest) == (3, SECOND, ((1, "h", 2 * SECOND, 2.0),))
    text = text_of(details(benchmark(), START, ranks=True))
    assert "benchmark 0: 3 ranks, the middle one 1.00 s; slowest: rank 1 2.00 s (2.00x)" in text
    assert "from a histogram with 3 significant digits" in text


@pytest.fixture
def store(tmp_path):
    runs.write(tmp_path, benchmark("first-run"), 0)
    later = {"began_ns": START + SECOND, "target": "/home", "complete": False}
    runs.write(tmp_path, benchmark("second-run", outcomes={"ok": 3, "ENOSPC": 1}, **later), 0)
    return tmp_path


def test_the_command(store, capsys, utc, now):
    assert run("runs", store=store) == 0
    shown = capsys.readouterr().out
    assert shown.index("second-run") < shown.index("first-run")
    for order, first in (("oldest", "first-run"), ("name", "first-run"), ("newest", "second-run")):
        assert run("runs", "--sort", order, store=store) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[2].startswith(first)
    assert "cut: ended before all of its operations were done" in shown
    assert run("runs", "--target", "/home", store=store) == 0
    assert "first-run" not in capsys.readouterr().out
    assert run("runs", "seco", store=store) == 0
    shown = capsys.readouterr().out
    assert "1 ENOSPC, cut" in shown
    assert "not complete" in shown
    assert run("runs", "fist-run", store=store) == 2
    assert "try 'first-run'" in capsys.readouterr().err
    assert run("runs", "--ranks", store=store) == 2
    assert run("runs", "--since", "1d", store=store) == 2
    assert run("runs", "--since", "+1d", store=store) == 1
    assert "there are no runs for this question" in capsys.readouterr().err


def test_data(store, tmp_path, capsys, utc, now):
    assert run("runs", "--format", "csv", store=store) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert (list(rows[0]), len(rows)) == (list(RUN_TYPES), 16)
    assert run("runs", "first-run", "--format", "json", store=store) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["creates_per_s"] for one in found["runs"]] == [100.0]
    assert len(found["rows"]) == 8
    path = tmp_path / "runs.parquet"
    assert run("runs", "-o", str(path), store=store) == 0
    assert duckdb.sql(f"SELECT count(*), sum(ops) FROM '{path}'").fetchall() == [(16, 2 * 1400)]
    assert run("runs", "--format", "parquet", store=store) == 2
    assert run("export", "runs", "--target", "/home", store=store) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 8
    assert run("export", "runs", "--op", "creates", store=store) == 2


def test_the_header_names_faults_sizes_and_times_as_the_command_line_does():
    asked = ("write@1:+5ms", "read:x3", "all:hang:2s", "write:ENOSPC:1s:500ms")
    of_ranks = [rank_fault(text) for text in asked]
    (row, *_) = benchmark()
    text = text_of(details([replace(row, parameters={"faults": of_ranks, "block_bytes": 1 << 30})]))
    assert "faults " + ", ".join(asked) in " ".join(text.split())
    assert "block 1.00 GiB" in text
    assert "{" not in text


def test_a_fault_of_a_metadata_run_reads_as_it_was_written():
    for text in ("create:ENOSPC:2s:1s", "stat:+50ms", "all:x3", "read:hang"):
        assert fault_words(fault(text)) == text
    assert fault_words("what another version wrote") == "what another version wrote"
