"""Cautions for the reader of a run's numbers, from stored rows alone. At most 25 words each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from iosonde.bench.bandwidth.cautions import BUSY, SHORT_NS
from iosonde.bench.bandwidth.words import together
from iosonde.bench.recorder import failure_words
from iosonde.bench.runs.described import cut_short, machine_of
from iosonde.bench.runs.host import say_host_waits
from iosonde.connectors.benchmarks.flags import FLAGS
from iosonde.model.runs import RunRow
from iosonde.model.units import format_count, format_duration, format_option, format_size

_FILES = ("posix", "mpiio")
"""Backends with files that the host's own cache may serve."""
_UNTIMED = ("precreate", "cleanup")
"""Phases whose duration is not a parameter."""


def run_cautions(rows: Sequence[RunRow]) -> list[str]:
    """Cautions, those about the whole run first."""
    whole = together(rows)
    return [
        *say_host_waits(rows),
        *_of_run(rows),
        *_cache(rows),
        *_short(whole),
        *_limit(whole),
        *(text for row in whole for text in _of_phase(row)),
    ]


def _of_run(rows: Sequence[RunRow]) -> Iterator[str]:
    first = rows[0]
    kind = machine_of(rows).get("file_system")
    if kind in ("tmpfs", "ramfs"):
        yield f"{first.target} is {kind}: this measures memory."
    if first.parameters.get("faults"):
        yield "Faults were injected on purpose: the numbers are not the storage's."
    if any(map(cut_short, rows)):
        yield "The run is not complete: it ended before all of its operations were done."
    if first.ranks == 1 and first.instrument == "bandwidth":
        yield "One rank moves the data: a client may be the limit, not the storage."
    flags = {f for row in rows for f in row.parameters.get("reported", {}).get("flags", ())}
    yield from (FLAGS[flag] for flag in sorted(flags) if flag in FLAGS)


def _cache(rows: Sequence[RunRow]) -> Iterator[str]:
    """Caution if the data fit into the memory of the hosts that use them."""
    first, machine = rows[0], machine_of(rows)
    memory, asked = machine.get("memory_bytes"), first.parameters
    if not memory or asked.get("direct") or machine.get("file_system") in ("tmpfs", "ramfs"):
        return
    hosts = int(machine.get("machines") or 1)
    if first.instrument == "bandwidth":
        most = max((row.bytes or 0 for row in together(rows)), default=0) / hosts
        if most < memory:
            yield (
                f"{format_size(most)} a host fit into its memory ({format_size(memory)}): "
                "the page cache may have answered."
            )
    elif first.backend in _FILES and (size := _set_bytes(first, asked)) is not None:
        own = int(asked.get("offset") or 0) < (first.ranks or 1) / hosts
        if size / hosts < memory and own:
            yield (
                f"The files fit in this host's memory ({format_size(size / hosts)} of {format_size(memory)}): "
                f"reads and stats measured the cache; try {_beyond(first, asked, memory * hosts)}."
            )


def _set_bytes(row: RunRow, asked: dict[str, Any]) -> float | None:
    """Bytes of simultaneously existing objects; None if the parameters do not tell."""
    counts = [asked.get(name) for name in ("data_sets", "objects", "size_bytes")]
    if not all(isinstance(count, int) for count in counts) or row.source != "iosonde":
        return None
    sets, objects, size = (int(count or 0) for count in counts)
    return float(sets * objects * size * (row.ranks or 1))


def _beyond(row: RunRow, asked: dict[str, Any], memory: float) -> str:
    """Parameters that exceed the cache."""
    each = int(asked["size_bytes"]) * int(asked["data_sets"]) * (row.ranks or 1)
    if not each:
        return "objects with contents (-S)"
    objects = float(f"{2 * memory / each:.2g}")
    size = int(asked["size_bytes"])
    direct = "--direct" if size % 4096 == 0 else "--direct -S 4096"
    return f"{direct}, or -P {objects:.0f}"


def _short(whole: Sequence[RunRow]) -> Iterator[str]:
    """Cautions on phases shorter than a second, once per kind."""
    phases: dict[str, list[RunRow]] = {}
    for row in whole:
        if row.duration_ns and row.duration_ns < SHORT_NS and row.phase not in _UNTIMED:
            phases.setdefault(row.phase, []).append(row)
    for phase, short in phases.items():
        all_of = sum(row.phase == phase for row in whole)
        took = sorted(row.duration_ns or 0 for row in short)
        named = (
            f"{phase} {short[0].repetition}"
            if len(short) == 1
            else f"{len(short)} of {all_of} {phase} phases"
        )
        span = format_duration(took[0])
        if format_duration(took[-1]) != span:
            span += f" to {format_duration(took[-1])}"
        yield f"{named} took {span}, under a second: start and end weigh too much; try {_longer(short[0])}."


def _longer(row: RunRow) -> str:
    if row.instrument == "bandwidth":
        return "a larger -b, or -w 30s"
    return "a larger -P" if row.pattern == "bulk" else "-w 30s without -I"


def _limit(whole: Sequence[RunRow]) -> Iterator[str]:
    """Cautions on a time limit that was not reached, or a wear-out that did not end."""
    for row in whole:
        limit, wear_out = (row.parameters.get(name) for name in ("limit_ns", "wear_out_ns"))
        if not isinstance(limit, int) or not row.duration_ns or row.stonewall_per_s is None:
            continue
        name = f"{row.phase} {row.repetition}"
        if row.duration_ns < limit and row.complete:
            yield (
                f"{name} ended after {format_duration(row.duration_ns)}, before the limit of {format_option(limit)}: "
                f"{_done(row)}."
            )
        elif isinstance(wear_out, int) and row.duration_ns >= wear_out:
            yield f"{name}: the wear-out ended at its own limit, {format_option(wear_out)}, before all ranks caught up."


def _done(row: RunRow) -> str:
    if row.instrument == "bandwidth":
        return "all data was moved; try a larger -s"
    if row.pattern == "bulk":
        return "all objects were made; try a larger -P"
    iterations = row.parameters.get("iterations")
    if iterations is None:
        return "its pools could not be used further"
    return f"all {format_count(iterations)} iterations were done; try it without -I"


def _of_phase(row: RunRow) -> Iterator[str]:
    name = f"{row.phase} {row.repetition}"
    share = (row.machine or {}).get("cpu_share")
    if isinstance(share, int | float) and share > BUSY:
        yield f"{name}: the processors of the client were busy: they were the limit."
    for outcome, count in (row.outcomes or {}).items():
        if outcome != "ok" and count:
            yield f"{name}: {count} operations ended with {outcome}: {failure_words(outcome)}."
