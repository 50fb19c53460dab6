"""Makes weeks of samples in a second: log-normal latencies times known factors, straight to Parquet."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np

from iosonde.engine.contract import SAMPLE_TYPES
from iosonde.engine.layout.segments import parquet_path
from iosonde.engine.spool import literal
from tests.kit.samples.makers import LATENCY, SECOND

USUAL_NS = {
    "data_read": 5_000_000,
    "data_write": 4_000_000,
    "md_create": 1_000_000,
    "md_stat": 40_000,
    "md_read": 400_000,
    "md_delete": 600_000,
}
assert set(USUAL_NS) == set(LATENCY) - {"sigma"}


class Trouble(NamedTuple):
    """``factor`` times the latency of a share of an op's samples in [begin_s, end_s) of the store.

    ``queued``: share of what is added for which the probing thread waits for a CPU; ``hits``: whether only operations
    that a cache answers are concerned, or only the others. A factor of infinity: the operations time out and nobody
    knows how long they took.
    """

    op: str
    begin_s: float
    end_s: float
    factor: float
    share: float = 1.0
    queued: float = 0.0
    hits: bool | None = None


def made(
    root: Path,
    rng: np.random.Generator,
    start_ns: int,
    seconds: int,
    troubles: Sequence[Trouble] = (),
    *,
    target: str = "/work",
    host: str = "login2",
    period_s: int = 1,
    sigma: float = 0.3,
    silent: Sequence[tuple[float, float]] = (),
    failed: float = 0.0,
    cached: float = 0.0,
    ops: Sequence[str] = tuple(USUAL_NS),
    noise: Callable[[np.random.Generator, int], np.ndarray] | None = None,
) -> int:
    """Write sealed samples; returns how many.

    ``silent``: stretches (s after the start) without any sample; ``failed``: share that ends in EIO;
    ``cached``: share of reads that take 0.1 ms; ``noise``: factors of so many latencies, in place of lognormal ones.
    """
    due_s = np.arange(0, seconds, period_s, dtype=np.float64)
    for begin, end in silent:
        due_s = due_s[(due_s < begin) | (due_s >= end)]
    parts = []
    for place, op in enumerate(ops):
        varied = (
            np.exp(rng.normal(0, sigma, len(due_s))) if noise is None else noise(rng, len(due_s))
        )
        latency = USUAL_NS[op] * varied
        hits = np.zeros(len(due_s), bool)
        if op == "data_read" and cached:
            hits = rng.random(len(due_s)) < cached
            latency[hits] = 100_000 * np.exp(rng.normal(0, sigma, np.count_nonzero(hits)))
        gone, queued = np.zeros(len(due_s), bool), np.zeros(len(due_s))
        for trouble in troubles:
            if trouble.op == op:
                hit = (due_s >= trouble.begin_s) & (due_s < trouble.end_s)
                hit &= rng.random(len(due_s)) < trouble.share
                hit &= (trouble.hits is None) | (hits == bool(trouble.hits))
                if np.isinf(trouble.factor):
                    gone |= hit
                    continue
                queued[hit] += trouble.queued * (trouble.factor - 1) * latency[hit]
                latency[hit] *= trouble.factor
        bad = np.where(gone, 2, rng.random(len(due_s)) < failed)
        due = start_ns + (due_s * SECOND).astype(np.int64) + place * SECOND // 10
        parts.append((op, due, latency.astype(np.int64), bad, queued.astype(np.int64)))
    day = 86_400 * SECOND
    names = [op for op, due, *_ in parts for _ in range(len(due))]
    due, latency, bad, queued = (np.concatenate([part[i] for part in parts]) for i in (1, 2, 3, 4))
    constants = {"schema_version": 1, "host": host, "target": target, "size_bytes": 3901}
    constants |= {"period_ns": period_s * SECOND, "cache": "direct", "seed": 7, "run_id": "made"}
    columns = {
        "op": np.array(names, dtype=object),
        "due_ns": due,
        "latency": latency,
        "bad": bad,
        "queued": queued,
    }
    derived = {
        "began_ns": "CASE WHEN bad < 2 THEN due_ns + 1000 END",
        "ended_ns": "CASE WHEN bad < 2 THEN due_ns + 1000 + latency END",
        "outcome": "CASE bad WHEN 2 THEN 'timeout' WHEN 1 THEN 'EIO' ELSE 'ok' END",
        "offset_bytes": "NULL",
        "control_runq_ns": "queued",
        "size_bytes": "CASE WHEN op LIKE 'data%' THEN 1048576 ELSE 3901 END",
    }
    with duckdb.connect() as con:
        con.register("made", columns)
        for name, value in constants.items():
            derived.setdefault(name, literal(value) if isinstance(value, str) else str(value))
        picked = ", ".join(
            f"({derived.get(name, name)})::{kind} AS {name}" for name, kind in SAMPLE_TYPES.items()
        )
        for first in range(int(due.min()) // day * day, int(due.max()) + 1, day):
            stem = f"made{zlib.crc32(target.encode())}x{period_s}-{first // day}"
            path = parquet_path(root, host, stem, first)
            path.parent.mkdir(parents=True, exist_ok=True)
            con.execute(
                f"COPY (SELECT {picked} FROM made WHERE due_ns // {day} = {first // day} "
                f"ORDER BY target, op, due_ns) TO '{path}' (FORMAT parquet)"
            )
    return len(due)
