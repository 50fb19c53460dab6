"""Sentences and cells about a bandwidth run. Works from rows, so stored and fresh runs read alike."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.bench.runs.compare import slow_ranks
from iosonde.bench.runs.described import cut_short
from iosonde.model.runs import RunRow, run_order
from iosonde.model.units import format_duration, format_percent, format_size

HEAD = (
    *("phase", "rep", "sustained", "first", "last", "tail", "data", "took"),
    *("slowest rank", "median", "p99", "ended"),
)
SLOW = 1.25
"""Ratio to the median rank's time above which a rank gets a sentence."""
EXPLAINED = (
    "sustained: while every rank was busy; first, last: from the first open until the first or the last rank had "
    "closed its file; tail: share of the sustained rate that the wait for the last rank costs; median, p99: time of "
    "one transfer"
)


def format_bandwidth(bytes_per_s: float | None) -> str:
    """``850 MiB/s``, ``12.3 GiB/s``; ``n/a``."""
    return "n/a" if bytes_per_s is None else f"{format_size(bytes_per_s)}/s"


def together(rows: Sequence[RunRow]) -> list[RunRow]:
    """Rows of whole phases, in order."""
    whole = [row for row in rows if row.rank is None and row.op is None]
    return sorted(whole, key=lambda row: (row.repetition, run_order(row)))


def phase_cells(rows: Sequence[RunRow]) -> list[tuple[str, ...]]:
    """A line per phase, under ``HEAD``."""
    slowest = {
        (one.phase, one.repetition): one.slowest[0] for one in slow_ranks(rows, 1) if one.slowest
    }
    return [_cells(row, slowest.get((row.phase, row.repetition))) for row in together(rows)]


def _cells(row: RunRow, slowest: tuple[int, str, int, float] | None) -> tuple[str, ...]:
    named = "" if slowest is None else f"{slowest[0]} ({slowest[3]:.2f}x)"
    loss = row.tail_loss
    return (
        *(row.phase, str(row.repetition)),
        format_bandwidth(row.sustained_bytes_per_s),
        format_bandwidth(row.first_bytes_per_s),
        format_bandwidth(row.last_bytes_per_s),
        "n/a" if loss is None else format_percent(max(0.0, loss)),
        "n/a" if row.bytes is None else format_size(row.bytes),
        format_duration(row.duration_ns),
        named,
        *(format_duration(_digits(ns)) for ns in (row.q50_ns, row.q99_ns)),
        _ended(row),
    )


def _digits(ns: float | None) -> float | None:
    return None if ns is None else float(f"{ns:.3g}")


def _ended(row: RunRow) -> str:
    bad = {name: n for name, n in (row.outcomes or {}).items() if name != "ok" and n}
    text = ", ".join(f"{n} {name}" for name, n in bad.items()) or "ok"
    if row.complete:
        return text
    return f"{text}, cut" if cut_short(row) else f"{text}, at its limit"


def say_slow_ranks(rows: Sequence[RunRow]) -> list[str]:
    """Slowest ranks of a phase: ``write 0: rank 3 on node7 took 12.1 s, 1.9x the median rank``."""
    lines = []
    for one in slow_ranks(rows, 3):
        for rank, host, ns, factor in one.slowest:
            if one.ranks > 1 and factor >= SLOW:
                lines.append(
                    f"{one.phase} {one.repetition}: rank {rank} on {host} took {format_duration(ns)}, "
                    f"{factor:.2f}x the median rank"
                )
    return lines


def say_tail(rows: Sequence[RunRow]) -> list[str]:
    """Cost of waiting for the last rank, if above a twentieth."""
    return [
        f"{row.phase} {row.repetition}: the last rank cost {format_percent(row.tail_loss)} of the sustained "
        f"{format_bandwidth(row.sustained_bytes_per_s)}"
        for row in together(rows)
        if row.tail_loss is not None and row.tail_loss > 0.05 and (row.ranks or 1) > 1
    ]
