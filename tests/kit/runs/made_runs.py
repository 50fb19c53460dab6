"""Rows of runs that a test knows."""

from __future__ import annotations

from iosonde.bench.runs.compare import COMPARED_OPS
from iosonde.model.runs import RunRow
from tests.kit.samples.makers import SECOND, START


def benchmark(run_id="r", rate=100.0, factor=0.0, repetition=0, scale=1.0, **more):
    """A phase of two ranks: the whole, four ops, the ranks."""
    common = {
        **{
            "run_id": run_id,
            "source": "iosonde",
            "host": "h",
            "target": "/work",
            "backend": "posix",
        },
        **{"pattern": "cycle", "phase": "benchmark", "ranks": 2, "began_ns": START},
        **{"repetition": repetition, "waiting_factor": factor},
        "parameters": {"data_sets": 4, "iterations": 2000, "objects": 10_000},
    } | more
    whole = RunRow(
        **common,
        ops=400,
        duration_ns=SECOND,
        rate_per_s=4 * rate,
        balance=0.682,
        max_ns=3.5e9,
        failed=0,
    )
    ops = [
        RunRow(
            **common,
            op=op,
            ops=100,
            rate_per_s=rate,
            q50_ns=1e6,
            q75_ns=scale * 1e6 * (i + 1),
            max_ns=3.5e9,
        )
        for i, op in enumerate(COMPARED_OPS)
    ]
    ranks = [
        RunRow(**common, rank=r, ops=200, duration_ns=d, rate_per_s=1.0)
        for r, d in ((0, SECOND), (1, 2 * SECOND), (2, SECOND))
    ]
    return [whole, *ops, *ranks]
