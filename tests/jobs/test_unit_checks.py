"""Fractions in columns of percents, units that change in a history: found, and not where nothing changed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.truth.jobs.units import LAWS, flagged_rows, history
from iosonde.jobs.table.derived import with_derived
from iosonde.jobs.table.unit_checks import FACTORS, units_checked
from tests.kit.jobs.jobs_made import table

N = 60


def values(law: str, seed: int, n: int = N) -> np.ndarray:
    return 1e9 * LAWS[law](np.random.default_rng(seed), n)


@pytest.mark.parametrize("factor", FACTORS["bytes"])
@pytest.mark.parametrize("law", ["lognormal 0.1", "lognormal 0.5", "drift x3"])
def test_a_unit_that_changes_is_flagged_and_missing(law: str, factor: float) -> None:
    for seed in range(4):
        column = values(law, seed)
        column[40:] /= factor
        made = history("server_written_bytes", column)
        assert flagged_rows(made) == set(range(40, N))
        found = units_checked(made, [])
        assert np.isnan(found.metrics["server_written_bytes"][40:]).all()
        assert np.array_equal(found.metrics["server_written_bytes"][:40], column[:40])


def test_there_and_back_with_a_stray_value() -> None:
    column = values("lognormal 0.1", 1)
    column[20:30] *= 1024.0**2
    column[50] *= 1024.0**2
    notes: list = []
    found = units_checked(history("performance_bytes_per_s", column), notes)
    assert set(range(20, 30)) <= {row for row, _ in found.flags}
    assert "changes its unit by a factor of 1,0" in notes[0].what


@pytest.mark.parametrize("law", list(LAWS))
def test_nothing_is_said_of_a_history_in_one_unit(law: str) -> None:
    for seed in range(25):
        for metric in ("server_written_bytes", "performance_bytes_per_s", "own_io_s"):
            assert not flagged_rows(history(metric, values(law, seed)))


def test_kinds_of_jobs_and_file_systems_are_histories_of_their_own() -> None:
    """A thousand times as fast on another file system is no other unit."""
    rates = np.concatenate([values("lognormal 0.1", 1, 30), 1e3 * values("lognormal 0.1", 2, 30)])
    for more in (
        {"file_system": ["a"] * 30 + ["b"] * 30},
        {"motif": ["x shared write"] * 30 + ["y shared write"] * 30},
    ):
        made = table({"performance_bytes_per_s": rates}, **more)
        assert not units_checked(made, []).flags
    servers = table({"server_read_bytes": rates}, motif=["x"] * 30 + ["y"] * 30)
    assert units_checked(servers, []).flags, "servers do not know kinds of jobs"


def test_fractions_among_percents_are_read_as_percent() -> None:
    rng = np.random.default_rng(3)
    full = 60 + rng.standard_normal(N)
    some = full.copy()
    some[40:] /= 100
    found, notes = with_derived(table({"fullest_ost_percent": some, "own_bytes": np.ones(N)}))
    np.testing.assert_allclose(found.metrics["fullest_ost_percent"], full)
    assert {row for row, name in found.flags if name == "fullest_ost_percent"} == set(range(40, N))
    assert [note.n for note in notes if note.flag == "wrong-unit"] == [20]


def test_one_run_of_which_the_fullest_ost_is_a_fraction() -> None:
    full = 60 + np.random.default_rng(3).standard_normal(N)
    full[-1] = 0.656
    found = units_checked(table({"fullest_ost_percent": full}), [])
    assert found.metrics["fullest_ost_percent"][-1] == pytest.approx(65.6)
    assert found.flags == {(N - 1, "fullest_ost_percent"): ("wrong-unit",)}
    full[-1] = 0.1  # ten per cent fits nothing here
    assert not units_checked(table({"fullest_ost_percent": full}), []).flags


def test_a_whole_column_of_fractions() -> None:
    made = table(
        {
            "fullest_ost_percent": [0.656, 0.66, 0.67],
            "mean_fullness_percent": [0.6, 0.61, 0.005],
            "mds_cpu_max_percent": [0.2, 0.3, 0.4],
        }
    )
    found = units_checked(made, [])
    assert found.metrics["fullest_ost_percent"].tolist() == pytest.approx([65.6, 66, 67])
    assert found.metrics["mean_fullness_percent"].tolist() == pytest.approx([60, 61, 0.5])
    assert found.metrics["mds_cpu_max_percent"].tolist() == [0.2, 0.3, 0.4], "three runs say little"


def test_cpu_below_one_percent_is_believed() -> None:
    rng = np.random.default_rng(4)
    mean = 0.3 * np.exp(0.3 * rng.standard_normal(N))
    peak = mean * 8
    assert not units_checked(
        table({"mds_cpu_mean_percent": mean, "mds_cpu_max_percent": peak}), []
    ).flags
    both = {"mds_cpu_mean_percent": mean / 100, "mds_cpu_max_percent": peak / 100}
    found = units_checked(table(both), [])
    np.testing.assert_allclose(found.metrics["mds_cpu_mean_percent"], mean)


@given(
    st.lists(
        st.sampled_from([np.nan, 0.0, -1.0, 1e-300, 0.5, 1.0, 65.0, 1e9, 1e12, 1e300]),
        min_size=1,
        max_size=80,
    ),
    st.sampled_from(
        ["fullest_ost_percent", "server_read_bytes", "performance_bytes_per_s", "own_io_s"]
    ),
)
def test_whatever_stands_in_a_column(column: list[float], metric: str) -> None:
    """Numbers stay, become a hundred times as large, or are missing with the flag; twice says nothing new."""
    made = table({metric: column})
    once = units_checked(made, [])
    for row, (was, now) in enumerate(zip(column, once.metrics[metric].tolist(), strict=True)):
        if (row, metric) in once.flags:
            assert np.isnan(now) or now == pytest.approx(100 * was)
        else:
            assert now == was or (np.isnan(now) and np.isnan(was))
