"""What was published about a month and a year of benchmarks on three Lustre systems and one GPFS, from its tables."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pytest

from iosonde.connectors.source import Settings
from iosonde.jobs.correlate.correlate import correlate
from iosonde.jobs.table.derived import fraction_of_peak
from iosonde.jobs.table.from_files import load_tables, mappings
from iosonde.model.units import to_ns
from tests.kit.commands import run
from tests.kit.jobs.tables import MONTH, TABLES

pytestmark = pytest.mark.skipif(
    not TABLES.is_dir(), reason=f"the published tables are not in {TABLES} (IOSONDE_DATA)"
)

LUSTRE = {
    "cf_bandwidth_ratio": (0.4418, 1.1e-49, 0.33),
    "server_closes": (-0.1071, 6.3e-4, -0.07),
    "server_opens": (-0.1065, 6.8e-4, -0.05),
    "server_written_bytes": (-0.0909, 3.8e-3, -0.20),
    "server_read_bytes": (0.0243, 0.44, 0.04),
    "fullest_ost_percent": (-0.3544, 2.2e-31, -0.22),
    "mean_fullness_percent": (-0.3807, 2.5e-36, -0.20),
    "mds_cpu_max_percent": (-0.0928, 3.1e-3, -0.19),
    "oss_cpu_max_percent": (-0.2337, 4.8e-14, -0.07),
    "concurrent_jobs": (-0.0650, 3.9e-2, -0.18),
    "radius_max_hops": (0.0364, 0.25, -0.03),
}
GPFS = {
    "cf_bandwidth_ratio": (0.2433, 8.0e-3, 0.03),
    "cf_ops_ratio": (0.2000, 3.0e-2, 0.29),
    "server_closes": (-0.2262, 1.4e-2, -0.25),
    "server_opens": (-0.2259, 1.4e-2, -0.24),
    "server_written_bytes": (-0.0220, 0.81, -0.11),
    "server_read_bytes": (-0.1656, 7.3e-2, 0.05),
    "server_write_ops": (-0.2319, 1.2e-2, -0.19),
    "server_read_ops": (-0.2628, 4.0e-3, -0.10),
    "fullest_ost_percent": (-0.0336, 0.74, -0.11),
    "mean_fullness_percent": (-0.0334, 0.74, -0.11),
}
"""Metric -> Pearson's r as printed, its p, and Spearman's rho with fraction of peak."""
FILES = {"lustre": "pdsw17_edison.csv", "gpfs": "pdsw17_mira.csv"}


@pytest.fixture(scope="module")
def month():
    """The two tables, ready for analysis."""
    given = mappings([MONTH])
    paths = [TABLES / name for name in FILES.values()]
    loaded = load_tables(paths, given, Settings(), pytest.fail)
    return dict(zip(FILES, (one.table for one in loaded), strict=True))


@pytest.fixture(scope="module")
def year():
    """The year of the same Lustre systems, by the mapping that comes with iosonde."""
    (loaded,) = load_tables([TABLES / "year_edison.csv.gz"], [], Settings(), pytest.fail)
    return loaded


def pooled(table, by=()):
    return {one.metric: one for one in correlate(table, by=by).rows if one.group == ()}


@pytest.mark.parametrize(("name", "jobs"), [("lustre", 1014), ("gpfs", 118)])
def test_as_many_jobs_as_were_published(month, name, jobs):
    assert len(month[name]) == jobs


@pytest.mark.parametrize(("name", "printed"), [("lustre", LUSTRE), ("gpfs", GPFS)])
def test_all_published_numbers_to_four_digits(month, name, printed):
    found = pooled(month[name])
    assert len(LUSTRE) + len(GPFS) == 21
    for metric, (r, p, rho) in printed.items():
        one = found[metric]
        assert f"{one.pearson:.4f}" == f"{r:.4f}", metric
        assert float(f"{one.pearson_p:.1e}") == pytest.approx(p, rel=0.06), metric
        assert one.spearman == pytest.approx(rho, abs=0.0051), metric
        assert one.n == (101 if name == "gpfs" and "full" in metric else len(month[name]))


def test_reading_directories_goes_with_the_slow_runs_of_the_gpfs_month(month):
    one = pooled(month["gpfs"])["server_readdirs"]
    assert f"{one.pearson:.4f}" == "-0.3423"
    assert one.pearson_p == pytest.approx(1.5e-4, rel=0.02)


@pytest.mark.parametrize(
    ("system", "cf", "fullest", "median", "below_half"),
    [
        ("scratch1", 0.493, 0.264, 0.892, 9.6),
        ("scratch2", 0.565, 0.021, 0.858, 2.9),
        ("scratch3", 0.392, -0.550, 0.783, 26.1),
        ("mira-fs1", 0.2433, -0.0336, 0.946, 4.2),
    ],
)
def test_each_file_system_by_itself(month, system, cf, fullest, median, below_half):
    table = month["gpfs" if system == "mira-fs1" else "lustre"]
    found = {
        o.metric: o for o in correlate(table, by=("file_system",)).rows if o.group == (system,)
    }
    assert found["cf_bandwidth_ratio"].pearson == pytest.approx(cf, abs=5.1e-4)
    assert found["fullest_ost_percent"].pearson == pytest.approx(fullest, abs=5.1e-4)
    f = table.metrics["fraction_of_peak_ratio"][table.file_system == system]
    assert np.median(f) == pytest.approx(median, abs=5e-4)
    assert 100 * np.mean(f < 0.5) == pytest.approx(below_half, abs=0.05)


@pytest.mark.parametrize(
    ("system", "true", "printed"),
    [
        ("scratch1", 0.979, 0.875),
        ("scratch2", 0.977, 0.865),
        ("scratch3", 0.983, 0.837),
        ("mira-fs1", 1.005, 0.944),
    ],
)
def test_medians_of_the_coverage_factor_and_those_of_the_draft(month, system, true, printed):
    """The draft printed the coverage factor divided by the largest of its file system as the factor itself."""
    table = month["gpfs" if system == "mira-fs1" else "lustre"]
    factor = table.metrics["cf_bandwidth_ratio"][table.file_system == system]
    assert np.median(factor) == pytest.approx(true, abs=5e-4), "the true median"
    of_largest = fraction_of_peak(table, by=("file_system",), performance="cf_bandwidth_ratio")
    drafted = np.median(of_largest[table.file_system == system])
    assert drafted == pytest.approx(printed, abs=5.5e-4), "what the draft calls it"
    if system == "scratch3":
        assert 100 * np.mean(factor < 0.5) == pytest.approx(2.4, abs=0.05)


def test_pooling_file_systems_misleads_twice_in_the_lustre_month(month):
    table = month["lustre"]
    warnings = {
        one.metric: one
        for one in correlate(table, by=("file_system",)).warnings
        if one.coefficient == "Pearson"
    }
    fullness = warnings["fullest_ost_percent"]
    assert fullness.kind == "opposed"
    assert [group for group, _ in fullness.opposed] == [("scratch1",)]
    failover = warnings["overloaded_osts"]
    assert (failover.kind, failover.within) == ("only-between", None)
    assert failover.pooled == pytest.approx(0.173, abs=5e-4)
    overloaded = table.metrics["overloaded_osts"][table.file_system == "scratch2"]
    assert len(overloaded) == 342
    assert (overloaded == 2).all()
    assert "cf_bandwidth_ratio" not in warnings, "what holds everywhere is not warned of"


def test_one_command_prints_them(capsys):
    paths = [str(TABLES / name) for name in FILES.values()]
    options = ["--mapping", str(MONTH), "--by", "none", "--top", "0"]
    assert run("correlate", *paths, *options) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    printed = {f"{r:+.4f}" for r, _, _ in (*LUSTRE.values(), *GPFS.values())}
    assert printed <= {cell for line in lines for cell in line}


DAYS = (datetime(2017, 2, 14, tzinfo=UTC), datetime(2017, 3, 16, tzinfo=UTC))


@pytest.mark.parametrize(
    ("system", "n", "published", "worst"),
    [
        ("scratch1", 33, {"cf_bandwidth_ratio": (0.88, 0.61)}, {24: 3.4}),
        (
            "scratch3",
            32,
            {"oss_cpu_max_percent": (-0.93, -0.77), "fullest_ost_percent": (-0.75, -0.81)},
            {6: 13.1, 7: 11.7},
        ),
    ],
)
def test_the_two_cases_of_the_year(year, system, n, published, worst):
    table = year.table
    rows = (table.file_system == system) & (table.motif == "hacc_io_write fpp write")
    rows &= (table.start_ns >= to_ns(DAYS[0])) & (table.start_ns < to_ns(DAYS[1]))
    case = table.take(rows)
    assert len(case) == n
    found = pooled(case)
    for metric, (r, rho) in published.items():
        assert found[metric].pearson == pytest.approx(r, abs=5.1e-3)
        assert found[metric].spearman == pytest.approx(rho, abs=5.1e-3)
        assert found[metric].p < 0.003
    gib = case.metrics["performance_bytes_per_s"] / 2**30
    slowest = {
        datetime.fromtimestamp(case.start_ns[row] / 1e9, UTC).day: round(float(gib[row]), 1)
        for row in np.argsort(gib)[:4]
    }
    assert slowest | worst == slowest, "the days that the case is about are among the slowest"


def test_the_year_is_read_whole_and_its_traps_are_told(year):
    table = year.table
    assert len(table) == 7456
    assert len(table.strata()) == 24
    assert [*map(str, table.reasons)] == [
        "6 left out: no file system",
        "38 left out: moved less than 1 GiB",
    ]
    told = {note.flag: note.n for note in year.notes if "metadata" not in note.what}
    assert told["naive-time"] == 7500
    assert told["monitor-down"] == 24
    assert told["stale"] == 24
    of_reads = {row: f for (row, name), f in table.flags.items() if name == "server_read_bytes"}
    down = [row for row, flags in of_reads.items() if "monitor-down" in flags]
    assert len(down) == 24
    assert sum(flags == ("over-covered",) for flags in of_reads.values()) == 16
    assert np.isnan(table.metrics["server_read_bytes"][down]).all()
    assert np.nanmax(table.metrics["cf_bandwidth_ratio"]) <= 1.2
    f, factor, contention = (
        table.metrics[name]
        for name in ("fraction_of_peak_ratio", "cf_bandwidth_ratio", "contention_bandwidth_ratio")
    )
    both = ~np.isnan(factor)
    assert np.corrcoef(f[both], factor[both])[0, 1] == pytest.approx(
        -np.corrcoef(f[both], contention[both])[0, 1]
    )


def test_the_older_columns_of_the_same_tool_are_read_too():
    (loaded,) = load_tables([TABLES / "cori_2017-08_sample.csv.gz"], [], Settings(), pytest.fail)
    table = loaded.table
    assert loaded.mapping == "pytokio summarize_job"
    assert len(table) == 162
    assert set(table.motif) == {"hacc_io_write fpp write"}
    assert "cf_bandwidth_ratio" in table.metrics
    assert "own_reads" not in table.metrics, "it has no such column, and none is made up"
    assert ("stale", 1) in {(note.flag, note.n) for note in loaded.notes}


def test_the_whole_year_correlates_as_data(capsys, tmp_path):
    path = tmp_path / "year.json"
    assert run("correlate", str(TABLES / "year_edison.csv.gz"), "-o", str(path)) == 0
    (table,) = json.loads(path.read_text())["tables"]
    groups = {tuple(row["group"]) for row in table["correlations"]}
    assert len(groups) == 25
    assert "coefficients over all rows" not in capsys.readouterr().out
