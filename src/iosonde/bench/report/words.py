"""The headline of a run's page, from stored rows alone."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.bench.bandwidth.words import format_bandwidth, together
from iosonde.bench.runs.host import host_waits
from iosonde.model.runs import RunRow
from iosonde.model.units import format_count, format_percent

_TAIL = 0.05
"""Least cost of the tail for the headline."""


def headline(rows: Sequence[RunRow]) -> str:
    """Rates of each direction, of the first repetition; of a metadata run the rate of its phases.

    A host that was too busy comes first: its rates are not the storage's.
    """
    busy = "host busy: " if host_waits(rows) else ""
    return busy + _rates(rows)


def _rates(rows: Sequence[RunRow]) -> str:
    whole = together(rows)
    first = [row for row in whole if row.repetition == min(one.repetition for one in whole)]
    if rows[0].instrument == "bandwidth":
        return "; ".join(_rate_words(row) for row in first if row.phase in ("write", "read"))
    parts = [
        f"{row.phase} {format_count(round(row.rate_per_s))} ops/s"
        for row in first
        if row.rate_per_s
    ]
    return "; ".join(parts) or "no rate"


def long_tail(rows: Sequence[RunRow]) -> bool:
    """True if the wait for the last rank is costly enough for the headline."""
    return any((row.tail_loss or 0.0) > _TAIL for row in together(rows))


def _rate_words(row: RunRow) -> str:
    last = format_bandwidth(row.last_bytes_per_s)
    if row.sustained_bytes_per_s is None:
        return f"{row.phase} {last}"
    loss = row.tail_loss
    text = f"{row.phase} {last} until the last rank, {format_bandwidth(row.sustained_bytes_per_s)} sustained"
    if loss is not None and loss > _TAIL:
        text += f": the tail costs {format_percent(loss)}"
    return text
