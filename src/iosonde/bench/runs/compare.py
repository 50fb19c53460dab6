"""Benchmark runs side by side: key numbers of configurations or file systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from iosonde.bench.runs.described import cut_short
from iosonde.bench.runs.host import host_waits
from iosonde.model.runs import RunRow, run_order

COMPARED_OPS = ("md_read", "md_stat", "md_create", "md_delete")
"""Ops whose third quartile is compared, in the order of the paper's tables."""
_MAIN = ("benchmark", "precreate", "cleanup")
_BULK = ("create", "stat", "read", "delete")


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run, at one waiting factor. None = missing.

    Of several repetitions rate, balance and quartiles are medians over them, ``max_ns`` is the largest.
    """

    run_id: str
    first_ns: int | None
    """Start of the first phase."""
    source: str
    target: str
    backend: str
    pattern: str
    phase: str
    """``benchmark``, else the existing phase; for bulk: ``bulk``, for bandwidth: ``write, read``."""
    waiting_factor: float
    waiting_factors: int
    """Number of the run's waiting factors."""
    repetitions: int
    ranks: int | None
    data_sets: int | None
    iterations: int | None
    """I: iterations per data set."""
    objects: int | None
    """P: objects precreated per data set; for bulk: per rank."""
    complete: bool
    """False if it ended before all was done, other than at a time limit that was asked for."""
    ops: int | None
    failed: int | None
    creates_per_s: float | None
    balance: float | None
    """Time of the fastest rank / that of the slowest; for bulk: the smallest of its phases."""
    max_ns: float | None
    q75_ns: tuple[float | None, ...]
    """In the order of ``COMPARED_OPS``."""
    write_bytes_per_s: float | None
    """Bandwidth of writes and of reads, over all ranks until the last finished."""
    read_bytes_per_s: float | None
    counted: str
    """Source of its quantiles: ``histogram``, ``exact``, ``tool`` or ``none``."""
    waited: float | None
    """Largest share of the time that its ranks waited for a CPU, if the host was too busy to say."""


def compare(rows: Iterable[RunRow], *, every_factor: bool = False) -> list[RunSummary]:
    """Summaries of runs, in the order in which they come; ``every_factor``: one per waiting factor.

    Else a run of several stands there with its smallest: what it does without waiting.
    """
    of_run: dict[str, list[RunRow]] = {}
    for row in rows:
        of_run.setdefault(row.run_id, []).append(row)
    found = []
    for own in of_run.values():
        main = main_rows(own)
        factors = sorted({row.waiting_factor for row in main})
        for factor in factors if every_factor else factors[:1]:
            some = [row for row in main if row.waiting_factor == factor]
            found.append(_summary(own, some, len(factors)))
    return found


def main_rows(rows: Sequence[RunRow]) -> list[RunRow]:
    """Rows of the most informative phase, all ranks together if present."""
    together = [row for row in rows if row.rank is None]
    if any(row.instrument == "bandwidth" for row in together):
        return together
    if any(row.phase in _BULK and row.pattern == "bulk" for row in together):
        return [row for row in together if row.phase in _BULK]
    phases = {row.phase for row in together}
    main = next((phase for phase in _MAIN if phase in phases), next(iter(sorted(phases)), ""))
    # A run of which only ranks are left says what those say.
    return [row for row in together if row.phase == main] or list(rows)


def _summary(every: Sequence[RunRow], main: Sequence[RunRow], factors: int) -> RunSummary:
    first = main[0]
    whole = [row for row in main if row.op is None]
    creates = [row.rate_per_s for row in main if row.op == "md_create"]
    began = [row.began_ns for row in every if row.began_ns is not None]
    bulk = first.pattern == "bulk"
    failed = [row.failed for row in whole]
    fair = [row.balance for row in whole if row.balance is not None]
    parameters = first.parameters
    return RunSummary(
        run_id=first.run_id,
        first_ns=min(began, default=None),
        source=first.source,
        target=first.target,
        backend=first.backend,
        pattern=first.pattern,
        phase=_phase(main),
        waiting_factor=first.waiting_factor,
        waiting_factors=factors,
        repetitions=len({(row.repetition, row.measurement) for row in main}),
        ranks=first.ranks,
        data_sets=_whole_number(parameters.get("data_sets")),
        iterations=_whole_number(parameters.get("iterations")),
        objects=_whole_number(parameters.get("items" if "items" in parameters else "objects")),
        complete=not any(map(cut_short, every)),
        ops=_sum([row.ops for row in whole]),
        failed=_sum(failed),
        creates_per_s=_middle(creates),
        balance=(min(fair) if bulk else median(fair)) if fair else None,
        max_ns=max((row.max_ns for row in main if row.max_ns is not None), default=None),
        q75_ns=tuple(_middle([row.q75_ns for row in main if row.op == op]) for op in COMPARED_OPS),
        write_bytes_per_s=_bandwidth(main, "write"),
        read_bytes_per_s=_bandwidth(main, "read"),
        counted=counted(main),
        waited=max((one.share for one in host_waits(main)), default=None),
    )


