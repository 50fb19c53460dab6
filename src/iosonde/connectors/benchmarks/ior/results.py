"""A repetition of an IOR test as rows of runs; IOR's wrong numbers are recomputed if the file allows it.

- ``Latency(s)`` is no latency of an operation: it is the mean of the fastest rank, and under a time limit (before
  IOR 4.1) over operations that nobody did. It goes to ``reported``; the mean is that of all ranks' own times.
- ``Max(OPs)`` of 2.10.3 leaves segments and the time limit out; operations are bytes over the transfer size.
- ``bw`` is checked against bytes over time.
- ``Stonewall(MiB)`` is the rate of the mean rank, not of all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.connectors.benchmarks.flags import DIFFERS, with_flags
from iosonde.connectors.benchmarks.ior.phase_data import MIB, OpTimes, RankTimes, Result, Wall
from iosonde.connectors.benchmarks.ior.setup import Setup
from iosonde.connectors.lines import MOST_S, FileDefaults
from iosonde.model.runs import RunRow

SOURCE = "ior"


@dataclass
class Amounts:
    """Bytes and operations of a phase, and whether all ranks did the same amount."""

    bytes: int | None
    ops: int | None
    alike: bool
    complete: bool


def amounts_of(result: Result, setup: Setup, reported: dict[str, Any]) -> Amounts:
    """Bytes and operations moved: as printed, else as requested, else bandwidth times time (``bytes_estimated``)."""
    limit, wear_out = setup.get("stonewall_s"), bool(setup.get("wear_out"))
    expected, transfer = setup.expected_bytes, setup.get("transfer_bytes")
    ranks, wall = setup.get("ranks"), result.wall
    moved = result.bytes
    if moved is None and not limit:
        moved = expected
    if moved is None and wear_out and wall.most_pairs is not None and ranks and transfer:
        moved = wall.most_pairs * ranks * transfer
    mib = reported.pop("moved_mib", None)
    if moved is None and mib is not None and (not transfer or mib * MIB >= 20 * transfer):
        # One decimal of a MiB: whole operations where those are not as small.
        moved = round(mib * MIB)
        moved = round(moved / transfer) * transfer if transfer and transfer > 0.1 * MIB else moved
    if moved is None and result.bw_mib and result.total_s:
        moved = round(result.bw_mib * MIB * result.total_s)
        reported["bytes_estimated"] = True
    if moved is not None and not 0 <= moved < 2**63:
        moved = None
    ops = round(moved / transfer) if moved is not None and transfer else None
    cut = bool(limit) and not wear_out and (moved is None or expected is None or moved < expected)
    alike = not limit or wear_out if result.alike is None else result.alike
    return Amounts(moved, ops, alike, result.ended and not cut)


def rows_of(
    result: Result,
    setup: Setup,
    given: FileDefaults,
    run_id: str,
    ranks: tuple[RankTimes | None, OpTimes | None],
) -> Iterator[RunRow]:
    """Rows of a repetition: the whole, its operations, and both for each rank with known times."""
    times, ops = ranks
    reported = dict(result.reported)
    amounts = amounts_of(result, setup, reported)
    seconds = _seconds(result, amounts.bytes)
    _check(result, setup, amounts, seconds, reported)
    busy_s = _sum(times) if ops is None else float(ops.runtime_ns.sum()) / 1e9
    common: dict[str, Any] = {
        "run_id": run_id,
        "source": SOURCE,
        "instrument": "bandwidth",
        "host": setup.node if given.host == "import" and setup.node else given.host,
        "target": given.target or setup.file or given.run,
        "backend": setup.backend,
        "pattern": pattern_of(setup),
        "phase": result.access,
        "repetition": result.repetition,
        "ranks": setup.get("ranks"),
        "complete": amounts.complete,
    }
    moved: dict[str, Any] = {"ops": amounts.ops, "bytes": amounts.bytes, "op_time_ns": _ns(busy_s)}
    parameters = setup.parameters()
    yield RunRow(
        **common,
        **moved,
        began_ns=result.began_ns,
        duration_ns=_ns(seconds),
        rate_per_s=_rate(amounts.ops, seconds),
        stonewall_per_s=_stonewall_per_s(result.wall, setup),
        balance=_balance(times),
        last_bytes_per_s=_rate(amounts.bytes, seconds),
        parameters={**parameters, "reported": reported} if reported else parameters,
        machine=setup.machine or None,
    )
    op = f"data_{result.access}" if result.access in ("write", "read") else None
    if op is not None:
        mean = busy_s * 1e9 / amounts.ops if busy_s is not None and amounts.ops else None
        yield RunRow(
            **common,
            **moved,
            op=op,
            began_ns=result.began_ns,
            duration_ns=_ns(result.transfer_s),
            rate_per_s=_rate(amounts.ops, result.transfer_s),
            parameters=parameters,
            **({"mean_ns": mean} if ops is None else ops.statistics()),
        )
    if times is not None:
        # Which node a rank ran on is in no output but rank 0's.
        alone = {**common, "host": given.host, "parameters": parameters}
        yield from _rank_rows(times, alone, amounts, op, ops)


def pattern_of(setup: Setup) -> str:
    """``own``: one file per rank; IOR's default is one file, ``segmented`` or ``strided`` (transfers in turn)."""
    if setup.get("file_per_process"):
        return "own"
    turns = (setup.get("segments") or 1) > 1
    same = setup.get("block_bytes") == setup.get("transfer_bytes")
    return "strided" if turns and same else "segmented"


