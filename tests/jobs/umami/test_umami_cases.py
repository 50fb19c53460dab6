"""The three case studies of the UMAMI paper, on its own published tables: every colour as listed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

from iosonde.connectors.source import Settings
from iosonde.jobs.table.source import from_files
from iosonde.jobs.umami.diagram import Umami, umami
from iosonde.model.job_metrics import About
from iosonde.model.jobs import JobTable
from tests.kit.samples.latencies import DATA

TABLES = DATA / "umami" / "tables"
EDISON, MIRA = TABLES / "pdsw17_edison.csv", TABLES / "pdsw17_mira.csv"
pytestmark = pytest.mark.skipif(not EDISON.exists(), reason=f"no recorded tables in {TABLES}")
PST = timezone(timedelta(hours=-8))
EXAMPLES = Path(__file__).parents[3] / "examples" / "umami-month"
RED, ORANGE, GREEN, BLUE = "bad", "poor", "ok", "good"


def month(path: Path, mapping: str) -> JobTable:
    return from_files([path], [EXAMPLES / mapping], Settings(), lambda _: None)


@pytest.fixture(scope="module")
def edison() -> JobTable:
    return month(EDISON, "lustre.toml")


@pytest.fixture(scope="module")
def mira() -> JobTable:
    return month(MIRA, "gpfs.toml")


def at(table: JobTable, motif: str, file_system: str, when: datetime) -> Umami:
    """The run of a motif that began within the minute."""
    near = np.abs(table.start_ns / 1e9 - when.timestamp()) < 1800
    rows = np.flatnonzero(near & (table.motif == motif) & (table.file_system == file_system))
    assert len(rows) == 1, [
        datetime.fromtimestamp(s / 1e9, UTC).isoformat()
        for s in table.start_ns[(table.motif == motif) & (table.file_system == file_system)]
    ]
    return umami(table, str(table.job_id[rows[0]]), motif, metrics=list(table.metrics))


def colours(diagram: Umami) -> dict[str, str]:
    return {row.metric: str(row.stood.standing) for row in diagram.rows}


def test_a_metadata_storm_on_a_lustre_file_system(edison: JobTable) -> None:
    diagram = at(edison, "HACC-IO GLEAN write", "scratch2", datetime(2017, 3, 3, 2, 0, tzinfo=PST))
    assert diagram.others == 19
    listed = {
        "performance_bytes_per_s": RED,
        "cf_bandwidth_ratio": RED,
        "mds_cpu_mean_percent": RED,
        "server_opens_closes": RED,
        "mean_fullness_percent": RED,
        "oss_cpu_max_percent": ORANGE,
        "concurrent_jobs": ORANGE,
        "radius_max_hops": BLUE,
    }
    assert {name: colours(diagram)[name] for name in listed} == listed
    rows = {row.metric: row.stood for row in diagram.rows}
    cover, busy = rows["cf_bandwidth_ratio"], rows["mds_cpu_mean_percent"]
    assert (cover.value, *cover.box[1:4]) == pytest.approx((0.809, 0.973, 0.982, 0.988), abs=6e-4)
    assert (busy.value, *busy.box[1:4]) == pytest.approx((12.5, 1.1, 1.9, 2.4), abs=0.051)
    assert rows["performance_bytes_per_s"].value / 2**30 == pytest.approx(14.8, abs=0.05)
    assert rows["performance_bytes_per_s"].share == 0, "the worst of 20"


def test_directory_reads_on_a_gpfs_file_system(mira: JobTable) -> None:
    """The figure begins in March: the job is its eighth run."""
    begin = datetime(2017, 3, 1, tzinfo=PST).timestamp() * 1e9
    march = mira.take(mira.start_ns >= begin)
    when = datetime(2017, 3, 11, 12, 46, tzinfo=PST)
    diagram = at(march, "VPIC-IO H5Part write", "mira-fs1", when)
    assert diagram.others == 7
    listed = {
        "performance_bytes_per_s": RED,
        "cf_bandwidth_ratio": ORANGE,
        "cf_ops_ratio": RED,
        "server_rw_ops": RED,
        "server_opens_closes": RED,
        "server_readdirs": RED,
    }
    assert {name: colours(diagram)[name] for name in listed} == listed
    values = {row.metric: row.stood.value for row in diagram.rows}
    assert round(values["cf_ops_ratio"], 3) == 0.144
    assert values["server_readdirs"] == 803


def test_a_good_day_within_the_weeks_that_a_file_system_was_full(edison: JobTable) -> None:
    """The highlighted run has runs before and after it: the figure's history are all others of its weeks."""
    since, until = (
        datetime(2017, *day, tzinfo=PST).timestamp() * 1e9 for day in ((2, 21), (3, 15))
    )
    motif = "HACC-IO GLEAN write"
    weeks = edison.take((edison.start_ns >= since) & (edison.start_ns < until))
    good = at(weeks, motif, "scratch3", datetime(2017, 3, 11, 2, 0, tzinfo=PST))
    found = umami(weeks, good.job_id, motif, metrics=list(weeks.metrics), history="all")
    assert found.others == 20
    assert found.place == 18
    seen = colours(found)
    assert seen["cf_bandwidth_ratio"] == GREEN
    assert seen["fullest_ost_percent"] == seen["oss_cpu_max_percent"] == BLUE
    assert seen["performance_bytes_per_s"] == BLUE
    performance = found.rows[list(seen).index("performance_bytes_per_s")]
    assert performance.stood.value / 2**30 == pytest.approx(48.1, abs=0.05)
    full = found.rows[list(seen).index("fullest_ost_percent")].values >= 90
    fast = performance.values[full] / 2**30
    assert np.count_nonzero(full) == 15
    assert np.count_nonzero(fast < 26.7) == 14, "all but one of 50.8"


def test_the_colour_of_any_run_leaves_that_run_out(edison: JobTable) -> None:
    """The published code left out the last run whichever was asked for: here all others count, and it does not."""
    same = (edison.motif == "HACC-IO GLEAN write") & (edison.file_system == "scratch2")
    rows = np.flatnonzero(same)
    for row in rows[3:30:9]:
        name = str(edison.job_id[row])
        found = umami(
            edison,
            name,
            "HACC-IO GLEAN write",
            metrics=["performance_bytes_per_s"],
            history="all",
        )
        values = edison.metrics["performance_bytes_per_s"]
        others = values[np.setdiff1d(rows, [row])]
        bounds = np.percentile(others, [25, 50, 75])
        quartile = int(np.searchsorted(bounds, values[row]))
        assert found.others == len(rows) - 1
        assert found.rows[0].stood.standing == (RED, ORANGE, GREEN, BLUE)[quartile]


def test_a_metric_that_a_table_describes_itself_is_judged_by_it(edison: JobTable) -> None:
    name = "mds_cpu_mean_percent"
    turned = replace(edison, abouts={name: About("percent", "MDS CPU", "high")})
    when = datetime(2017, 3, 3, 2, 0, tzinfo=PST)
    seen = colours(at(turned, "HACC-IO GLEAN write", "scratch2", when))
    assert seen[name] == BLUE
