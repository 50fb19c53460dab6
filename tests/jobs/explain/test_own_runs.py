"""A site without any other record: iosonde's own benchmark runs, with what its probes saw before each."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.bench.metadata.spec import Spec, as_dict, settled
from iosonde.bench.runs import store as runs
from iosonde.engine.contract import INTERVAL_NS
from iosonde.jobs.table.benchmark_jobs import own_runs
from iosonde.jobs.table.benchmark_kind import motif_of
from tests.kit.commands import run
from tests.kit.runs.made_runs import benchmark
from tests.kit.samples.makers import SECOND, START, simulated

FIRST = -(-START // INTERVAL_NS) * INTERVAL_NS + INTERVAL_NS
"""The first run begins when ten whole minutes have been probed."""
SLOW_S = (5700, 6900)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Two hours probed, reads eight times slower in the last minutes; a run every ten minutes, the last slow too."""
    root = tmp_path_factory.mktemp("site")
    begin, end = SLOW_S
    fault = {"op": "data_read", "after": f"{begin}s", "for": f"{end - begin}s", "multiply": 8.0}
    simulated(root, 7200, fault)
    for i in range(11):
        began = FIRST + i * INTERVAL_NS
        slow = began - INTERVAL_NS >= START + begin * SECOND
        parameters = {"data_sets": 4, "seed": i, "rows": i}
        machine = {"load": 1.0 + i % 3, "size_bytes": 100, "free_bytes": 40}
        rate = 50.0 if slow else 100.0 + i % 3
        rows = benchmark(f"run{i}", rate, began_ns=began, parameters=parameters, machine=machine)
        runs.write(root, rows, began)
    return root


def test_runs_are_jobs_of_one_kind_with_what_probes_saw_before(site):
    found = own_runs(site)
    assert found.job_id.tolist() == [f"run{i}" for i in range(11)]
    assert set(found.motif) == {"metadata cycle, 2 ranks, D=4"}, "a seed is no kind"
    assert set(found.file_system) == {"/work"}
    assert found.metrics["performance_ops_per_s"][0] == 400.0
    assert found.metrics["room_used_percent"].tolist() == [60.0] * 11
    read = found.metrics["probe_read_s"]
    assert read[0] == pytest.approx(5e-3, rel=0.1)
    slow = found.metrics["performance_ops_per_s"] < 300
    assert slow.tolist() == [False] * 9 + [True] * 2
    assert read[slow] == pytest.approx(8 * read[0], rel=0.15)
    assert np.isfinite(found.metrics["probe_metadata_s"]).all()


def test_a_slow_run_is_explained_by_what_was_probed_before_it(site, capsys):
    assert run("explain", "--job", "run9", store=site) == 0
    out = capsys.readouterr().out.splitlines()
    assert "was 50% slower than usual: 200/s instead of 404/s" in out[0]
    assert "  - it was the slowest of 10 runs" in out
    assert "probed reads just before" in out[0]
    assert run("explain", "--diagram", "--job", "run3", store=site) == 0
    assert "fraction of peak" in capsys.readouterr().out


def test_a_run_that_died_or_another_benchmark_is_not_of_its_kind(site, tmp_path):
    runs.append_part(tmp_path, "dead", 0, benchmark("dead"))
    assert len(own_runs(tmp_path)) == 0
    more = benchmark("more", began_ns=START, parameters={"data_sets": 8})
    runs.write(tmp_path, more, START)
    assert own_runs(tmp_path).motif[0] != own_runs(site).motif[0]


def motif(ranks=4, pattern="cycle", processes=1, **asked):
    """What a run of ``iosonde bench metadata`` that was asked for this is called."""
    spec = settled(Spec(pattern=pattern, **asked), None, ranks, ("precreate", "benchmark"), "/work")
    parameters = as_dict(spec) | {"ranks": ranks, "processes": processes}
    return motif_of(benchmark(parameters=parameters, ranks=ranks, pattern=pattern)[0])


def test_a_kind_says_in_words_what_differs_from_the_defaults():
    assert motif() == "metadata cycle, 4 ranks"
    assert motif(ranks=1, seed=7, rows=9, max_errors=3) == "metadata cycle, 1 rank"
    wanted = {"iterations": 50, "objects": 100, "size_bytes": 0, "fsync": True}
    assert motif(**wanted, limit_ns=30 * SECOND) == (
        "metadata cycle, 4 ranks, P=100, I=50, S=0, fsync, limit=30s"
    )
    assert (
        motif(pattern="bulk", objects=100, shared=True) == "metadata bulk, 4 ranks, P=100, shared"
    )
    assert motif(processes=2) == "metadata cycle, 4 ranks, processes=2"


def test_kinds_differ_where_a_parameter_does():
    one = {"op": "md_create", "errno": 28, "after_ns": 2 * SECOND, "for_ns": SECOND}
    asked = [
        *({}, {"data_sets": 1}, {"objects": 500}, {"iterations": 20}, {"size_bytes": 0}),
        *({"offset": 0}, {"one_by_one": True}, {"random_order": True}, {"read_only": True}),
        *({"fsync": True}, {"direct": True}, {"verify": True}, {"limit_ns": SECOND}),
        *({"wear_out_ns": SECOND}, {"faults": (one,)}, {"faults": (one | {"errno": 5},)}),
    ]
    names = [motif(**each) for each in asked]
    assert len(set(names)) == len(asked), names
    assert max(map(len, names)) < 120
