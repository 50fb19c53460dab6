"""Load of an incident: jobs, collectl of their nodes, sacct, and the processors of the servers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.truth.load.week import BEGIN_NS, Cluster, S, generate
from benchmarks.truth.why.incident_plan import DAY_S, STEP_S, Plan
from iosonde.ingest.answers import Question, import_files
from iosonde.jobs.store.series import write_block
from iosonde.model.arrays import Floats
from iosonde.model.metrics import MetricBlock
from iosonde.why.links import Kind


def load_records(plan: Plan, root: Path, folder: Path, seed: int) -> None:
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
        rows.append(_row("900001", "mallory|phys", (plan.begin, plan.end), "h1,h2"))
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
    assert not import_files(root, Question(sorted(files.iterdir())), 0).errors


def _crowd(plan: Plan, ops: list[Floats], names: list[str], size: tuple[int, int]) -> list[str]:
    """Twenty jobs that come and go around the stretch; together they are too many, and no job or user stands out."""
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
        who = f"v{number % 7}|a{number % 7}"
        rows.append(_row(str(800_000 + number), who, span, f"c{number:02d}"))
    return rows


def _row(job: str, who: str, span_s: tuple[float, float], nodes: str) -> str:
    begin, end = (int(BEGIN_NS // S + at) for at in span_s)
    return f"{job}|{who}|COMPLETED|{begin}|{end}|{nodes.count(',') + 1}|{nodes}|app"


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


def server_records(plan: Plan, root: Path) -> None:
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
