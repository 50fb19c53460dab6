"""Incidents with a known cause, written as a site has them: sealed samples, states, collectl, sacct, servers' records.

    made = incident(Kind.ONE_JOB, seed=7, folder=Path("store"), draw="heavy tail")

A file system /work of four probed servers, three more file systems, a cluster whose jobs load /work. What happens to
reads is the truth: a server is slow, a job's load makes all slower, a level stays, the prober waits for a processor, a
backup returns each night, the jobs together fill the queue, two of these, or nothing. Load slows everybody a little.
With the draw ``QUEUE`` /work is one server whose reads are simulated operation by operation (``queued``).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np

from benchmarks.load.week import BEGIN_NS, Cluster, S, generate
from benchmarks.truth.queued import QueueServer
from iosonde.connectors.source import Settings
from iosonde.engine.contract import SAMPLE_TYPES
from iosonde.engine.layout.segments import parquet_path
from iosonde.engine.spool import literal
from iosonde.ingest.records import Told, import_records, split
from iosonde.jobs.store.series import write_block
from iosonde.model.arrays import Flags, Floats, Instants
from iosonde.model.metrics import MetricBlock
from iosonde.model.names import slug
from iosonde.why.links import Kind

HOST = "login1"
WHOLE, OTHERS = "/work", ("/home", "/scratch", "/proj")
SERVERS = tuple(f"OST{number:04d}" for number in range(4))
STEP_S = 60
HOUR_S, DAY_S = 3600, 86_400
USUAL_NS = 4e6
NIGHTS = 12
LINKS = ("component", "load", "host", "recurrence")
"""Links whose data can be left out."""

Draw = Callable[[np.random.Generator, int], Floats]


def _lognormal(rng: np.random.Generator, n: int) -> Floats:
    return np.exp(0.3 * rng.standard_normal(n))


def _heavy(rng: np.random.Generator, n: int) -> Floats:
    return _lognormal(rng, n) * np.where(rng.random(n) < 0.02, 1 + rng.pareto(1.5, n), 1.0)


def _bimodal(rng: np.random.Generator, n: int) -> Floats:
    """A quarter comes from a cache, twenty times as quick."""
    return _lognormal(rng, n) * np.where(rng.random(n) < 0.25, 0.05, 1.0)


def _autocorrelated(rng: np.random.Generator, n: int) -> Floats:
    """A level that wanders over minutes."""
    from scipy.signal import lfilter  # type: ignore[import-untyped, unused-ignore]

    rho = 0.97
    walk = lfilter([0.2 * (1 - rho**2) ** 0.5], [1, -rho], rng.standard_normal(n))
    return _lognormal(rng, n) * np.exp(np.asarray(walk))


DRAWS: dict[str, Draw] = {
    "lognormal": _lognormal,
    "heavy tail": _heavy,
    "bimodal": _bimodal,
    "autocorrelated": _autocorrelated,
}


QUEUE = "queue"
"""Reads of /work that wait in one queue; its load is a hundredth of that of other incidents."""


@dataclass(frozen=True)
class Queued:
    """The server, the load that it had in each step of ``STEP_S``, without the job, and the stretch in seconds."""

    server: QueueServer
    per_s: Floats
    without_per_s: Floats
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class Incident:
    """What happened, and what ``why`` is asked: ``at_ns`` of ``WHOLE``'s targets, at ``now_ns``."""

    kind: Kind
    root: Path
    targets: tuple[str, ...]
    at_ns: int
    now_ns: int
    component: str | None = None
    jobs: tuple[str, ...] = ()
    withheld: str = ""
    queued: Queued | None = None


@dataclass
class _Plan:
    """Seconds from ``BEGIN_NS``; ``begin`` to ``end`` of the stretch."""

    kind: Kind
    rng: np.random.Generator
    withheld: str
    days: float
    period_s: int
    begin: float
    end: float
    hogs: int = 0
    component: str | None = None
    cells: Floats = field(default_factory=lambda: np.zeros(0))
    """Load of all nodes, operations per second, in each step of ``STEP_S``; filled by ``_records``."""
    jobs: tuple[str, ...] = ()
    scale: float = 1.0
    """Of the load: one queue is simulated operation by operation."""
    hog_cells: Floats = field(default_factory=lambda: np.zeros(0))
    queued: Queued | None = None


def incident(
    kind: Kind, seed: int, folder: Path, draw: str = "lognormal", withheld: str = ""
) -> Incident:
    """Write one incident into a new store. ``withheld``: one of ``LINKS``, whose data are left out."""
    rng = np.random.default_rng([seed, list(Kind).index(kind)])
    plan = _plan(kind, rng, withheld)
    root = folder / "store"
    if draw == QUEUE:
        plan.scale = 0.01
    _records(plan, root, folder, seed)
    if draw == QUEUE:
        plan.queued = _queued(plan)
    else:
        _servers(plan, root)
    targets = _samples(plan, root, DRAWS.get(draw, _lognormal))
    at_s = (plan.begin + plan.end) / 2
    now_s = plan.days * DAY_S
    return Incident(
        kind,
        root,
        tuple(name for name in targets if name.startswith(WHOLE)),
        BEGIN_NS + int(at_s * S),
        BEGIN_NS + int(now_s * S),
        plan.component if withheld != "component" else None,
        plan.jobs if withheld != "load" else (),
        withheld,
        plan.queued,
    )


