"""The place of a run time among earlier ones."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.jobs.scheduled.run_time import FEWEST, run_time
from iosonde.jobs.store.earlier_runs import EarlierRuns, earlier_runs
from iosonde.jobs.store.jobs import write_jobs
from iosonde.model.jobs import Job

S = 1_000_000_000
T = 1_790_000_000 * S


def history(run_s: list[float], nodes: float = 2.0) -> EarlierRuns:
    n = len(run_s)
    return EarlierRuns(T + np.arange(n), np.array(run_s), np.full(n, nodes))


def test_ties_count_half_and_the_interval_holds_the_share() -> None:
    found = run_time(20.0, 2, history([10.0] * 5 + [20.0] * 10 + [30.0] * 5))
    assert (found.n, found.share, found.median_s, found.ratio) == (20, 0.5, 20.0, 1.0)
    assert found.share_lower is not None
    assert found.share_upper is not None
    assert found.share_lower < 0.5 < found.share_upper


@pytest.mark.parametrize("n", [0, 1, FEWEST - 1])
def test_of_too_few_nothing_is_said(n: int) -> None:
    found = run_time(20.0, 2, history([10.0] * n))
    assert (found.n, found.share, found.median_s, found.ratio) == (n, None, None, None)


def test_other_sizes_are_counted_and_not_compared() -> None:
    found = run_time(20.0, 4, history([10.0] * 20))
    assert (found.n, found.others, found.share) == (0, 20, None)
    assert run_time(20.0, None, history([10.0] * 20)).share == 1.0


@pytest.mark.parametrize(("n", "seed"), [(20, 1), (60, 2)])
def test_the_interval_covers_the_true_share(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(400):
        times = rng.pareto(1.5, n) + 1
        found = run_time(float(2 ** (1 / 1.5)), 2, history(times.tolist()))  # the true median
        assert found.share_lower is not None
        assert found.share_upper is not None
        hits += found.share_lower <= 0.5 <= found.share_upper
    assert hits >= 0.92 * 400


def test_only_completed_earlier_runs_of_the_same_name_user_and_cluster_count(tmp_path) -> None:
    def job(number: int, **changes: object) -> Job:
        start = T + number * 1000 * S
        known = {"user": "ann", "name": "relax", "nodes": 2, "state": "COMPLETED"}
        return Job(
            source="sacct",
            job_id=str(number),
            start_ns=start,
            end_ns=start + 100 * S,
            **(known | changes),  # type: ignore[arg-type]
        )

    write_jobs(
        tmp_path,
        [
            *(job(number) for number in range(10)),
            job(20, state="TIMEOUT"),
            job(21, user="bob"),
            job(22, name="other"),
            job(23, system="elsewhere"),
            job(40),
            *(Job(source="jobcomp", job_id=str(n), user="ann", name="relax", state="COMPLETED",
                  start_ns=T + n * 1000 * S, end_ns=T + n * 1000 * S + 100 * S) for n in range(3)),
        ],
    )  # fmt: skip
    asked = job(30)
    assert len(earlier_runs(tmp_path, asked).run_s) == 10
    assert len(earlier_runs(tmp_path, job(30, user="")).run_s) == 0