def _rank_rows(
    times: RankTimes,
    common: dict[str, Any],
    amounts: Amounts,
    op: str | None,
    timed: OpTimes | None,
) -> Iterator[RunRow]:
    n = common["ranks"] or len(times.rank)
    share = amounts.alike and n and len(times.rank) <= n
    moved = amounts.bytes // n if share and amounts.bytes is not None else None
    ops = round(amounts.ops / n) if share and amounts.ops is not None else None
    for place, rank in enumerate(times.rank.tolist()):
        whole, own = (_finite(column[place]) for column in (times.whole_s, times.transfer_s))
        began = [
            None if column is None or column[place] < 0 else int(column[place])
            for column in (times.whole_began_ns, times.transfer_began_ns)
        ]
        mine = None if timed is None else timed.of(int(rank))
        if mine is not None:
            ops, moved = len(mine.rank), int(mine.bytes.sum())
        amount: dict[str, Any] = {"rank": int(rank), "ops": ops, "bytes": moved}
        yield RunRow(
            **common,
            **amount,
            began_ns=began[0],
            duration_ns=_ns(whole),
            rate_per_s=_rate(ops, whole),
        )
        if op is None:
            continue
        mean = own * 1e9 / ops if own is not None and ops else None
        yield RunRow(
            **common,
            **amount,
            op=op,
            began_ns=began[1],
            duration_ns=_ns(own),
            rate_per_s=_rate(ops, own),
            op_time_ns=_ns(own) if mine is None else int(mine.runtime_ns.sum()),
            **({"mean_ns": mean} if mine is None else mine.statistics()),
        )


def _check(
    result: Result,
    setup: Setup,
    amounts: Amounts,
    seconds: float | None,
    reported: dict[str, Any],
) -> None:
    """Store IOR's printed values in ``reported``; mark contradictions in ``flags``."""
    flags: list[str] = []
    said = {
        "bw_mib_per_s": result.bw_mib,
        "iops": result.iops,
        "fastest_rank_mean_op_s": result.latency_s,
        "open_s": result.open_s,
        "close_s": result.close_s,
        "stonewall_s": result.wall.seconds,
        "stonewall_least_ops": result.wall.least_pairs,
        "stonewall_most_ops": result.wall.most_pairs,
    }
    reported |= {name: value for name, value in said.items() if value is not None}
    per_s = _rate(amounts.bytes, seconds)
    if per_s and result.bw_mib and abs(per_s / MIB / result.bw_mib - 1) > DIFFERS:
        flags.append("bandwidth-recomputed")
    if _over_all_asked_for(result, setup, amounts):
        flags.append("latency-wrong")
    reported |= with_flags(reported, flags)


def _over_all_asked_for(result: Result, setup: Setup, amounts: Amounts) -> bool:
    """True if ``Latency(s)`` was divided by requested operations that a time limit prevented.

    Every rank is busy until the limit: its operations, at that latency each, would not have lasted as long.
    """
    limit, ranks = setup.get("stonewall_s"), setup.get("ranks")
    if not (limit and setup.get("wear_out") and ranks and amounts.ops and result.latency_s):
        return False
    asked = setup.expected_bytes
    if asked is not None and amounts.bytes is not None and amounts.bytes >= 0.98 * asked:
        return False  # all of it was done, maybe before the limit
    return bool(result.latency_s * amounts.ops / ranks < 0.98 * limit)


def _seconds(result: Result, moved: int | None) -> float | None:
    """Duration of the phase; bytes over bandwidth if that agrees and has more digits."""
    printed = result.total_s
    if printed is None:
        return moved / (result.bw_mib * MIB) if moved and result.bw_mib else None
    if moved and result.bw_mib and not result.exact:
        exact = moved / (result.bw_mib * MIB)
        if printed > 0 and abs(exact / printed - 1) < 0.005 and result.bw_mib >= 1000:
            return exact
    return printed


def _stonewall_per_s(wall: Wall, setup: Setup) -> float | None:
    ranks = setup.get("ranks")
    mean = wall.mean_pairs(ranks, setup.get("transfer_bytes"))
    return mean * ranks / wall.seconds if mean is not None and wall.seconds else None


def _balance(times: RankTimes | None) -> float | None:
    """Transfer time of the fastest rank over that of the slowest."""
    if times is None:
        return None
    own = times.transfer_s[np.isfinite(times.transfer_s)]
    return float(own.min() / own.max()) if len(own) and own.max() > 0 else None


def _sum(times: RankTimes | None) -> float | None:
    """Total operation time of all ranks; None if a rank's time is missing."""
    if times is None or not len(times.rank) or not np.isfinite(times.transfer_s).all():
        return None
    return float(times.transfer_s.sum())


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _ns(seconds: float | None) -> int | None:
    return None if seconds is None or not 0 <= seconds <= MOST_S else round(seconds * 1e9)


def _rate(n: int | None, seconds: float | None) -> float | None:
    return n / seconds if n is not None and seconds else None
