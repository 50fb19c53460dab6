"""One pass over many jobs sees the same as a question at a time, however the store is cut and how little is held."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.jobs.environment.join import join
from iosonde.jobs.store import jobs
from iosonde.jobs.store import scan as passing
from iosonde.jobs.store import series as metrics
from iosonde.jobs.store.scan import Passing
from iosonde.model.errors import DamagedFileWarning
from iosonde.model.jobs import Job
from iosonde.model.metrics import Edge
from iosonde.model.quality import Note
from tests.jobs.test_metrics_store import NAME, START, S, block, job
from tests.kit.jobs.jobs_made import environment

NOON = START // metrics.DAY_NS * metrics.DAY_NS + metrics.DAY_NS
"""A midnight, in fact: what is written lies in two days."""
HOUR = 3600 * S


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_blocks_are_those_of_the_store(tmp_path_factory, data) -> None:
    root = tmp_path_factory.mktemp("s")
    for _ in range(data.draw(st.integers(1, 3))):
        hours = sorted(data.draw(st.sets(st.integers(-30, 30), min_size=1, max_size=8)))
        who = data.draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True))
        value = [[data.draw(st.sampled_from([0.0, 1.5, np.nan])) for _ in who] for _ in hours]
        notes = data.draw(st.sampled_from([(), (Note("naive-time", "x"),)]))
        made = block([NOON + h * HOUR for h in hours], value, who, notes)
        made.step_ns[:] = data.draw(st.sampled_from([0, 5 * S, HOUR, 9 * HOUR]))
        metrics.write_block(root, made)
    with (
        patch.object(passing, "MOST_ROWS", data.draw(st.sampled_from([1, 10_000]))),
        Passing(root) as store,
    ):
        for _ in range(6):
            begin = NOON + data.draw(st.integers(-70, 60)) * HOUR // 2
            store.forget(begin - data.draw(st.integers(-9, 9)) * HOUR)
            end = begin + data.draw(st.integers(1, 40)) * HOUR // 2
            one, other = (
                metrics.read_block(root, NAME, begin, end),
                store.read_block(NAME, begin, end),
            )
            assert (one is None) == (other is None)
            if one is not None and other is not None:
                for name in ("time_ns", "step_ns", "value"):
                    np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
                for name in ("components", "unit", "kind", "notes"):
                    assert getattr(one, name) == getattr(other, name)
            assert store.series_names(begin, end) == metrics.series_names(root, begin, end)


def test_edges_nodes_and_company_are_those_of_the_store(tmp_path) -> None:
    edges = [
        Edge("lctl dl", "fs1", NOON + h * HOUR, "ost", f"o{h % 3}", "s") for h in range(-40, 40)
    ]
    metrics.write_edges(tmp_path, [*edges, Edge("xtdb2proc", "", 0, "node", "n1", "0,1,2")])
    ran = [job(str(i), NOON + i * HOUR, source="slurm", nodes=i) for i in range(5)]
    longer = [
        job("1", NOON + HOUR, source="sacct", node_names=("n1", "n2", "n3")),
        job("9", end_ns=None),
    ]
    jobs.write_jobs(tmp_path, [*ran, *longer])
    with Passing(tmp_path) as store:
        for begin, end in ((0, 1 << 62), (NOON - HOUR, NOON + HOUR), (NOON, NOON)):
            for level in ("ost", "node"):
                assert store.read_edges(level, begin, end) == metrics.read_edges(
                    tmp_path, level, begin, end
                )
            expected = jobs.read_jobs(tmp_path, overlapping=(begin, end), scalars=False)
            found = store.ran_during(begin, end)
            assert [(r.source, r.job_id, r.start_ns, r.end_ns) for r in found] == [
                (r.source, r.job_id, r.start_ns, r.end_ns) for r in expected
            ]
        store.know_nodes(["1", "no such", "o'brien"])
        assert store.nodes_of("1") == ("n1", "n2", "n3")
        assert store.nodes_of("2") == ("n1", "n2")
        assert store.nodes_of("no such") == ()


def test_joining_many_is_joining_each(tmp_path) -> None:
    rng = np.random.default_rng(1)
    times = [NOON + 5 * S * i for i in range(-400, 400)]
    for way in ("read_bytes", "written_bytes", "opens"):
        value = np.where(rng.random((800, 2)) < 0.1, np.nan, rng.integers(0, 9, (800, 2)))
        metrics.write_block(tmp_path, block(times, value, metric=way))
    begins = [NOON + int(s) * S for s in rng.integers(-2000, 1900, 20)]
    made = [job(str(i), at, file_system="fs1") for i, at in enumerate(begins)]
    jobs.write_jobs(tmp_path, made)
    expected = {one.key: {**one.scalars, **environment(tmp_path, one)} for one in made}
    with patch("iosonde.jobs.environment.join._TOGETHER", 7):
        assert join(tmp_path) == (20, 20)
    found: dict[object, Job] = {one.key: one for one in jobs.read_jobs(tmp_path)}
    assert {key: one.scalars for key, one in found.items()} == expected


def test_a_damaged_part_is_told_of_and_the_rest_counts(tmp_path) -> None:
    metrics.write_block(tmp_path, block([NOON - S, NOON], [[1, 2], [3, 4]]))
    path = min((tmp_path / "metrics").glob("date=*/*.parquet"))
    path.write_bytes(b"PAR1 no such thing")
    with Passing(tmp_path) as store, pytest.warns(DamagedFileWarning, match="damaged"):
        found = store.read_block(NAME, NOON - HOUR, NOON + HOUR)
    assert found is not None
    assert found.value.tolist() == [[3, 4]]