def _queued(plan: _Plan) -> Queued:
    """A server that the load of the stretch fills: by so much that not every minute of it is too much."""
    first, last = int(plan.begin / STEP_S), int(plan.end / STEP_S)
    middle = float(np.median(plan.cells[first:last]))
    server = QueueServer(plan.rng.uniform(0.9, 1.2) / middle, int(plan.rng.integers(20, 120)))
    return Queued(server, plan.cells, plan.cells - plan.hog_cells, plan.begin, plan.end)


def _plan(kind: Kind, rng: np.random.Generator, withheld: str) -> _Plan:
    days, period_s = 4.5, 10
    if withheld == "recurrence":
        days = 1.6
    begin = (days - 0.5) * DAY_S + rng.uniform(0, 3 * HOUR_S)
    end = begin + rng.uniform(0.6, 2.5) * HOUR_S
    plan = _Plan(kind, rng, withheld, days, period_s, begin, end)
    if kind is Kind.SLOW_COMPONENT:
        plan.component = str(rng.choice(SERVERS))
    if kind is Kind.ONE_JOB:
        plan.hogs = 1
    if kind is Kind.SEVERAL:
        plan.component, plan.hogs = str(rng.choice(SERVERS)), 1
    if kind is Kind.RECURRING:
        plan.days = NIGHTS
        at = rng.uniform(0.5, 4.0) * HOUR_S
        plan.begin = (NIGHTS - 1) * DAY_S + at
        plan.end = plan.begin + rng.uniform(1.0, 2.5) * HOUR_S
    if kind is Kind.LASTING_CHANGE:
        plan.days = 7.0
        plan.begin = rng.uniform(4.0, 4.5) * DAY_S
        plan.end = plan.days * DAY_S
    return plan


