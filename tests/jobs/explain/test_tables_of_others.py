"""Tables that are unlike those of the known monitors: run times as performance, metrics of their own, nothing known."""

from __future__ import annotations

import json

import numpy as np
import pytest

from iosonde.jobs.climate.metrics import safe_metrics
from iosonde.jobs.correlate.correlate import usual_metrics
from iosonde.jobs.explain.explain import explain
from iosonde.jobs.explain.words import judge
from iosonde.jobs.table.derived import fraction_of_peak, with_derived
from iosonde.jobs.umami.diagram import umami
from iosonde.model.job_metrics import About
from tests.kit.commands import run
from tests.kit.jobs.jobs_made import table

MAPPING = """
[job]
job_id = "Auftrag"
file_system = "Pfad"
begin = "begin"

[metrics]
elapsed_s = { column = "Laufzeit (min)", unit = "min", role = "performance", good = "low", label = "run time" }
temperature = { column = "Temperatur °C", good = "low", label = "room temperature" }

[[motif]]
column = "Programm"
"""


@pytest.fixture
def made(tmp_path):
    """Forty runs; the last took twice as long, in a hot room."""
    random = np.random.default_rng(4)
    minutes = 10 * np.exp(0.05 * random.normal(size=40))
    heat = 20 + random.normal(size=40)
    minutes[39], heat[39] = 20.0, 35.0
    rows = ["Auftrag;Pfad;Programm;begin;Laufzeit (min);Temperatur °C;Zähler"]
    for i in range(40):
        begin = 1_791_676_800 + 86_400 * i
        rows.append(f"ä{i};/größe;sim;{begin};{minutes[i]:.4f};{heat[i]:.3f};{i * 7}")
    (tmp_path / "jobs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "jobs.toml").write_text(MAPPING, encoding="utf-8")
    return [str(tmp_path / "jobs.csv"), "--mapping", str(tmp_path / "jobs.toml")]


def test_a_run_time_is_a_performance(made, capsys):
    assert run("jobs", *made, "--limit", "1") == 0
    assert " 20 min " in capsys.readouterr().out
    assert run("explain", *made, "--job", "ä39") == 0
    sentence, *rest = capsys.readouterr().out.splitlines()
    assert sentence.startswith("job ä39 was 5")
    assert any("its kind: sim on /größe" in line for line in rest)
    assert "slower than usual" in sentence
    assert any("the slowest of 40 runs" in line for line in (sentence, *rest))
    assert "never seen in 39 runs (chance: 0.03 of 1)" in sentence
    assert any("so history cannot say what it costs" in line for line in rest)
    assert "room temperature 35 (usual 19.9" in sentence
    assert any(line.startswith("room temperature") and "bad" in line for line in rest)
    assert run("climate", *made) == 0
    assert "in 1 series" in capsys.readouterr().out
    assert run("correlate", *made, "--format", "json") == 0
    (one,) = json.loads(capsys.readouterr().out)["tables"][0]["correlations"]
    assert (one["metric"], one["n"]) == ("temperature", 40)


def test_the_shortest_run_is_the_peak():
    about = {"elapsed_s": About("s", "run time", "low", "performance")}
    some = table({"elapsed_s": [10.0, 20.0, 0.0, np.nan, 5.0]}, abouts=about)
    found = with_derived(some).table.metrics["fraction_of_peak_ratio"]
    np.testing.assert_array_equal(found, [0.5, 0.25, np.nan, np.nan, 1.0])
    of_mean = fraction_of_peak(some, "median", performance="elapsed_s")
    np.testing.assert_allclose(of_mean, [1.0, 0.5, np.nan, np.nan, 2.0])
    both = table({"elapsed_s": [10.0, 20.0], "performance_bytes_per_s": [1.0, 4.0]}, abouts=about)
    found = with_derived(both).table.metrics["fraction_of_peak_ratio"]
    np.testing.assert_array_equal(found, [0.25, 1.0])


def test_rows_are_what_the_table_describes_where_nothing_usual_is_known():
    columns = {f"m{i}": list(range(8)) for i in range(14)}
    about = {name: About("", name, "low") for name in columns}
    about["own_size"] = About("bytes", "size", None, "own")
    some = table({"performance_bytes_per_s": [1.0] * 8, "own_size": [1.0] * 8, **columns}, abouts=about)  # fmt: skip
    rows = [row.metric for row in umami(some, "8").rows]
    assert rows == ["performance_bytes_per_s", *(f"m{i}" for i in range(9))]
    usual = some.with_metrics({"mds_cpu_mean_percent": np.arange(8.0)})
    assert [row.metric for row in umami(usual, "8").rows] == ["performance_bytes_per_s", "mds_cpu_mean_percent"]  # fmt: skip  # noqa: E501


def test_climate_asks_what_is_described_and_no_numbers_that_happen_to_be_there():
    columns = {f"column {i}": np.arange(30.0) for i in range(50)}
    about = {"heat": About("", "heat", "low")}
    some = table({"performance_bytes_per_s": np.ones(30), "heat": np.ones(30), **columns}, abouts=about)  # fmt: skip
    assert [one.name for one in safe_metrics(some)] == ["heat"]
    nothing = table({"performance_bytes_per_s": np.ones(30), "heat": np.ones(30)})
    assert [one.name for one in safe_metrics(nothing)] == ["heat"]


def test_a_performance_does_not_explain_itself():
    columns = {
        "performance_bytes_per_s": np.arange(30.0),
        "heat": np.ones(30),
        "own_bytes": np.ones(30),
    }
    some = with_derived(table(columns)).table
    assert usual_metrics(some, "fraction_of_peak_ratio") == ["heat"]
    assert "performance_bytes_per_s" in usual_metrics(some, "heat")
    alone = some.take(slice(None))
    del alone.metrics["heat"]
    assert usual_metrics(alone, "fraction_of_peak_ratio") == []


def test_absurd_numbers_are_missing_in_the_sentence_as_in_the_diagram():
    rate = np.full(20, 1e300)
    assert judge(explain(table({"performance_bytes_per_s": rate}), "20")).verdict == "not known"


def test_a_table_of_which_nothing_is_known_is_no_list_of_jobs(tmp_path, capsys):
    path = tmp_path / "other.csv"
    path.write_text("alpha,beta\n1,2\n3,4\n")
    assert run("jobs", str(path)) == 2
    assert "no column of other.csv holds job IDs" in capsys.readouterr().err


def test_a_job_of_a_table_without_a_row_gets_the_reason(tmp_path, capsys):
    path, mapping = tmp_path / "jobs.csv", tmp_path / "jobs.toml"
    path.write_text("id,begin,rate\n1,1791676800,0\n2,1791763200,0\n")
    mapping.write_text('[job]\njob_id = "id"\nbegin = "begin"\n\n[metrics]\nperformance_bytes_per_s = "rate"\n')  # fmt: skip  # noqa: E501
    asked = [str(path), "--mapping", str(mapping)]
    assert run("explain", *asked, "--job", "1") == 2
    assert "no row of jobs.csv is left (2 left out: moved nothing)" in capsys.readouterr().err
    assert run("jobs", *asked) == 0
    assert "There is no job." in capsys.readouterr().out
