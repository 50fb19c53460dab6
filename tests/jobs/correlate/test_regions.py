"""Correlations by pieces of time: given boundaries, and climates that were made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from iosonde.jobs.climate.answers import regions_of
from iosonde.jobs.climate.regions import between, climates
from iosonde.jobs.correlate.answers import correlate
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.jobs import JobTable
from tests.kit.commands import run
from tests.kit.jobs.climates_made import weathered
from tests.kit.jobs.jobs_made import DAY, START_S, table

NS = 10**9


def two_regimes(seed: int, change: int = 100, n: int = 240) -> JobTable:
    """Until a day performance falls with the fullness, from then on with the CPU of the metadata servers."""
    rng = np.random.default_rng(seed)
    full, cpu = rng.standard_normal((2, n))
    which = np.where(np.arange(n) < change, full, cpu)
    ratio = np.exp(-0.1 * which - 0.5 + 0.02 * rng.standard_normal(n))
    return table(
        {
            "fraction_of_peak_ratio": ratio,
            "fullest_ost_percent": 60 + 2 * full,
            "mds_cpu_mean_percent": 10 + cpu,
        },
        file_system="work",
        motif="ior shared write",
    )


@pytest.mark.parametrize("seed", range(4))
def test_what_goes_with_performance_differs_between_boundaries(seed: int) -> None:
    made = two_regimes(seed)
    boundary = (START_S + 100 * DAY) * NS
    regions = regions_of(made, [boundary])
    found = correlate(made, "fraction_of_peak_ratio", by=("file_system",), regions=regions).found
    assert found.by == ("file_system", "climate")
    rows = {(row.group, row.metric): row for row in found.rows if row.group}
    first, second = ("work", "until 2027-01-19"), ("work", "from 2027-01-19")
    assert {group for group, _ in rows} == {first, second}
    for group, own, other in (
        (first, "fullest_ost_percent", "mds_cpu_mean_percent"),
        (second, "mds_cpu_mean_percent", "fullest_ost_percent"),
    ):
        assert rows[group, own].n == (100 if group == first else 140)
        assert (rows[group, own].spearman or 0) < -0.9
        assert abs(rows[group, other].spearman or 0) < 0.3
    alone = correlate(made, "fraction_of_peak_ratio", by=(), regions=regions).found
    assert {row.group for row in alone.rows} == {first[1:], second[1:], ()}


def test_a_run_at_a_boundary_is_behind_it() -> None:
    made = table({"fraction_of_peak_ratio": [0.5] * 5}, start_s=[0, 1, 2, 3, float("nan")])
    names = between(made, [NS, 3 * NS]).tolist()
    assert names == ["until 1970-01-01", *["1970-01-01 to 1970-01-01"] * 2, "from 1970-01-01", ""]
    for wrong in ([], [3, 3], [3, 1]):
        with pytest.raises(UsageError, match="do not ascend"):
            between(made, wrong)


@pytest.mark.parametrize("seed", range(3))
def test_climates_that_were_made_are_the_groups(seed: int) -> None:
    made = weathered(seed, 6.0, (0, 120, 240), (0, 1, 0))
    names = climates(made)
    spans = {name: np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())}
    assert [name.partition(",")[0] for name in spans] == ["climate A", "climate B", "climate A"]
    begins = [int(rows[0]) for rows in spans.values()]
    assert np.abs(np.array(begins) - [0, 120, 240]).max() <= 3
    assert sum(map(len, spans.values())) == len(made)


def test_a_table_without_climates_says_so() -> None:
    with pytest.raises(NothingMeasuredError, match="no climates"):
        climates(table({"fraction_of_peak_ratio": [0.5] * 30}))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], utc: None) -> None:
    made = two_regimes(1)
    path = tmp_path / "jobs.csv"
    columns = made.metrics
    lines = [
        ",".join(
            [
                str(row),
                str(int(made.start_ns[row]) // NS),
                *(f"{columns[name][row]:.6f}" for name in columns),
            ]
        )
        for row in range(len(made))
    ]
    path.write_text("id,start," + ",".join(columns) + "\n" + "\n".join(lines) + "\n")
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        '[table]\nname = "t"\n[job]\njob_id = "id"\nbegin = { column = "start", unit = "s" }\n[metrics]\n'
        + "".join(f'{name} = "{name}"\n' for name in columns)
    )
    given = [str(path), "--mapping", str(mapping), "--by", "none", "--boundaries", "2027-01-19"]
    assert run("correlate", *given) == 0
    assert "until 2027-01-19" in capsys.readouterr().out
    assert run("correlate", *given, "--format", "json") == 0
    (found,) = json.loads(capsys.readouterr().out)["tables"]
    assert found["by"] == ["climate"]
    assert run("correlate", *given[:3], "--boundaries", "2027-01-19,2026-01-01") == 2
    assert "do not ascend" in capsys.readouterr().err
    assert run("correlate", *given[:3], "--by", "weather") == 2
    assert "climate; or none" in capsys.readouterr().err
