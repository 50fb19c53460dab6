"""Points of a sweep as rows of the table ``runs``."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from iosonde.bench.backends.nfs_place import NfsPlace
from iosonde.bench.nfs.points import SweepPoint, quantile
from iosonde.bench.nfs.spec import SweepSpec
from iosonde.bench.runtime.machine import describe
from iosonde.model.runs import RUN_QUANTILES, RunRow

if TYPE_CHECKING:
    from iosonde.model.arrays import Ints


def run_id_of(now_ns: int) -> str:
    """Run id of a sweep that starts now."""
    at = datetime.fromtimestamp(now_ns / 1e9, UTC)
    return f"nfs-{at:%Y%m%dT%H%M%S}-{now_ns % 1_000_000:06d}"


def sweep_rows(
    run_id: str, place: NfsPlace, spec: SweepSpec, points: Sequence[SweepPoint]
) -> list[RunRow]:
    """Rows of a sweep, three per point: all calls, reads, writes. ``measurement`` is the point's number."""
    facts = describe(None)
    common = {
        "run_id": run_id,
        "source": "iosonde",
        "instrument": "nfs",
        "host": platform.node(),
        "target": place.name,
        "backend": "nfs",
        "pattern": "sweep",
        "phase": "load",
        "ranks": spec.connections,
    }
    found = []
    for number, point in enumerate(points):
        whole, *each = _rows(common | {"measurement": number}, spec, point)
        found += [replace(whole, machine=facts), *each]
    return found


def _rows(common: dict[str, Any], spec: SweepSpec, point: SweepPoint) -> list[RunRow]:
    writes = point.writes
    write_failures = {"EIO": writes["failed"], "ETIMEDOUT": writes["unanswered"]}
    write_outcomes = _counted({"ok": writes["done"], **write_failures})
    read_outcomes = _counted(point.read_outcomes)
    both = {
        name: read_outcomes.get(name, 0) + write_outcomes.get(name, 0)
        for name in {**read_outcomes, **write_outcomes}
    }
    common |= {
        "began_ns": point.began_ns,
        "duration_ns": point.lasted_ns,
        "parameters": spec.parameters()
        | {"write_rate_per_s": point.rate_per_s, "achieved_per_s": _finite(point.achieved_per_s)},
        "complete": not (point.stopped or point.ceiling),
    }
    reads = _op(common, "data_read", read_outcomes, point.read_ns, 1)
    found = [RunRow(**common, **_counts(both)), reads]
    if point.rate_per_s > 0:
        found.append(_op(common, "data_write", write_outcomes, point.write_ns, 8))
    return found


def _op(
    common: Mapping[str, Any], op: str, outcomes: Mapping[str, int], latency: Ints, size: int
) -> RunRow:
    seconds = common["duration_ns"] / 1e9
    ok = outcomes.get("ok", 0)
    found: dict[str, Any] = {f"{name}_ns": None for name in RUN_QUANTILES}
    if len(latency):
        found = {f"{name}_ns": _finite(quantile(latency, q)) for name, q in RUN_QUANTILES.items()}
        found |= {"min_ns": float(latency.min()), "max_ns": float(latency.max())}
        found["mean_ns"] = float(latency.mean())
    rate = ok / seconds if seconds else None
    return RunRow(**common, **_counts(outcomes), **found, op=op, bytes=ok * size, rate_per_s=rate)


def _counts(outcomes: Mapping[str, int]) -> dict[str, Any]:
    every = sum(outcomes.values())
    return {
        "ops": every,
        "failed": every - outcomes.get("ok", 0),
        "outcomes": dict(outcomes),
    }


def _counted(outcomes: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in outcomes.items() if count}


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value
