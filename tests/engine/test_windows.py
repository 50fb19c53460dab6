"""SQL and Rust give the same answers on the same samples."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde import _core
from iosonde.engine.contract import QUANTILES, SAMPLE_TYPES, WINDOW_COLUMNS
from iosonde.model.errors import UsageError
from iosonde.weather.store import Store
from tests.kit.samples.makers import SECOND, START, row, rows, sealed

SCHEMA = Path(__file__).parents[2] / "schema" / "tables"
MINUTE = 60 * SECOND
WHOLE = START // MINUTE * MINUTE + MINUTE


def schema(table):
    return tomllib.loads((SCHEMA / f"{table}.toml").read_text())["column"]


def test_columns_are_those_of_the_schema(tmp_path):
    assert {c["name"]: c["type"] for c in schema("samples")} == SAMPLE_TYPES
    assert sorted(c["name"] for c in schema("windows")) == sorted(WINDOW_COLUMNS)
    sealed(tmp_path, "r-0", rows([1000] * 10))
    table = Store(tmp_path).windows(MINUTE)
    assert tuple(table.columns) == WINDOW_COLUMNS
    nullable = {c["name"] for c in schema("windows") if c.get("nullable")}
    assert {n for n in table.columns if table[n].dtype == np.float64} == nullable


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=400))
def test_sql_and_the_core_agree(tmp_path_factory, services):
    root = tmp_path_factory.mktemp("store")
    sealed(root, "r-0", rows(services, WHOLE, period_ns=SECOND // 10))
    table = Store(root).windows(3600 * SECOND)
    core = _core.window_statistics(np.array(services, dtype=np.int64).data)
    assert len(table) == 1
    assert table["n_seen"][0] == core["n_seen"] == len(services)
    for name, expected in core.items():
        if name in table and name != "n_seen":
            value = table[name][0]
            if expected is None:
                assert np.isnan(value), name
            else:
                assert value == pytest.approx(expected, rel=1e-12), name
    assert {f"{q}_{end}_ns" for q in QUANTILES for end in ("lower", "upper")} <= set(core)


def test_a_window_counts_all_rows_and_measures_the_good_ones(tmp_path):
    samples = rows([1000] * 10, WHOLE)
    samples += [row(WHOLE + 20 * SECOND, 7, outcome="EIO")]
    samples += [row(WHOLE + 21 * SECOND, 9, outcome="skipped", began_ns=None)]
    sealed(tmp_path, "r-0", samples)
    table = Store(tmp_path).windows(MINUTE)
    assert (table["n_due"][0], table["n_seen"][0], table["max_ns"][0]) == (12, 10, 1000)


def test_a_window_without_a_good_row_has_no_numbers(tmp_path):
    sealed(tmp_path, "r-0", [row(WHOLE, None)])
    table = Store(tmp_path).windows(MINUTE)
    assert (table["n_due"][0], table["n_seen"][0]) == (1, 0)
    assert np.isnan([table[n][0] for n in ("mean_ns", "min_ns", "q50_ns", "max_ns")]).all()


def test_a_sample_belongs_to_the_window_in_which_it_was_due(tmp_path):
    late = row(WHOLE + MINUTE - 1, 5 * SECOND)
    sealed(tmp_path, "r-0", [late, row(WHOLE + MINUTE, 1000)])
    table = Store(tmp_path).windows(MINUTE)
    assert table["start_ns"].tolist() == [WHOLE, WHOLE + MINUTE]


def test_ranges_are_widened_to_whole_windows(tmp_path):
    sealed(tmp_path, "r-0", rows([1000] * 300, WHOLE))
    table = Store(tmp_path).windows(
        MINUTE, since_ns=WHOLE + 90 * SECOND, until_ns=WHOLE + 150 * SECOND
    )
    assert table["start_ns"].tolist() == [WHOLE + MINUTE, WHOLE + 2 * MINUTE]
    assert table["n_due"].tolist() == [60, 60]


def test_series_differ_by_host_target_op_and_period(tmp_path):
    samples = [
        row(WHOLE, 1000, **{name: value})
        for name, value in (
            ("host", "a"),
            ("target", "/b"),
            ("op", "data_read"),
            ("period_ns", 7),
            ("seed", 9),
        )
    ]
    sealed(tmp_path, "r-0", [*samples, row(WHOLE + 1, 1000, seed=8)])
    table = Store(tmp_path).windows(MINUTE)
    assert len(table) == 5
    assert sorted(table["n_due"].tolist()) == [1, 1, 1, 1, 2]


def test_controls_are_points(tmp_path):
    samples = [
        row(WHOLE + i * SECOND, 10**6, began_ns=WHOLE + i * SECOND + i, control_runq_ns=i * 10)
        for i in range(20)
    ]
    for sample in samples:
        sample["ended_ns"] = sample["began_ns"] + 10**6
    sealed(tmp_path, "r-0", samples)
    table = Store(tmp_path).windows(MINUTE)
    assert (table["late_q50_ns"][0], table["runq_q50_ns"][0]) == (9, 90)
    assert np.isnan(table["response_q99_ns"][0])


def test_nothing_measured_is_an_empty_table(tmp_path):
    table = Store(tmp_path).windows(MINUTE)
    assert len(table) == 0
    assert tuple(table.columns) == WINDOW_COLUMNS


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_needs_a_length(tmp_path, window):
    with pytest.raises(UsageError):
        Store(tmp_path).windows(window)
