"""iosonde correlate: coefficients per group and pooled, what misleads, data out, errors in words."""

from __future__ import annotations

import csv
import dataclasses
import io
import json

import duckdb
import numpy as np
import pytest
from scipy import stats

from iosonde.jobs.correlate.correlate import correlate
from iosonde.jobs.table.derived import with_derived
from iosonde.jobs.table.from_files import merged
from iosonde.model.errors import UsageError
from tests.kit.commands import run
from tests.kit.jobs.tables import MAPPING, read, row, simulated, write

CF = "cf_bandwidth_ratio"


@pytest.fixture
def two(tmp_path):
    """Runs on file systems of which one is slowed by load, and the other faster and always loaded."""
    return simulated(tmp_path / "two.csv", np.random.default_rng(5))


@pytest.fixture
def mapping(tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text(MAPPING)
    return str(path)


def by_metric(found, group=()):
    return {one.metric: one for one in found.rows if one.group == group}


def test_coefficients_are_scipys(two):
    table = with_derived(read(two)[0].table).table
    found = correlate(table, by=("file_system",))
    rows = table.file_system == "a"
    x, y = table.metrics[CF][rows], table.metrics["fraction_of_peak_ratio"][rows]
    one = by_metric(found, ("a",))[CF]
    assert (one.pearson, one.pearson_p) == pytest.approx(stats.pearsonr(x, y))
    assert (one.spearman, one.spearman_p) == pytest.approx(stats.spearmanr(x, y), rel=1e-6)
    assert one.n == 60
    assert one.q <= 0.001
    assert one.enough
    assert one.pearson > 0.9


def test_a_sign_that_groups_turn_is_warned_of(two):
    table = with_derived(read(two)[0].table).table
    found = correlate(table, "performance_bytes_per_s", [CF], by=("file_system",))
    rows = {one.group: one for one in found.rows}
    assert list(rows) == [("a",), ("b",), ()]
    assert rows[()].pearson < -0.5
    assert rows["a",].pearson > 0.9
    kinds = {(one.coefficient, one.kind) for one in found.warnings}
    assert kinds & {("Pearson", "turned"), ("Pearson", "opposed")}
    assert kinds & {("Spearman", "turned"), ("Spearman", "opposed")}


def test_what_only_tells_groups_apart_is_warned_of(two):
    text = MAPPING + 'overloaded_osts = { expression = "(server_read_bytes >= 4294967296) * 2" }\n'
    table = with_derived(read(two, text)[0].table).table
    found = correlate(table, "performance_bytes_per_s", ["overloaded_osts"], by=("file_system",))
    assert [(one.kind, one.within) for one in found.warnings] == [("only-between", None)] * 2
    assert by_metric(found, ("b",))["overloaded_osts"].spearman is None


def test_a_control_takes_away_what_it_explains(tmp_path):
    rng = np.random.default_rng(3)
    cause = rng.uniform(0, 1, 80)
    rows = [
        f"{row(i, perf=f'{100 - 50 * c + rng.normal():.3f}')},{c:.6f},{c + 0.1 * rng.normal():.6f}"
        for i, c in enumerate(cause)
    ]
    head = "id,fs,app,rw,start,end,perf,own,sr,sw,cause,echo"
    table = with_derived(read(write(tmp_path / "t.csv", *rows, head=head))[0].table).table
    (one,) = correlate(table, metrics=["echo"], by=(), controls=["cause"]).rows
    assert one.spearman < -0.8
    assert abs(one.partial) < 0.3
    assert one.partial_p > 0.01


def test_a_metric_that_measures_the_run_itself_is_marked(tmp_path):
    rng = np.random.default_rng(4)
    rows = []
    for i in range(40):
        seconds = int(rng.uniform(50, 500))
        start = 1_700_000_000 + 86_400 * i
        rows.append(
            row(i, start=start, end=start + seconds, perf=5000 / seconds, sr=10**7 * seconds)
        )
    table = with_derived(read(write(tmp_path / "t.csv", *rows))[0].table).table
    found = by_metric(correlate(table, by=()))
    assert found["server_read_bytes"].contaminated
    before = table.about("server_read_bytes")._replace(role="climate")
    told = dataclasses.replace(table, abouts={"server_read_bytes": before})
    assert not by_metric(correlate(told, by=()))["server_read_bytes"].contaminated
    assert not correlate(table, metrics=["server_written_bytes"]).rows[0].contaminated


def test_files_of_one_mapping_are_one_table(tmp_path):
    parts = [
        read(write(tmp_path / "a.csv", row(2), row(1)))[0].table,
        read(write(tmp_path / "b.csv", row(0, perf="-0.0"), row(2)))[0].table,
    ]
    whole = merged(parts)
    assert whole.job_id.tolist() == ["100", "101", "102"]
    assert whole.source == "a.csv, b.csv"
    assert [*map(str, whole.reasons)] == ["1 left out: the same job again"]
    assert whole.flags == {(0, "performance_bytes_per_s"): ("negative-zero",)}


def test_an_unknown_metric_gets_a_hint(two):
    table = with_derived(read(two)[0].table).table
    with pytest.raises(UsageError, match=r"has no metric 'cf_bandwith_ratio'; .*try 'cf_bandwidth"):
        correlate(table, metrics=["cf_bandwith_ratio"])


def test_the_table_for_people(two, mapping, capsys):
    assert run("correlate", str(two), "--mapping", mapping, "--by", "file-system") == 0
    out, err = capsys.readouterr()
    assert out.startswith("two.csv: 120 runs; what goes with fraction of peak\n\na\n")
    assert "coverage factor (bandwidth)" in out
    assert "all rows together" in out
    assert err == "" or "do not pool them" in err
    asked = ("correlate", str(two), "--mapping", mapping, "--by", "file-system", "--top")
    assert run(*asked, "0") == 0
    every = capsys.readouterr()
    assert run(*asked, "-1") == 0
    assert capsys.readouterr() == every


def test_of_a_young_store_no_empty_tables_are_printed(tmp_path, mapping, capsys):
    rows = [row(i, fs=f"fs{i % 6}", sr=10**9 * (i % 7 + 1)) for i in range(12)]
    path = write(tmp_path / "t.csv", *rows)
    assert run("correlate", str(path), "--mapping", mapping) == 0
    out = capsys.readouterr().out
    assert "\n6 groups have too few runs\n" in out
    assert out.count("Spearman") == 1, "all rows together"
    path = write(tmp_path / "t.csv", *rows[:1], *rows[6:8])
    assert run("correlate", str(path), "--mapping", mapping, "--by", "file_system") == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "too few runs: fs0; fs1; all rows together"
    assert "Spearman" not in out


def test_controls_get_columns_of_their_own(two, mapping, capsys):
    options = ["--mapping", mapping, "--by", "none", "--control", "others_bytes_per_s"]
    assert run("correlate", str(two), *options, "--with", "performance_bytes_per_s") == 0
    head = capsys.readouterr().out.splitlines()[3].split()
    assert head == ["n", "Pearson", "p", "Spearman", "p", "q", "n_eff", "partial", "p"]


def test_data_out(two, mapping, tmp_path, capsys):
    arguments = ["correlate", str(two), "--mapping", mapping, "--metrics", CF, "--by", "none"]
    assert run(*arguments, "--format", "csv") == 0
    (line,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (line["metric"], line["n"], line["group"], line["unit"]) == (CF, "120", "", "ratio")
    assert run(*arguments, "--format", "json") == 0
    (one,) = json.loads(capsys.readouterr().out)["tables"]
    assert one["correlations"][0]["pearson"] == pytest.approx(float(line["pearson"]))
    assert one["mapping"] == "jobs"
    assert run(*arguments, "-o", str(tmp_path / "c.parquet")) == 0
    sql = f"SELECT pearson, n FROM '{tmp_path / 'c.parquet'}'"
    assert duckdb.sql(sql).fetchall() == [(pytest.approx(float(line["pearson"])), 120)]


def test_rows_asked_for(two, mapping, capsys):
    common = ["correlate", str(two), "--mapping", mapping, "--metrics", CF, "--format", "json"]
    common += ["--file-system", "a", "--motif", "writer write"]
    assert run(*common, "--since", "2023-12-01", "--until", "2023-12-31") == 0
    (one,) = json.loads(capsys.readouterr().out)["tables"]
    assert one["jobs"] == 15
    assert run(*common, "--since", "2030-01-01") == 1
    assert "two.csv has no row for this question" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--by", "moon"],
            "cannot group by 'moon'; expected some of file_system, motif, climate; or none",
        ),
        (["--file-system", "aa"], "has no file system 'aa'; expected one of a, b"),
        (["--with", "speed"], "has no metric 'speed'"),
        (["--mapping", "/nowhere/x.toml"], "cannot read the mapping /nowhere/x.toml"),
        (["--format", "parquet"], "Parquet cannot go to a terminal or pipe; try -o FILE"),
    ],
)
def test_what_is_wrong_is_one_line(two, mapping, capsys, arguments, message):
    assert run("correlate", str(two), "--mapping", mapping, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_bad_rows_are_told_a_few_times_only(tmp_path, mapping, capsys):
    rows = [row(i, sr=10**9 * (i % 7)) for i in range(12)]
    path = write(tmp_path / "t.csv", *rows, *["1,2"] * 9)
    assert run("correlate", str(path), "--mapping", mapping, "--by", "none") == 0
    err = capsys.readouterr().err.splitlines()
    assert err[0].startswith(f"note: left out: {path}, line 14: 2 fields")
    assert err[5] == "note: left out: 4 more rows"


def test_a_table_without_a_performance_asks_for_one(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i * i % 7}\n" for i in range(20)))
    assert run("correlate", str(path)) == 2
    assert "t.csv has no I/O performance; try --with METRIC" in capsys.readouterr().err
    assert run("correlate", str(path), "--with", "y", "--by", "none") == 0
    assert "all rows" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "jsonl.gz"])
def test_parquet_and_json_lines_say_the_same_as_text(two, mapping, tmp_path, capsys, kind):
    path = tmp_path / f"it's.{kind}"
    with duckdb.connect() as con:
        form = "parquet" if kind == "parquet" else "json"
        packed = ", COMPRESSION gzip" if kind.endswith("gz") else ""
        target = str(path).replace("'", "''")
        con.execute(f"COPY (FROM read_csv('{two}')) TO '{target}' (FORMAT {form}{packed})")
    found = []
    for one in (two, path):
        options = ["--mapping", mapping, "--format", "json"]
        assert run("correlate", str(one), *options) == 0
        (table,) = json.loads(capsys.readouterr().out)["tables"]
        found.append(table)
    assert found[0].pop("source") == "two.csv"
    assert found[1].pop("source") == path.name
    assert found[0] == found[1]


@pytest.mark.parametrize("data", [b"PAR1 and no more", b'{"a"\n{"a": \n'])
def test_a_broken_table_of_another_kind_is_one_line(tmp_path, capsys, data):
    path = tmp_path / "t.parquet"
    path.write_bytes(data)
    assert run("correlate", str(path)) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"iosonde: cannot read {path}: ")
    assert err.count("\n") == 1
