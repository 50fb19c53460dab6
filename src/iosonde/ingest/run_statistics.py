"""Runs with statistics computed from the latencies of their operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from iosonde.model.runs import RUN_QUANTILES, RunRow
from iosonde.weather.samples.run_statistics import Measured

_LEAST = {"q90": 10, "q99": 100}
"""Least operations for which runs.toml has such a quantile."""


class Group(NamedTuple):
    """Columns that all rows of a run share."""

    run_id: str
    target: str
    host: str
    waiting: float = 0.0
    digests: tuple[str, ...] = ()
    """Digests of its files."""
    mdtest: bool = False
    only_rank: int | None = None
    """Rank of the files, if they name it without the number of ranks."""


def rows_of(
    found: Sequence[Measured],
    group: Group,
    begins: Mapping[tuple[int, int], int],
    phases: Sequence[str],
    ops: Sequence[str],
) -> list[RunRow]:
    """Rows for every phase and iteration, op, and rank, and for all together.

    ``begins``: when a phase and iteration began (ns). ``phases`` and ``ops`` are the words of codes. A phase
    lasts until its last operation ends; how long ranks waited for each other before is not in the files.
    """
    ranks = {
        (one.phase, one.iteration, one.rank): one
        for one in found
        if one.op is None and one.rank is not None
    }
    rows = []
    for one in found:
        own = [of for (phase, turn, _), of in ranks.items() if (phase, turn) == one[:2]]
        whole = one if one.op is None else _whole(found, one)
        rows.append(
            RunRow(
                run_id=group.run_id,
                source="mdtest" if group.mdtest else "md-workbench",
                host=group.host,
                target=group.target,
                backend="unknown",
                pattern="bulk" if group.mdtest else "cycle",
                phase=phases[one.phase],
                repetition=one.iteration,
                waiting_factor=group.waiting,
                op=None if one.op is None else ops[one.op],
                rank=one.rank,
                ranks=len(own),
                began_ns=begins[one.phase, one.iteration],
                parameters=_parameters(group),
                **_numbers(one, whole.end_ns, own),
            )
        )
    return rows


def _parameters(group: Group) -> dict[str, Any]:
    parameters: dict[str, Any] = {"digests": list(group.digests)}
    if group.only_rank is not None:
        parameters["reported"] = {"only_rank": group.only_rank}
    return parameters


def _whole(found: Sequence[Measured], part: Measured) -> Measured:
    """All operations of an op's phase by the same rank."""
    return next(
        one
        for one in found
        if one.op is None
        and (one.phase, one.iteration, one.rank) == (part.phase, part.iteration, part.rank)
    )


def _numbers(one: Measured, end_ns: int, ranks: Sequence[Measured]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "duration_ns": end_ns,
        "ops": one.n,
        "rate_per_s": one.n * 1e9 / end_ns if end_ns else None,
        "op_time_ns": one.sum_ns,
        "min_ns": one.min_ns,
        "mean_ns": one.mean_ns,
        "max_ns": one.max_ns,
    }
    if one.op is not None:
        for name, value in zip(RUN_QUANTILES, one.quantiles_ns, strict=True):
            if one.n >= _LEAST.get(name, 1):
                values[f"{name}_ns"] = value
    elif one.rank is None:
        slowest = max(rank.end_ns for rank in ranks)
        values["balance"] = min(rank.end_ns for rank in ranks) / slowest if slowest else None
        busy = [rank for rank in ranks if rank.sum_ns]
        if len(busy) == len(ranks):
            values["corrected_per_s"] = sum(rank.n * 1e9 / rank.sum_ns for rank in ranks)
    return values
