"""Makes stores whose contents a test knows exactly."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from iosonde import _core
from iosonde.engine.contract import SAMPLE_TYPES
from iosonde.engine.layout.segments import parquet_path
from iosonde.engine.spool import NULL_SQL
from iosonde.model.frames import NULL_NS, Frame
from iosonde.weather.store import Store

SECOND = 1_000_000_000
DAY = 86_400 * SECOND
START = 1_790_000_000_000_000_000
"""2026-09-21 14:13:20 UTC: whole minutes begin 40 s later."""
LATENCY = {
    "data_read": "5ms",
    "data_write": "4ms",
    "md_create": "1ms",
    "md_stat": "40us",
    "md_read": "400us",
    "md_delete": "600us",
    "sigma": 0.3,
}


def row(due_ns: int, service_ns: int | None, **changes: Any) -> dict[str, Any]:
    """One sample; ``service_ns`` None = pending."""
    ended = None if service_ns is None else due_ns + 1_000 + service_ns
    return {
        "schema_version": 1,
        "due_ns": due_ns,
        "began_ns": due_ns + 1_000,
        "ended_ns": ended,
        "host": "login2",
        "target": "/work",
        "op": "md_stat",
        "period_ns": SECOND,
        "size_bytes": 3901,
        "offset_bytes": None,
        "outcome": "pending" if service_ns is None else "ok",
        "cache": "unknown",
        "control_runq_ns": 0,
        "seed": 7,
        "run_id": "r",
    } | changes


def rows(services_ns: Iterable[int], start_ns: int = START, **changes: Any) -> list[dict[str, Any]]:
    """One ok sample a second."""
    return [row(start_ns + i * SECOND, s, **changes) for i, s in enumerate(services_ns)]


def sealed(root: Path, stem: str, samples: list[dict[str, Any]], opened_ns: int = START) -> Path:
    """A sealed segment with exactly these samples."""
    path = parquet_path(root, "login2", stem, opened_ns)
    columns = {
        name: np.array([NULL_NS if sample[name] is None else sample[name] for sample in samples])
        for name in SAMPLE_TYPES
    }
    return _write(
        path, {n: c.astype(object) if c.dtype.kind == "U" else c for n, c in columns.items()}
    )


def probed(
    root: Path,
    service_s: NDArray[np.float64],
    start_ns: int,
    *,
    op: str = "md_create",
    target: str = "/work",
    host: str = "login2",
) -> None:
    """Seal one drawn operation a second from ``start_ns`` on, a segment a UTC day; NaN: the probe did not run."""
    due = start_ns + np.arange(len(service_s), dtype=np.int64) * SECOND
    ran = ~np.isnan(service_s)
    for day in np.unique(due[ran] // DAY).tolist():
        rows = ran & (due // DAY == day)
        began, n = due[rows] + 1_000, int(np.count_nonzero(rows))
        stem = f"{op}-{target.strip('/')}-{int(due[rows][0])}"
        fixed = row(0, 0, op=op, target=target, host=host, run_id=stem, offset_bytes=NULL_NS)
        columns = {
            name: np.full(n, value, object if isinstance(value, str) else np.int64)
            for name, value in fixed.items()
        }
        ended = began + (service_s[rows] * 1e9).astype(np.int64)
        columns |= {"due_ns": due[rows], "began_ns": began, "ended_ns": ended}
        _write(parquet_path(root, host, stem, int(due[rows][0])), columns)


def _write(path: Path, columns: dict[str, NDArray[Any]]) -> Path:
    """Write a sealed segment from a column a name of SAMPLE_TYPES; ``NULL_NS``: missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    typed = ", ".join(
        f"({name})::{kind} AS {name}"
        if kind in ("VARCHAR", "UBIGINT", "UTINYINT")
        else f"nullif({name}, {NULL_SQL})::{kind} AS {name}"
        for name, kind in SAMPLE_TYPES.items()
    )
    with duckdb.connect() as con:
        con.register("t", columns)
        con.execute(f"COPY (SELECT {typed} FROM t) TO '{path}' (FORMAT parquet)")
    return path


def simulate(config: dict[str, Any], start_ns: int, duration_ns: int) -> dict[str, Any]:
    """Run a probe on simulated clocks from ``start_ns`` (UTC) on; writes its spool; returns the summary."""
    summary: dict[str, Any] = json.loads(_core.simulate(json.dumps(config), start_ns, duration_ns))
    return summary


def simulated(root: Path, seconds: int, *faults: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A store as a probe leaves it after ``seconds`` on a simulated storage with ``faults``."""
    target = {"path": "/work", "backend": "null", "latency": LATENCY, "fault": list(faults)}
    config = {"store": str(root), "host": "login2", "seed": 7, "window": "60s", "target": [target]}
    return simulate(config | changes, START, seconds * SECOND)


def state(**changes: Any) -> dict[str, Any]:
    """A state as the probe writes it: six ops, all as usual."""
    whole = {
        "schema_version": 1,
        "host": "login2",
        "target": "/work",
        "path": "/work",
        "run_id": "r",
        "written_ns": START,
        "period_ns": SECOND,
        "window_ns": 60 * SECOND,
        "baseline_trailing_ns": 7 * 86_400 * SECOND,
        "running": True,
        "state": "ok",
        "notes": [],
        "ops": [op_state(name) for name in LATENCY if name != "sigma"],
    }
    return whole | changes


def op_state(op: str, **changes: Any) -> dict[str, Any]:
    """The state of one op, as usual."""
    return {
        "op": op,
        "state": "ok",
        "n_due": 60,
        "n_seen": 60,
        "n_lost": 0,
        "ticks_skipped": 0,
        "latest_ns": 1_000_000,
        "median_ns": 1_100_000.0,
        "median_lower_ns": 1_000_000.0,
        "median_upper_ns": 1_200_000.0,
        "q95_ns": None,
        "baseline_ns": 1_000_000.0,
        "baseline_windows": 57,
        "slowdown": 1.1,
        "slowdown_lower": 1.0,
        "slowdown_upper": 1.2,
        "stretch_slowdown": None,
        "stretch_lower": None,
        "stretch_upper": None,
        "stage": "reliable",
        "epoch": 0,
        "climate": 1.0,
        "tail": 1.1,
        "tail_lower": 0.9,
        "tail_upper": None,
        "lost": 0.0,
        "lost_lower": 0.0,
        "lost_upper": 0.06,
        "late": 0.0,
        "hits": None,
        "hits_usual": None,
        "alarm": None,
        "alarm_ns": None,
        "since_ns": None,
        "inflight_ns": None,
        "inflight_due_ns": None,
        "host_busy": False,
        "partly": False,
        "last_ok_ns": START,
        "last_outcome": "ok",
        "cache": "direct",
    } | changes


def with_ops(**ops: dict[str, Any]) -> dict[str, Any]:
    """A state with some ops changed."""
    base = state()
    base["ops"] = [op | ops.get(op["op"], {}) for op in base["ops"]]
    return base


def everything(root: Path) -> Frame:
    """All samples of a store, with the columns that tell them apart."""
    return Store(root).samples(
        ("due_ns", "began_ns", "ended_ns", "op", "outcome", "size_bytes", "period_ns", "run_id")
    )


def same(one: Frame, other: Frame) -> bool:
    """Whether two frames of samples hold the same rows."""
    order = [np.lexsort((frame["op"].astype(str), frame["due_ns"])) for frame in (one, other)]
    return one.keys() == other.keys() and all(
        np.array_equal(one[name][order[0]], other[name][order[1]]) for name in one.columns
    )
