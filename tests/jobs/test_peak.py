"""Fraction of peak, coverage and contention, on numbers that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.jobs.table import coverage
from iosonde.jobs.table.derived import PEAKS, fraction_of_peak, with_derived
from iosonde.model.errors import UsageError
from tests.kit.jobs.tables import GIB, MAPPING, read, row, write


def table(tmp_path, *rows, head="", mapping=MAPPING):
    path = write(tmp_path / "t.csv", *rows, **({"head": head} if head else {}))
    return read(path, mapping)[0].table


@pytest.mark.parametrize(
    ("of", "peak"), [("max", 100.0), ("p99", 99.2), ("mean", 65.0), ("median", 60.0)]
)
def test_the_peak_is_of_like_runs(tmp_path, of, peak):
    rows = [row(i, perf=perf) for i, perf in enumerate((40, 60, 100, 60))]
    rows += [row(5, perf=1000, fs="home"), row(6, perf=1000, rw=0), row(7, perf="nan")]
    found = fraction_of_peak(table(tmp_path, *rows), of)
    peak = float(np.quantile([40, 60, 100, 60], 0.99)) if of == "p99" else peak
    assert np.allclose(found[:4], np.array([40, 60, 100, 60]) / peak)
    assert found[4:6].tolist() == [1, 1]
    assert np.isnan(found[6])
    assert of in PEAKS


def test_the_peak_of_a_file_system_is_that_of_all_motifs(tmp_path):
    rows = [row(0, perf=50), row(1, perf=200, app="reader"), row(2, perf=10, fs="home")]
    found = fraction_of_peak(table(tmp_path, *rows), by=("file_system",))
    assert found.tolist() == [0.25, 1, 1]


def test_a_table_without_performance_says_so(tmp_path):
    with pytest.raises(UsageError, match=r"t\.csv has no performance_bytes_per_s"):
        fraction_of_peak(table(tmp_path, row(), mapping='[job]\njob_id = "id"'))


HEAD_ALL = "id,fs,app,rw,start,end,perf,own,sr,sw,rd,wr,srd,swr,op,sop,stt,sst,nodes,nh"
ALL = (
    MAPPING
    + """
own_reads = "rd"
own_writes = "wr"
server_read_ops = "srd"
server_write_ops = "swr"
own_opens = "op"
server_opens = "sop"
own_stats = "stt"
server_getattrs = "sst"
own_nodes = { column = "nodes", role = "own" }
concurrent_node_hours = "nh"
"""
)


def test_every_coverage_factor_is_own_over_servers(tmp_path):
    line = f"{row(0)},30,70,100,300,9,10,1,4,36,20"
    found = with_derived(table(tmp_path, line, head=HEAD_ALL, mapping=ALL)).table.metrics
    wanted = {"bandwidth": 0.8, "ops": 0.25, "opens": 0.9, "stats": 0.25, "node_hours": 0.05}
    for name, value in wanted.items():
        assert found[f"cf_{name}_ratio"][0] == pytest.approx(value), name
        assert found[f"contention_{name}_ratio"][0] == pytest.approx(1 - value), name
    assert found["others_bytes_per_s"][0] == pytest.approx(GIB / 100)
    assert found["fraction_of_peak_ratio"].tolist() == [1]


def test_what_the_table_says_itself_is_not_computed_again(tmp_path):
    text = MAPPING + 'cf_bandwidth_ratio = { expression = "sr * 0 + 1" }\n'
    found = with_derived(table(tmp_path, row(), mapping=text)).table.metrics
    assert found["cf_bandwidth_ratio"].tolist() == [1]
    assert found["contention_bandwidth_ratio"].tolist() == [0]


@pytest.mark.parametrize(
    ("own", "servers", "factor", "of_others"),
    [
        (5, 10, 0.5, 5),
        (12, 10, 1.2, 0),
        (13, 10, np.nan, 0),
        (0, 10, 0, 10),
        (5, 0, np.nan, 0),
        (np.nan, 10, np.nan, np.nan),
        (5, np.nan, np.nan, np.nan),
        (-1, 10, np.nan, 11),
        (5, -10, np.nan, 0),
        (np.inf, 10, np.nan, 0),
    ],
)
def test_coverage_at_its_edges(own, servers, factor, of_others):
    found = coverage.coverage(own, servers)
    found = np.where(coverage.over_covered(found), np.nan, found)
    assert np.array_equal(found, factor, equal_nan=True)
    assert np.array_equal(coverage.others(own, servers), of_others, equal_nan=True)
    assert np.array_equal(coverage.contention(found), 1 - np.float64(factor), equal_nan=True)


@given(own=st.floats(0, 1e18), more=st.floats(0, 1e18), seconds=st.floats(1e-3, 1e6))
def test_shares_of_the_job_and_of_others_add_up(own, more, seconds):
    servers = own + more
    for_others = coverage.others(own, servers) / servers if servers else np.nan
    assert servers == 0 or coverage.coverage(own, servers) + for_others == pytest.approx(1)
    rate = coverage.per_second(coverage.others(own, servers), seconds)
    assert rate * seconds == pytest.approx(servers - own)


def test_a_monitor_is_down_where_it_saw_nothing_of_something():
    own, servers = np.array([5, 0, 5, np.nan, 5]), np.array([0, 0, 1, 0, np.nan])
    assert coverage.monitor_down(own, servers).tolist() == [True, False, False, False, False]
    assert np.isnan(coverage.per_second([1.0], [0.0])).all()
    assert coverage.node_hours(36, 100) == pytest.approx(1)
