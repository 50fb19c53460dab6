"""Phases as rows of the table ``runs``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from iosonde.bench.runtime.op_tally import OpTally
from iosonde.bench.runtime.result import PhaseResult
from iosonde.bench.runtime.tallies import PhaseTally
from iosonde.model.runs import RunRow


@dataclass(frozen=True, slots=True)
class Label:
    """Columns that all rows of a run share."""

    run_id: str
    instrument: str
    host: str
    target: str
    backend: str
    pattern: str
    ranks: int
    parameters: dict[str, Any]
    machine: dict[str, Any]


def rank_rows(label: Label, result: PhaseResult) -> list[RunRow]:
    """Rows of each rank of this process, and of each of its ops."""
    rows: list[RunRow] = []
    for tally in result.ranks:
        own = PhaseTally.of_rank(tally)
        whole = not result.snapshot and tally.end == "done"
        rows += [
            replace(row, rank=tally.rank, balance=None, complete=whole)
            for row in _rows(label, result, own, None)
        ]
    return rows


def total_rows(label: Label, result: PhaseResult) -> list[RunRow]:
    """Rows of all ranks together, and of each op. Empty if the total is elsewhere."""
    if result.total is None:
        return []
    rows = _rows(label, result, result.total, result.at_limit)
    machine = dict(label.machine)
    processors = machine.get("processors", 0) * machine.get("machines", 1)
    if result.total.slowest_ns and processors:
        share = result.total.cpu_ns / (result.total.slowest_ns * processors)
        machine["cpu_share"] = round(min(share, 1.0), 4)
    if result.pressure is not None:
        threads = max(1, label.ranks // int(label.parameters.get("processes") or 1))
        machine |= result.pressure.shares(threads)
    return [replace(rows[0], machine=machine), *rows[1:]]


def _rows(
    label: Label, result: PhaseResult, total: PhaseTally, at_limit: PhaseTally | None
) -> list[RunRow]:
    duration = total.slowest_ns or None
    whole = RunRow(
        run_id=label.run_id,
        source="iosonde",
        instrument=label.instrument,
        host=label.host,
        target=label.target,
        backend=label.backend,
        pattern=label.pattern,
        phase=result.key.name,
        repetition=result.key.repetition,
        waiting_factor=result.key.waiting_factor,
        measurement=result.key.measurement,
        ranks=label.ranks,
        began_ns=total.began_ns,
        duration_ns=duration,
        ops=total.ok + total.failures,
        failed=total.failures,
        bytes=sum(op.bytes for op in total.ops.values()),
        rate_per_s=_rate(total.ok, duration),
        stonewall_per_s=None if at_limit is None else _rate(at_limit.ok, at_limit.slowest_ns),
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
    return [whole, *(_op_row(whole, op, duration, at_limit) for op in total.ops.values())]


def _op_row(
    whole: RunRow, op: OpTally, duration: int | None, at_limit: PhaseTally | None
) -> RunRow:
    op_at_limit = None if at_limit is None or op.op not in at_limit.ops else at_limit.ops[op.op]
    return replace(
        whole,
        op=op.op,
        ops=op.ok + op.failures,
        failed=op.failures,
        bytes=op.bytes,
        rate_per_s=_rate(op.ok, duration),
        stonewall_per_s=None
        if at_limit is None or op_at_limit is None
        else _rate(op_at_limit.ok, at_limit.slowest_ns),
        corrected_per_s=None,
        balance=None,
        op_time_ns=op.sum_ns + op.failed_ns,
        wait_time_ns=None,
        cpu_time_ns=None,
        outcomes=_outcomes([op]),
        **op.statistics(),  # type: ignore[arg-type]
    )


def _all_ops(total: PhaseTally) -> OpTally:
    first, *others = total.ops.values()
    for op in others:
        first = first.plus(op)
    return first


def _rate(count: int, duration_ns: int | None) -> float | None:
    return count * 1e9 / duration_ns if duration_ns else None


def _balance(total: PhaseTally) -> float | None:
    if total.fastest_ns is None or not total.slowest_ns:
        return None
    return total.fastest_ns / total.slowest_ns


def _outcomes(ops: Iterable[OpTally]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for op in ops:
        for outcome, count in {"ok": op.ok, **op.failed}.items():
            if count:
                counts[outcome] = counts.get(outcome, 0) + count
    return counts