def _records(plan: _Plan, root: Path, folder: Path, seed: int) -> None:
    """Collectl of each node and sacct of the last day and a half, imported; nothing where they are withheld."""
    days = min(1.2, plan.days)
    cluster = Cluster(exclusive=8, shared=2, jobs=90, days=days, step_s=STEP_S)
    made = generate(cluster, seed)
    grid = made.recorded.grid
    shift_s = int((plan.days - days) * DAY_S)
    ops = [row.astype(np.float64) for row in made.recorded.ops]
    names = list(made.recorded.nodes)
    # Jobs as usual never load the storage as much as what is injected.
    total = np.sum(ops, axis=0)
    ceiling = plan.scale * 2000.0 * STEP_S
    ops = [row * np.minimum(1.0, ceiling / np.maximum(total, 1.0)) for row in ops]
    first, last = ((at - shift_s) / STEP_S for at in (plan.begin, plan.end))
    inside = np.zeros(grid.cells, bool)
    inside[max(0, int(first)) : max(0, int(last))] = True
    rows = _sacct(made.allocations, shift_s)
    if plan.hogs:
        for node in ("h1", "h2"):
            noise = plan.rng.standard_gamma(4.0, grid.cells) / 4.0
            ops.append(np.where(inside, plan.scale * noise * 8000.0 * STEP_S, 0.0))
            names.append(node)
        plan.jobs = ("900001",)
        rows.append(_row("900001", "mallory", (plan.begin, plan.end), "h1,h2"))
    if plan.kind is Kind.OVERLOAD:
        rows += _crowd(plan, ops, names, (grid.cells, shift_s))
    before = np.zeros(shift_s // STEP_S)
    plan.cells = np.concatenate([before, np.sum(ops, axis=0) / STEP_S])
    hogs = [row for row, name in zip(ops, names, strict=True) if name in ("h1", "h2")]
    plan.hog_cells = np.concatenate([before, np.sum(hogs, axis=0) / STEP_S * np.ones(grid.cells)])
    if plan.withheld == "load":
        return
    files = folder / "files"
    files.mkdir()
    ends = BEGIN_NS // S + shift_s + STEP_S * np.arange(1, grid.cells + 1)
    for name, row in zip(names, ops, strict=True):
        reads, writes = np.round(0.7 * row).astype(int), np.round(0.3 * row).astype(int)
        lines = ["# Collectl:   V4.3.1-1  Options: -P -oU -on", "#UTC [NFS]ReadsC [NFS]WritesC"]
        lines += [f"{e} {r} {w}" for e, r, w in zip(ends, reads, writes, strict=True)]
        (files / f"{name}.tab").write_text("\n".join(lines) + "\n")
    head = "JobIDRaw|User|Account|State|Start|End|NNodes|NodeList|JobName"
    (files / "sacct.txt").write_text("\n".join([head, *rows]) + "\n")
    told = Told()
    paths = sorted(files.iterdir())
    list(import_records(root, split(paths)[0], Settings(), told))
    assert not told.errors


def _crowd(plan: _Plan, ops: list[Floats], names: list[str], size: tuple[int, int]) -> list[str]:
    """Twenty jobs that come and go around the stretch; all together they are too many, and none stands out."""
    cells, shift_s = size
    rng, rows = plan.rng, []
    begin, end = plan.begin - shift_s, plan.end - shift_s
    for number in range(20):
        length = rng.uniform(0.5, 0.9) * (end - begin)
        start = rng.uniform(begin - 0.2 * length, end - 0.8 * length)
        level = np.zeros(cells)
        # Every job has minutes of its own in which it works.
        first, last = int(max(0, start) / STEP_S), int(min(cells * STEP_S, start + length) / STEP_S)
        busy = np.repeat(rng.random(cells // 6 + 1) < 0.6, 6)[:cells]
        noise = rng.standard_gamma(3.0, last - first) / 3.0
        level[first:last] = plan.scale * noise * 1400.0 * STEP_S
        ops.append(np.where(busy, level, 0.0))
        names.append(f"c{number:02d}")
        span = (start + shift_s, start + length + shift_s)
        rows.append(_row(str(800_000 + number), f"v{number % 7}", span, f"c{number:02d}"))
    return rows


def _row(job: str, user: str, span_s: tuple[float, float], nodes: str) -> str:
    begin, end = (int(BEGIN_NS // S + at) for at in span_s)
    return f"{job}|{user}|phys|COMPLETED|{begin}|{end}|{nodes.count(',') + 1}|{nodes}|app"


def _sacct(runs: object, shift_s: int) -> list[str]:
    nodes: dict[int, list[str]] = {}
    for run, node in zip(runs.run.tolist(), runs.node.tolist(), strict=True):  # type: ignore[attr-defined]
        nodes.setdefault(run, []).append(runs.nodes[node])  # type: ignore[attr-defined]
    rows = []
    for run in range(len(runs)):  # type: ignore[arg-type]
        begin, end = (int(at[run]) // S + shift_s for at in (runs.begin_ns, runs.end_ns))  # type: ignore[attr-defined]
        head = f"{runs.job_id[run]}|{runs.user[run]}|{runs.account[run]}|COMPLETED|{begin}|{end}"  # type: ignore[attr-defined]
        rows.append(f"{head}|{len(nodes[run])}|{','.join(nodes[run])}|{runs.name[run]}")  # type: ignore[attr-defined]
    return rows


def _servers(plan: _Plan, root: Path) -> None:
    """Processors of the four servers, which follow the load alike."""
    if plan.withheld == "component":
        return
    time_ns = BEGIN_NS + S * 60 * np.arange(int(plan.days * 1440), dtype=np.int64)
    load = np.interp((time_ns - BEGIN_NS) / S, STEP_S * np.arange(len(plan.cells)), plan.cells)
    busy = 8 + 80 * (1 - np.exp(-load / 20_000))
    value = busy[:, None] * np.exp(0.1 * plan.rng.standard_normal((len(busy), 4)))
    names = tuple(f"oss{number}" for number in range(4))
    step = np.full(len(time_ns), 60 * S, dtype=np.int64)
    block = MetricBlock(
        *("lmt", "work", "oss", "cpu_percent", "percent", "gauge", names),
        time_ns,
        step,
        np.minimum(value, 100.0),
    )
    write_block(root, block)


def _samples(plan: _Plan, root: Path, draw: Draw) -> list[str]:
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
        if target.startswith(WHOLE):
            slow = plan.component is not None and plan.component in (
                server,
                "" if server else plan.component,
            )
            latency = latency * factors["all"] * (factors["component"] if slow else 1.0)
            if plan.queued:
                latency = _of_queue(plan, plan.queued, due_s)
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


def _of_queue(plan: _Plan, queued: Queued, due_s: Floats) -> Floats:
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


def _factors(plan: _Plan, due_s: Floats, inside: Flags) -> dict[str, Floats]:
    """What the load, the fault and the rest multiply latencies of /work by."""
    rng, n = plan.rng, len(due_s)
    load = np.interp(due_s, STEP_S * np.arange(len(plan.cells)), plan.cells)
    everyone = 1 + rng.uniform(2, 6) * load / 16_000
    if plan.kind is Kind.OVERLOAD:
        # Beyond what the queue does in time the wait grows with every operation.
        everyone = 1 + rng.uniform(4, 8) * np.maximum(0, load - 5_000) / 10_000
    if plan.kind in (Kind.SLOW_COMPONENT, Kind.NOTHING_SLOW, Kind.THIS_HOST):
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


def _state(plan: _Plan, root: Path, target: str, server: str | None) -> None:
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


def _write(plan: _Plan, root: Path, columns: dict[str, list[object]]) -> None:
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
