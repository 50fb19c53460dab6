"""Cost of the tail of an imported phase: rates while all ranks were busy, at the first end, and at the last."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from iosonde.bench.locate.rates import rates_of
from iosonde.connectors.benchmarks.ior.assemble import pieces_of, transfers_of
from iosonde.connectors.benchmarks.ior.found import IorRun
from iosonde.model.runs import RunRow
from iosonde.model.units import format_duration, format_percent, format_size

_LEAST_LOSS = 0.0005


class PhaseTail(NamedTuple):
    """Rates of a phase, in bytes or operations per second. None: unknown."""

    run_id: str
    phase: str
    repetition: int
    sustained: float | None
    """While all ranks were busy; or until the time limit, if the file has only that."""
    first: float | None
    """Until the first rank ended."""
    last: float
    """Until the last rank ended."""
    first_s: float | None
    last_s: float | None
    source: str
    """``operations``, ``timers``, ``ranks`` or ``stonewall``."""
    ranks: int | None = None
    bytes: bool = True
    assumed: bool = False
    """True if an equal share per rank is an assumption, not in the file."""

    @property
    def loss(self) -> float | None:
        """1 - last / sustained."""
        return None if not self.sustained else 1 - self.last / self.sustained


def tails_of(run: IorRun) -> Iterator[PhaseTail]:
    """Tails of the phases of an IOR test: from ranks' own times if present, else from the time limit."""
    wholes = {
        (row.phase, row.repetition): row for row in run.rows if row.rank is None and row.op is None
    }
    for result in run.results:
        pieces = pieces_of(run, result)
        found = [] if pieces is None else rates_of(transfers_of(pieces))
        whole = wholes.get((result.access, result.repetition))
        if whole is None:
            continue
        if not found or pieces is None:
            yield from walled([whole], result.wall.seconds)
            continue
        rates = found[0]
        yield PhaseTail(
            run_id=run.run_id,
            phase=result.access,
            repetition=result.repetition,
            sustained=_known(rates.sustained),
            first=_known(rates.first_finisher),
            last=whole.last_bytes_per_s or rates.last_finisher,
            first_s=rates.first_end_s,
            last_s=rates.last_end_s if whole.duration_ns is None else whole.duration_ns / 1e9,
            source=pieces.source,
            ranks=len(set(pieces.rank.tolist())),
            assumed=pieces.assumed,
        )


def walled(rows: Sequence[RunRow], seconds: float | None = None) -> Iterator[PhaseTail]:
    """Tails of phases that report their progress at the time limit."""
    for row in rows:
        if row.op is not None or row.rank is not None or not row.stonewall_per_s:
            continue
        if not row.rate_per_s:
            continue
        scale = 1.0
        if row.instrument == "bandwidth":
            scale = float(row.parameters.get("transfer_bytes") or math.nan)
        if math.isnan(scale):
            continue
        limit = row.parameters.get("stonewall_s") if seconds is None else seconds
        took = None if row.duration_ns is None else row.duration_ns / 1e9
        wall, last = row.stonewall_per_s * scale, row.last_bytes_per_s or row.rate_per_s * scale
        if limit is not None and took is not None and limit > took:
            limit = None  # all ended before
        yield PhaseTail(
            run_id=row.run_id,
            phase=row.phase,
            repetition=row.repetition,
            sustained=wall,
            first=wall,
            last=last,
            first_s=limit,
            last_s=took,
            source="stonewall",
            ranks=row.ranks,
            bytes=row.instrument == "bandwidth",
        )


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def with_tails(rows: Sequence[RunRow], tails: Sequence[PhaseTail]) -> list[RunRow]:
    """Rows with the rates of their phases."""
    of = {(tail.run_id, tail.phase, tail.repetition): tail for tail in tails if tail.bytes}
    return [
        row
        if row.rank is not None
        or row.op is not None
        or (tail := of.get((row.run_id, row.phase, row.repetition))) is None
        else _with(row, tail)
        for row in rows
    ]


def _with(row: RunRow, tail: PhaseTail) -> RunRow:
    reported = {**row.parameters.get("reported", {}), "rates_from": tail.source}
    if tail.assumed:
        reported["flags"] = sorted({*reported.get("flags", ()), "equal-bytes-assumed"})
    return replace(
        row,
        sustained_bytes_per_s=tail.sustained,
        first_bytes_per_s=tail.first,
        last_bytes_per_s=tail.last,
        parameters={**row.parameters, "reported": reported},
    )


def say_tail(tail: PhaseTail) -> str:
    """``NAME write 0: 116 GiB/s until the time limit, 113 GiB/s until the last rank ended: the tail cost 2.3%``."""
    begin = f"{tail.run_id} {tail.phase} {tail.repetition}"
    last = f"{_rate(tail, tail.last)} until the last rank ended{_after(tail.last_s)}"
    if tail.sustained is None:
        first = f"{_rate(tail, tail.first)} until the first rank ended{_after(tail.first_s)}"
        return f"{begin}: {first}, {last}; at no time were all {tail.ranks} ranks busy"
    if tail.source == "stonewall":
        head = f"{_rate(tail, tail.sustained)} until the time limit{_after(tail.first_s)}"
    elif tail.ranks == 1:
        return f"{begin}: {_rate(tail, tail.last)}, one rank{_after(tail.last_s)}"
    else:
        head = (
            f"{_rate(tail, tail.sustained)} while all {tail.ranks} ranks were busy, "
            f"{_rate(tail, tail.first)} until the first ended{_after(tail.first_s)}"
        )
    loss = tail.loss or 0.0
    cost = f"the tail cost {format_percent(loss)}" if loss >= _LEAST_LOSS else "no tail"
    assumed = " (if each rank moved as much)" if tail.assumed else ""
    return f"{begin}: {head}, {last}: {cost}{assumed}"


def _rate(tail: PhaseTail, value: float | None) -> str:
    if value is None:
        return "n/a"
    return f"{format_size(value)}/s" if tail.bytes else f"{value:,.0f} ops/s"


def _after(seconds: float | None) -> str:
    return "" if seconds is None else f" ({format_duration(seconds * 1e9)})"
