"""Phases as rows of the table ``runs``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from iosonde.bench.metadata.result import PhaseResult
from iosonde.bench.metadata.tallies import OpLap, Together, alone
from iosonde.model.runs import RunRow


@dataclass(frozen=True, slots=True)
class Label:
    """What all rows of a run have in common."""

    run_id: str
    host: str
    target: str
    backend: str
    pattern: str
    ranks: int
    parameters: dict[str, Any]
    machine: dict[str, Any]


def rank_rows(label: Label, result: PhaseResult) -> list[RunRow]:
    """A row for each rank of this process, and one for each of its ops."""
    rows: list[RunRow] = []
    for lap in result.laps:
        own = alone(lap)
        whole = not result.snapshot and lap.end == "done"
        rows += [
            replace(row, rank=lap.rank, balance=None, complete=whole)
            for row in _rows(label, result, own, None)
        ]
    return rows


def total_rows(label: Label, result: PhaseResult) -> list[RunRow]:
    """A row for all ranks together, and one for each op. Empty where the total is not known."""
    if result.total is None:
        return []
    rows = _rows(label, result, result.total, result.walled)
    machine = dict(label.machine)
    processors = machine.get("processors", 0) * machine.get("machines", 1)
    if result.total.slowest_ns and processors:
        share = result.total.cpu_ns / (result.total.slowest_ns * processors)
        machine["cpu_share"] = round(min(share, 1.0), 4)
    return [replace(rows[0], machine=machine), *rows[1:]]


def _rows(
    label: Label, result: PhaseResult, total: Together, walled: Together | None
) -> list[RunRow]:
    duration = total.slowest_ns or None
    whole = RunRow(
        run_id=label.run_id,
        source="iosonde",
        host=label.host,
        target=label.target,
        backend=label.backend,
        pattern=label.pattern,
        phase=result.phase,
        iteration=result.iteration,
        waiting_factor=result.waiting_factor,
        repeat=result.repeat,
        ranks=label.ranks,
        began_ns=total.began_ns,
        duration_ns=duration,
        ops=total.ok + total.failures,
        failed=total.failures,
        bytes=sum(op.bytes for op in total.ops.values()),
        rate_per_s=_rate(total.ok, duration),
        stonewall_per_s=None if walled is None else _rate(walled.ok, walled.slowest_ns),
        corrected_per_s=total.corrected_per_s or None,
        balance=_balance(total),
        op_time_ns=total.op_time_ns,
        wait_time_ns=total.waited_ns,
        cpu_time_ns=total.cpu_ns,
        outcomes=_outcomes(total.ops.values()),
        complete=total.complete,
        parameters=label.parameters,
        **(_all_ops(total).statistics() if total.ops else {}),  # type: ignore[arg-type]
    )
    return [whole, *(_op_row(whole, op, duration, walled) for op in total.ops.values())]


def _op_row(whole: RunRow, op: OpLap, duration: int | None, walled: Together | None) -> RunRow:
    at_wall = None if walled is None or op.op not in walled.ops else walled.ops[op.op]
    return replace(
        whole,
        op=op.op,
        ops=op.ok + op.failures,
        failed=op.failures,
        bytes=op.bytes,
        rate_per_s=_rate(op.ok, duration),
        stonewall_per_s=None
        if walled is None or at_wall is None
        else _rate(at_wall.ok, walled.slowest_ns),
        corrected_per_s=None,
        balance=None,
        op_time_ns=op.sum_ns + op.failed_ns,
        wait_time_ns=None,
        cpu_time_ns=None,
        outcomes=_outcomes([op]),
        **op.statistics(),  # type: ignore[arg-type]
    )


def _all_ops(total: Together) -> OpLap:
    first, *others = total.ops.values()
    for op in others:
        first = first.plus(op)
    return first


def _rate(count: int, duration_ns: int | None) -> float | None:
    return count * 1e9 / duration_ns if duration_ns else None


def _balance(total: Together) -> float | None:
    if total.fastest_ns is None or not total.slowest_ns:
        return None
    return total.fastest_ns / total.slowest_ns


def _outcomes(ops: Iterable[OpLap]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for op in ops:
        for outcome, count in {"ok": op.ok, **op.failed}.items():
            if count:
                counts[outcome] = counts.get(outcome, 0) + count
    return counts
