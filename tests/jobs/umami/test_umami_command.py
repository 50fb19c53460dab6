"""iosonde explain --diagram: a table in, a diagram out."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from iosonde.cli.main import main
from tests.kit.jobs.jobs_made import simulated

MAPPING = """
[job]
job_id = "id"
file_system = "fs"
begin = { column = "begin", unit = "s" }
[[motif]]
column = "kind"
[metrics]
mds_cpu_mean_percent = "mds"
cf_bandwidth_ratio = "cover"
"""


@pytest.fixture
def jobs(tmp_path: Path) -> list[str]:
    """A table as a site may have it, and what its columns mean."""
    made = simulated()
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["id", "fs", "begin", "kind", "mds", "cover"])
    for row in range(len(made)):
        mds = made.metrics["mds_cpu_mean_percent"][row]
        cover = made.metrics["cf_bandwidth_ratio"][row]
        begin = int(made.start_ns[row]) // 10**9
        writer.writerow(
            [made.job_id[row], "work", begin, "ior write", "" if row == 4 else mds, cover]
        )
    (tmp_path / "jobs.csv").write_text(text.getvalue())
    (tmp_path / "site.toml").write_text(MAPPING)
    return [str(tmp_path / "jobs.csv"), "--mapping", str(tmp_path / "site.toml")]


def test_the_diagram_is_printed(jobs: list[str], capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["explain", "--diagram", *jobs, "--job", "30"]) == 0
    out = capsys.readouterr().out
    assert "Job 30, 2026-11-09 00:00 UTC: ior write on work" in out
    assert "within 29 earlier runs" in out
    assert "-- bad" in out
    assert "\x1b" not in out, "not a terminal"
    assert max(map(len, out.splitlines())) <= 80


def test_numbers_come_in_the_units_of_the_model(jobs: list[str], capsys) -> None:
    assert main(["explain", "--diagram", *jobs, "--job", "30", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["metric"]: row for row in found["rows"]}
    busy = rows["mds_cpu_mean_percent"]
    assert (busy["value"], busy["class"], busy["n_history"]) == (11.5, "bad", 28)
    assert busy["values"][4] is None
    known = [v for v in busy["values"][:-1] if v is not None]
    assert busy["q50"] == pytest.approx(np.percentile(known, 50))
    assert main(["explain", "--diagram", *jobs, "--job", "30", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["class"] for row in rows] == ["bad", "bad"]


def test_it_is_drawn(jobs: list[str], tmp_path: Path, capsys) -> None:
    for name in ("x.png", "x.svg", "x.json"):
        plot = tmp_path / name
        assert (
            main(
                [
                    "explain",
                    "--diagram",
                    *jobs,
                    "--job",
                    "12",
                    "--history",
                    "all",
                    "--plot",
                    str(plot),
                ]
            )
            == 0
        )
        assert plot.stat().st_size > 1000
    assert json.loads((tmp_path / "x.json").read_text())["place"] == 11
    assert "wrote" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--job", "31"], "there is no job '31'"),
        (["--job", "3O"], "3"),
        (["--job", "30", "--metric", "mds_cpu"], "mds_cpu_mean_percent"),
        (["--job", "30", "--last", "0"], "1 or more"),
        (["--job", "30", "--store", "x"], "both TABLE and --store"),
        ([], "--job"),
        (["--job", "30", "--plot", "x.png", "--width", "1"], "inches"),
    ],
)
def test_wrong_requests_are_told_in_one_line(
    jobs: list[str], more: list[str], words: str, capsys
) -> None:
    assert main(["explain", "--diagram", *jobs, *more]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert words in error
    assert error.startswith("iosonde: ")


def test_without_a_table_the_store_is_asked(tmp_path: Path, capsys) -> None:
    assert main(["explain", "--diagram", "--job", "1", "--store", str(tmp_path)]) == 1
    assert "jobs" in capsys.readouterr().err
    assert main(["explain", "--diagram", "--job", "1", "--mapping", "x.toml"]) == 2