def _phase(main: Sequence[RunRow]) -> str:
    first = main[0]
    if first.instrument == "bandwidth":
        return ", ".join(dict.fromkeys(row.phase for row in main))
    return "bulk" if first.pattern == "bulk" and first.phase in _BULK else first.phase


def _bandwidth(main: Sequence[RunRow], phase: str) -> float | None:
    return _middle(row.last_bytes_per_s for row in main if row.phase == phase and row.op is None)


def counted(rows: Sequence[RunRow]) -> str:
    """Source of the quantiles of rows (see ``RunSummary.counted``)."""
    if all(row.q50_ns is None for row in rows):
        return "none"
    if any("digests" in row.parameters for row in rows):
        return "exact"
    return "histogram" if rows[0].source == "iosonde" else "tool"


def _middle(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return median(present) if present else None


def _sum(values: Sequence[int | None]) -> int | None:
    present = [value for value in values if value is not None]
    return sum(present) if present and len(present) == len(values) else None


def _whole_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


HEADER = (
    *("run", "when", "target", "backend", "what", "N", "D", "I", "P", "T"),
    *("write_bytes_per_s", "read_bytes_per_s", "creates_per_s", "balance", "max_ns"),
    *(f"{op.removeprefix('md_')}_q75_ns" for op in COMPARED_OPS),
)


def comparison_table(rows: Sequence[RunSummary]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The paper's comparison ("Comparing File Systems") as names of columns and rows of values."""
    return HEADER, [
        (
            *(one.run_id, one.first_ns, one.target, one.backend, _what(one)),
            *(one.ranks, one.data_sets, one.iterations, one.objects, one.waiting_factor),
            *(one.write_bytes_per_s, one.read_bytes_per_s),
            *(one.creates_per_s, one.balance, one.max_ns, *one.q75_ns),
        )
        for one in rows
    ]


def _what(one: RunSummary) -> str:
    times = f" x{one.repetitions}" if one.repetitions > 1 else ""
    word = "bench" if one.phase == "benchmark" else one.phase
    return word + times + ("" if one.complete else ", cut")


class SlowRanks(NamedTuple):
    """Ranks of a phase by their time, the slowest first."""

    phase: str
    repetition: int
    waiting_factor: float
    measurement: int
    ranks: int
    median_ns: float
    slowest: tuple[tuple[int, str, int, float], ...]
    """rank, host, time (ns), and its ratio to the median rank's."""


def slow_ranks(rows: Iterable[RunRow], most: int = 5) -> list[SlowRanks]:
    """Slowest ranks of every phase, if rows of ranks have their times."""
    parts: dict[tuple[str, int, float, int], list[RunRow]] = {}
    for row in sorted(rows, key=run_order):
        if row.rank is not None and row.op is None and row.duration_ns:
            key = (row.phase, row.repetition, row.waiting_factor, row.measurement)
            parts.setdefault(key, []).append(row)
    found = []
    for key, own in parts.items():
        middle = median(row.duration_ns or 0 for row in own)
        slowest = sorted(own, key=lambda row: -(row.duration_ns or 0))[:most]
        named = tuple(
            (row.rank or 0, row.host, row.duration_ns or 0, (row.duration_ns or 0) / middle)
            for row in slowest
            if (row.duration_ns or 0) > middle
        )
        found.append(SlowRanks(*key, len(own), middle, named))
    return found
