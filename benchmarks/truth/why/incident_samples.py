"""Samples of an incident's probes: latencies of reads, sealed segments, states."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np

from benchmarks.truth.load.week import BEGIN_NS, S
from benchmarks.truth.why.incident_draws import Draw
from benchmarks.truth.why.incident_plan import (
    DAY_S,
    HOST,
    HOUR_S,
    NIGHTS,
    OTHERS,
    SERVERS,
    STEP_S,
    WHOLE,
    Course,
    Plan,
    Queued,
)
from iosonde.engine.contract import SAMPLE_TYPES
from iosonde.engine.layout.segments import parquet_path
from iosonde.engine.spool import literal
from iosonde.model.arrays import Flags, Floats, Instants
from iosonde.model.names import slug
from iosonde.why.links import Kind

USUAL_NS = 4e6


def probe_samples(plan: Plan, root: Path, draw: Draw) -> list[str]:
    """Reads of every target, and their states."""
    whole = [f"{WHOLE}/{name}" for name in SERVERS]
    targets = [*whole, *OTHERS]
    if plan.withheld == "component":
        targets = [WHOLE]
    if plan.queued:
        targets = [WHOLE, *OTHERS]
    seconds = int(plan.days * DAY_S)
    due_s = np.arange(0, seconds, plan.period_s, dtype=np.float64)
    inside = (due_s >= plan.begin) & (due_s < plan.end)
    factors = _factors(plan, due_s, inside)
    columns: dict[str, list[object]] = {"target": [], "due": [], "latency": [], "queued": []}
    busy = plan.rng.uniform(4, 10)
    for place, target in enumerate(targets):
        server = target.removeprefix(f"{WHOLE}/") if target in whole else None
        latency = USUAL_NS * (1 + 0.2 * place) * draw(plan.rng, len(due_s))
        by = np.ones(len(due_s))
        if target.startswith(WHOLE):
            slow = plan.component is not None and plan.component in (
                server,
                "" if server else plan.component,
            )
            by = factors["all"] * (factors["component"] if slow else 1.0)
        if plan.kind is Kind.EVERYTHING:
            by = by * np.where(inside, plan.network, 1.0)
        latency = latency * by
        if plan.queued and target.startswith(WHOLE):
            latency = _of_queue(plan, plan.queued, due_s)
        elif plan.kind is not Kind.THIS_HOST:
            usual = float(np.median(by[due_s < plan.begin]))
            plan.courses[target] = Course(BEGIN_NS + (due_s * S).astype(np.int64), by, usual)
        queued = np.zeros(len(due_s))
        if plan.kind is Kind.THIS_HOST:
            queued[inside] = busy * USUAL_NS * plan.rng.standard_gamma(3.0, int(inside.sum())) / 3.0
            latency = latency + queued
        columns["target"] += [target] * len(due_s)
        columns["due"].append(BEGIN_NS + (due_s * S).astype(np.int64) + place * S // 10)
        columns["latency"].append(latency.astype(np.int64))
        columns["queued"].append(queued.astype(np.int64))
        _state(plan, root, target, server)
    _write(plan, root, columns)
    return targets


def _of_queue(plan: Plan, queued: Queued, due_s: Floats) -> Floats:
    """Latencies (ns) of all reads; of the days before the records those of an hour without the stretch."""
    first = int(np.flatnonzero(plan.cells)[0])
    late = due_s >= first * STEP_S
    seed = int(plan.rng.integers(1, 2**40))
    cells = queued.per_s[first:]
    took = queued.server.reads(due_s[late] - first * STEP_S, cells, STEP_S, seed)
    usual = took[due_s[late] < plan.begin - HOUR_S]
    latency = plan.rng.choice(usual[np.isfinite(usual)], len(due_s))
    latency[late] = np.where(np.isfinite(took), took, float(np.nanmedian(took)))
    return np.asarray(latency * S)


def _factors(plan: Plan, due_s: Floats, inside: Flags) -> dict[str, Floats]:
    """What the load, the fault and the rest multiply latencies of /work by."""
    rng, n = plan.rng, len(due_s)
    load = np.interp(due_s, STEP_S * np.arange(len(plan.cells)), plan.cells)
    everyone = 1 + rng.uniform(2, 6) * load / 16_000
    if plan.kind is Kind.OVERLOAD:
        # Beyond what the queue does in time the wait grows with every operation.
        everyone = 1 + rng.uniform(4, 8) * np.maximum(0, load - 5_000) / 10_000
    if plan.kind in (Kind.SLOW_COMPONENT, Kind.NOTHING_SLOW, Kind.THIS_HOST, Kind.EVERYTHING):
        everyone = 1 + 0.5 * load / 16_000
    fault = np.ones(n)
    if plan.kind is Kind.RECURRING:
        night = (due_s % DAY_S >= plan.begin % DAY_S) & (due_s % DAY_S < plan.end % DAY_S)
        fault = np.where(
            night & (rng.random(NIGHTS + 1) < 0.95)[(due_s // DAY_S).astype(int)] | inside,
            rng.uniform(3, 6),
            1.0,
        )
        everyone = np.ones(n)
    if plan.kind is Kind.LASTING_CHANGE:
        fault = np.where(inside, rng.uniform(2.3, 4.0), 1.0)
        everyone = np.ones(n)
    component = np.where(inside, rng.uniform(3, 10), 1.0)
    return {"all": everyone * fault, "component": component}


def _state(plan: Plan, root: Path, target: str, server: str | None) -> None:
    """What the probe leaves: it has stopped; which server of which target it watched."""
    state = {
        **{"schema_version": 1, "host": HOST, "target": target, "path": target, "run_id": "made"},
        **{"written_ns": BEGIN_NS + int(plan.days * DAY_S * S), "period_ns": plan.period_s * S},
        **{"window_ns": 60 * S, "baseline_trailing_ns": 7 * DAY_S * S, "running": False},
        **{"state": "ok", "notes": [], "ops": []},
    }
    if server is not None:
        state["component"] = {"name": server, "of": WHOLE, "pin": {"path": server}}
    path = root / "state" / slug(HOST) / f"{slug(target)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(state))


def _write(plan: Plan, root: Path, columns: dict[str, list[object]]) -> None:
    """Sealed segments, a day each."""
    table = {
        "target": np.array(columns["target"], dtype=object),
        **{name: np.concatenate(columns[name]) for name in ("due", "latency", "queued")},  # type: ignore[arg-type]
    }
    control = "NULL" if plan.withheld == "host" else "queued"
    values = {
        **{"schema_version": "1", "host": literal(HOST), "op": "'data_read'"},
        **{"due_ns": "due", "began_ns": "due + 1000", "ended_ns": "due + 1000 + latency"},
        **{"size_bytes": "1048576", "period_ns": str(plan.period_s * S), "cache": "'direct'"},
        **{"seed": "7", "run_id": "'made'", "outcome": "'ok'", "offset_bytes": "NULL"},
        **{"control_runq_ns": control, "target": "target"},
    }
    picked = ", ".join(f"({values[name]})::{kind} AS {name}" for name, kind in SAMPLE_TYPES.items())
    due: Instants = table["due"]  # type: ignore[assignment]
    with duckdb.connect() as con:
        con.register("made", table)
        for day in np.unique(due // (DAY_S * S)).tolist():
            date = datetime.fromtimestamp(day * DAY_S, UTC).strftime("%Y%m%d")
            path = parquet_path(root, HOST, f"made-{date}", day * DAY_S * S)
            path.parent.mkdir(parents=True, exist_ok=True)
            where = f"due // {DAY_S * S} = {day}"
            con.execute(
                f"COPY (SELECT {picked} FROM made WHERE {where} ORDER BY target, due) "
                f"TO '{path}' (FORMAT parquet)"
            )
