"""Sentences of a run's page: its headline and its cautions, from stored rows alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.bench.bandwidth.cautions import BUSY, SHORT_NS
from iosonde.bench.bandwidth.words import format_bandwidth, together
from iosonde.bench.recorder import failure_words
from iosonde.bench.runs.described import machine_of
from iosonde.connectors.benchmarks.ior.flags import FLAGS
from iosonde.model.runs import RunRow
from iosonde.model.units import format_duration, format_percent, format_size

_TAIL = 0.05
"""A smaller cost of the tail is not worth the headline."""


def headline(rows: Sequence[RunRow]) -> str:
    """Rates of each direction, of the first repetition; of a metadata run the rate of its phases."""
    whole = together(rows)
    first = [row for row in whole if row.repetition == min(one.repetition for one in whole)]
    if rows[0].instrument == "bandwidth":
        return "; ".join(_rate_words(row) for row in first if row.phase in ("write", "read"))
    parts = [f"{row.phase} {row.rate_per_s:,.0f} ops/s" for row in first if row.rate_per_s]
    return "; ".join(parts) or "no rate"


def long_tail(rows: Sequence[RunRow]) -> bool:
    """Whether the wait for the last rank costs so much of a phase that the headline says it."""
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


def run_cautions(rows: Sequence[RunRow]) -> list[str]:
    """What a reader must know before the numbers count."""
    return [*_of_run(rows), *(text for row in together(rows) for text in _of_phase(row))]


def _of_run(rows: Sequence[RunRow]) -> Iterator[str]:
    first, machine = rows[0], machine_of(rows)
    kind = machine.get("file_system")
    if kind in ("tmpfs", "ramfs"):
        yield f"{first.target} is {kind}: this measures memory."
    memory, ranks = machine.get("memory_bytes"), first.ranks or 1
    most = max((row.bytes or 0 for row in together(rows)), default=0)
    hosts = int(machine.get("machines") or 1)
    buffered = first.instrument == "bandwidth" and not first.parameters.get("direct")
    if memory and buffered and most / hosts < memory:
        yield (
            f"{format_size(most / hosts)} a host fit into its memory ({format_size(memory)}): "
            "the page cache may have answered."
        )
    if first.parameters.get("faults"):
        yield "Faults were injected on purpose: the numbers are not the storage's."
    if not all(row.complete for row in rows) and "limit_ns" not in first.parameters:
        yield "The run is not complete: it ended before all of its operations were done."
    if ranks == 1 and first.instrument == "bandwidth":
        yield "One rank moves the data: a client may be the limit, not the storage."
    flags = {f for row in rows for f in row.parameters.get("reported", {}).get("flags", ())}
    yield from (FLAGS[flag] for flag in sorted(flags) if flag in FLAGS)


def _of_phase(row: RunRow) -> Iterator[str]:
    name = f"{row.phase} {row.repetition}"
    if row.duration_ns and row.duration_ns < SHORT_NS:
        took = format_duration(row.duration_ns)
        yield f"{name} took {took}: start and end weigh too much."
    share = (row.machine or {}).get("cpu_share")
    if isinstance(share, int | float) and share > BUSY:
        yield f"{name}: the processors of the client were busy: they were the limit."
    for outcome, count in (row.outcomes or {}).items():
        if outcome != "ok" and count:
            yield f"{name}: {count} operations ended with {outcome}: {failure_words(outcome)}."
