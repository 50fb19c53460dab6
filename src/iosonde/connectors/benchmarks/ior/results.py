"""A repetition of an IOR test as rows of runs, with what IOR says wrongly recomputed where the file allows it.

- ``Latency(s)`` is no latency of an operation: it is the mean of the fastest rank, and under a time limit (before
  IOR 4.1) over operations that nobody did. It goes to ``reported``; the mean is that of all ranks' own times.
- ``Max(OPs)`` of 2.10.3 leaves segments and the time limit out; operations are bytes over the transfer size.
- ``bw`` is checked against bytes over time.
- ``Stonewall(MiB)`` is the rate of the mean rank, not of all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iosonde.connectors.benchmarks.ior.setup import Setup
from iosonde.connectors.lines import MOST_S, FileDefaults
from iosonde.model.runs import RunRow

SOURCE = "ior"
MIB = 1 << 20
_DIFFERS = 0.02
"""Bandwidth as printed and bytes over time may differ by so much: times have few digits."""
_COARSE = 0.05
"""A rate at the time limit whose rounding is more than this share of it is not stored."""


@dataclass
class Wall:
    """What is known of the moment when the time limit was reached."""

    least_pairs: int | None = None
    most_pairs: int | None = None
    seconds: float | None = None
    mean_gib: float | None = None
    """Of a rank, with one decimal."""
    mean_mib_per_s: float | None = None
    """Of a rank: the table's Stonewall(MiB)."""
    pairs: dict[int, int] = field(default_factory=dict)
    """Of single ranks."""

    def mean_pairs(self, ranks: int | None, transfer: int | None) -> float | None:
        """Operations of the mean rank when the limit was reached, where they are known to 5 %."""
        if ranks and len(self.pairs) == ranks:
            return sum(self.pairs.values()) / ranks
        if transfer and self.mean_mib_per_s and self.seconds:
            return self.mean_mib_per_s * MIB * self.seconds / transfer
        if self.least_pairs is None or self.most_pairs is None or not ranks:
            return None
        spread = self.most_pairs - self.least_pairs
        low = self.least_pairs + spread / ranks
        high = self.most_pairs - spread / ranks
        if ranks == 1:
            low = high = self.most_pairs
        if self.mean_gib is not None and transfer:
            low = max(low, (self.mean_gib - 0.05) * 2**30 / transfer)
            high = min(high, (self.mean_gib + 0.05) * 2**30 / transfer)
        middle = (low + high) / 2
        return middle if low <= high and high - low <= 2 * _COARSE * middle else None


@dataclass
class Result:
    """A line of IOR's table of results, or what stands for one. None: not said, or below what is printed."""

    access: str
    repetition: int = 0
    bw_mib: float | None = None
    iops: float | None = None
    latency_s: float | None = None
    open_s: float | None = None
    transfer_s: float | None = None
    close_s: float | None = None
    total_s: float | None = None
    bytes: int | None = None
    """That were moved, where a line says so."""
    began_ns: int | None = None
    wall: Wall = field(default_factory=Wall)
    reported: dict[str, Any] = field(default_factory=dict)
    ended: bool = True
    """Whether its line is there; False for what only timers of ranks show."""


@dataclass
class RankTimes:
    """Of the ranks of one repetition. Shapes (ranks,); ``NaN`` seconds are missing."""

    rank: Any
    whole_s: Any
    """Open to close."""
    transfer_s: Any
    whole_began_ns: Any = None
    """ns since the epoch, where ranks say when they began."""
    transfer_began_ns: Any = None


@dataclass
class Amounts:
    """Bytes and operations of a phase, and whether each rank did as much."""

    bytes: int | None
    ops: int | None
    alike: bool
    complete: bool


def amounts_of(result: Result, setup: Setup, reported: dict[str, Any]) -> Amounts:
    """How much was moved: as said, else as asked for, else as bandwidth and time say (``bytes_estimated``)."""
    limit, wear_out = setup.get("stonewall_s"), bool(setup.get("wear_out"))
    expected, transfer = setup.expected_bytes, setup.get("transfer_bytes")
    ranks, wall = setup.get("ranks"), result.wall
    moved = result.bytes
    if moved is None and not limit:
        moved = expected
    if moved is None and wear_out and wall.most_pairs is not None and ranks and transfer:
        moved = wall.most_pairs * ranks * transfer
    if moved is None and result.bw_mib and result.total_s:
        moved = round(result.bw_mib * MIB * result.total_s)
        reported["bytes_estimated"] = True
    if moved is not None and not 0 <= moved < 2**63:
        moved = None
    ops = round(moved / transfer) if moved is not None and transfer else None
    cut = bool(limit) and not wear_out and (moved is None or expected is None or moved < expected)
    return Amounts(moved, ops, not limit or wear_out, result.ended and not cut)


def rows_of(
    result: Result, setup: Setup, given: FileDefaults, run_id: str, times: RankTimes | None
) -> Iterator[RunRow]:
    """Rows of a repetition: the whole, its operations, and both of every rank whose times are known."""
    reported = dict(result.reported)
    amounts = amounts_of(result, setup, reported)
    seconds = _seconds(result, amounts.bytes)
    _check(result, setup, amounts, seconds, reported)
    transfer_s = result.transfer_s
    fair = None
    if times is not None and len(times.rank):
        own = times.transfer_s[np.isfinite(times.transfer_s)]
        if len(own):
            fair = float(own.min() / own.max()) if own.max() > 0 else None
    busy_s = _sum(times)
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
    op = f"data_{result.access}" if result.access in ("write", "read") else None
    walled = _stonewall_per_s(result.wall, setup)
    parameters = setup.parameters()
    whole = {**parameters, "reported": reported} if reported else parameters
    yield RunRow(
        **common,
        began_ns=result.began_ns,
        duration_ns=_ns(seconds),
        ops=amounts.ops,
        bytes=amounts.bytes,
        rate_per_s=_rate(amounts.ops, seconds),
        stonewall_per_s=walled,
        balance=fair,
        op_time_ns=_ns(busy_s),
        parameters=whole,
        machine=setup.machine or None,
    )
    if op is None:
        return
    yield RunRow(
        **common,
        op=op,
        began_ns=result.began_ns,
        duration_ns=_ns(transfer_s),
        ops=amounts.ops,
        bytes=amounts.bytes,
        rate_per_s=_rate(amounts.ops, transfer_s),
        op_time_ns=_ns(busy_s),
        mean_ns=busy_s * 1e9 / amounts.ops if busy_s is not None and amounts.ops else None,
        parameters=parameters,
    )
    if times is not None:
        # A name that the table allows for is rank 0's node; where the others ran is in no output.
        yield from _rank_rows(times, {**common, "host": given.host}, amounts, op, parameters)


def pattern_of(setup: Setup) -> str:
    """``fpp`` or ``shared``; IOR's default is one shared file."""
    return "fpp" if setup.get("file_per_process") else "shared"


def _rank_rows(
    times: RankTimes, common: dict[str, Any], amounts: Amounts, op: str, parameters: dict[str, Any]
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
        yield RunRow(
            **common,
            rank=int(rank),
            began_ns=began[0],
            duration_ns=_ns(whole),
            ops=ops,
            bytes=moved,
            rate_per_s=_rate(ops, whole),
            parameters=parameters,
        )
        yield RunRow(
            **common,
            op=op,
            rank=int(rank),
            began_ns=began[1],
            duration_ns=_ns(own),
            ops=ops,
            bytes=moved,
            rate_per_s=_rate(ops, own),
            op_time_ns=_ns(own),
            mean_ns=own * 1e9 / ops if own is not None and ops else None,
            parameters=parameters,
        )


def _check(
    result: Result,
    setup: Setup,
    amounts: Amounts,
    seconds: float | None,
    reported: dict[str, Any],
) -> None:
    """What IOR printed goes to ``reported``; what contradicts itself is marked in ``flags``."""
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
    if amounts.bytes is not None and seconds:
        reported["bytes_per_s"] = amounts.bytes / seconds
        if result.bw_mib and abs(amounts.bytes / seconds / MIB / result.bw_mib - 1) > _DIFFERS:
            flags.append("bandwidth-recomputed")
    if _over_all_asked_for(result, setup, amounts):
        flags.append("latency-wrong")
    if flags:
        reported["flags"] = sorted({*reported.get("flags", ()), *flags})


def _over_all_asked_for(result: Result, setup: Setup, amounts: Amounts) -> bool:
    """Whether ``Latency(s)`` was divided by operations that a time limit kept from being done."""
    asked, transfer, ranks = setup.expected_bytes, setup.get("transfer_bytes"), setup.get("ranks")
    if not (setup.get("stonewall_s") and asked and transfer and ranks and amounts.bytes):
        return False
    if amounts.bytes >= 0.98 * asked or not result.latency_s or not result.transfer_s:
        return False
    return bool(result.latency_s * asked / transfer / ranks <= 1.001 * result.transfer_s)


def _seconds(result: Result, moved: int | None) -> float | None:
    """The time of the phase; from bytes and bandwidth where that agrees and has more digits."""
    printed = result.total_s
    if printed is None:
        return moved / (result.bw_mib * MIB) if moved and result.bw_mib else None
    if moved and result.bw_mib and "total_exact" not in result.reported:
        exact = moved / (result.bw_mib * MIB)
        if printed > 0 and abs(exact / printed - 1) < 0.005 and result.bw_mib >= 1000:
            return exact
    return printed


def _stonewall_per_s(wall: Wall, setup: Setup) -> float | None:
    ranks = setup.get("ranks")
    mean = wall.mean_pairs(ranks, setup.get("transfer_bytes"))
    return mean * ranks / wall.seconds if mean is not None and wall.seconds else None


def _sum(times: RankTimes | None) -> float | None:
    """Time in operations of all ranks; None where one's is missing."""
    if times is None or not len(times.rank) or not np.isfinite(times.transfer_s).all():
        return None
    return float(times.transfer_s.sum())


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _ns(seconds: float | None) -> int | None:
    return None if seconds is None or not 0 <= seconds <= MOST_S else round(seconds * 1e9)


def _rate(n: int | None, seconds: float | None) -> float | None:
    return n / seconds if n is not None and seconds else None
