"""One run for people: its parameters, its phases, its operations, what stands out."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import partial

from iosonde.bench.bandwidth.words import EXPLAINED, HEAD, phase_cells, say_slow_ranks, say_tail
from iosonde.bench.report.cautions import run_cautions
from iosonde.bench.report.side_by_side import WIDE, rate_words, time_words, when_words
from iosonde.bench.runs.compare import counted, slow_ranks
from iosonde.bench.runs.described import cut_short, machine_of, machine_words, parameter_words
from iosonde.bench.runs.words import say_quantiles, say_ranks
from iosonde.model.answer import Block, PageFormat, Prose, TableBlock
from iosonde.model.runs import RunRow, run_order
from iosonde.model.text import clean_text
from iosonde.model.units import format_count, format_duration, format_size

_MOST_LINES = 400
_MOST_SAID = 8


def details(
    rows: Sequence[RunRow], now_ns: int | None = None, *, ranks: bool = False
) -> list[Block]:
    """One run: its parameters, its phases, its operations; with ``ranks`` the slowest ones."""
    about: list[Block] = [partial(_about, rows, now_ns)]
    if rows[0].instrument == "bandwidth":
        return _apart([about, *_bandwidth(rows), _cautions(rows)])
    together = [row for row in sorted(rows, key=run_order) if row.rank is None]
    parts = [about, _phases([row for row in together if row.op is None])]
    ops = [row for row in together if row.op is not None]
    if any(row.q50_ns is not None or row.max_ns is not None for row in ops):
        parts.append(_ops(ops))
    parts.append([*say_quantiles([counted(together)] if together else [])])
    if ranks:
        slow: list[Block] = [say_ranks(one) for one in slow_ranks(rows)]
        parts.append(slow[:_MOST_LINES] or ["no data on single ranks"])
    return _apart([*parts, _cautions(rows)])


def _apart(parts: Sequence[list[Block]]) -> list[Block]:
    """Parts with an empty line between."""
    blocks: list[Block] = []
    for part in filter(None, parts):
        blocks += [*([""] * bool(blocks)), *part]
    return blocks


def _bandwidth(rows: Sequence[RunRow]) -> list[list[Block]]:
    """A line a phase; then which ranks held it up and what the columns mean."""
    cells = [tuple(map(clean_text, line)) for line in phase_cells(rows)]
    kept = [i for i, name in enumerate(HEAD) if name != "slowest rank" or any(c[i] for c in cells)]
    lines = [[line[i] for i in kept] for line in cells][:_MOST_LINES]
    said = [*say_tail(rows), *say_slow_ranks(rows)]
    return [
        [TableBlock([HEAD[i] for i in kept], lines)],
        [Prose(text) for text in (*said[:_MOST_SAID], EXPLAINED)],
    ]


def _cautions(rows: Sequence[RunRow]) -> list[Block]:
    """A note a caution; failures have columns of their own."""
    return [Prose(f"note: {text}", "", "  ") for text in run_cautions(rows)]


def _about(rows: Sequence[RunRow], now_ns: int | None, page: PageFormat) -> str:
    first = rows[0]
    began = [row.began_ns for row in rows if row.began_ns is not None]
    parameters = parameter_words(first.parameters)
    lines = [
        f"run {first.run_id}: {first.pattern} on {first.target}",
        f"measured by {first.source}, backend {first.backend}, "
        + _ranks_of(rows)
        + (f", began {when_words(min(began), now_ns)}" if began else ""),
    ]
    if parameters:
        lines.append("asked for: " + _listed(parameters))
    if machine := machine_of(rows):
        lines.append("machine: " + _listed(machine_words(machine)))
    if any(map(cut_short, rows)):
        lines.append("not complete: it ended before all of its operations were done")
    room = max(60, page.columns(WIDE))
    return "\n".join(
        textwrap.fill(clean_text(line), room, subsequent_indent="  ", break_on_hyphens=False)
        for line in lines
    )


def _ranks_of(rows: Sequence[RunRow]) -> str:
    """``10 ranks``, ``rank 0 alone``."""
    only = rows[0].parameters.get("reported", {}).get("only_rank")
    most = max((row.ranks for row in rows if row.ranks is not None), default=None)
    if only is not None:
        return f"rank {only} alone"
    if most is None:
        return "unknown number of ranks"
    return f"{most} rank{'s' if most > 1 else ''}"


def _listed(words: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in words)


def _phases(rows: Sequence[RunRow]) -> list[Block]:
    forms: dict[str, Callable[[RunRow], str]] = {
        "phase": lambda row: row.phase,
        "rep": lambda row: str(row.repetition),
        "T": lambda row: f"{row.waiting_factor:g}",
        "measurement": lambda row: str(row.measurement) if row.measurement else "",
        "took": lambda row: format_duration(row.duration_ns),
        "ops": lambda row: "n/a" if row.ops is None else format_count(row.ops),
        "ops/s": lambda row: rate_words(row.rate_per_s),
        "at limit": lambda row: (
            "" if row.stonewall_per_s is None else rate_words(row.stonewall_per_s)
        ),
        "corrected": lambda row: (
            "" if row.corrected_per_s is None else rate_words(row.corrected_per_s)
        ),
        "balance": lambda row: "n/a" if row.balance is None else f"{row.balance:.1%}",
        "bytes": lambda row: format_size(row.bytes) if row.bytes else "",
        "max": lambda row: "" if row.max_ns is None else time_words(row.max_ns, 3),
        "ended": _ended,
    }
    return _filled(forms, rows, 1)


def _ended(row: RunRow) -> str:
    """How operations ended, where not all ended ok."""
    if row.outcomes:
        bad = {name: n for name, n in row.outcomes.items() if name != "ok" and n}
        text = ", ".join(f"{format_count(n)} {name}" for name, n in bad.items()) or "ok"
    else:
        text = (
            ""
            if row.failed is None
            else f"{format_count(row.failed)} failed"
            if row.failed
            else "ok"
        )
    cut = "cut" if cut_short(row) else "" if row.complete else "at its limit"
    return ", ".join(filter(None, (text, cut)))


def _ops(rows: Sequence[RunRow]) -> list[Block]:
    forms: dict[str, Callable[[RunRow], str]] = {
        "phase": lambda row: row.phase,
        "op": lambda row: (row.op or "").removeprefix("md_"),
        "rep": lambda row: str(row.repetition),
        "T": lambda row: f"{row.waiting_factor:g}",
        "measurement": lambda row: str(row.measurement) if row.measurement else "",
        "n": lambda row: "n/a" if row.ops is None else format_count(row.ops),
        "ops/s": lambda row: rate_words(row.rate_per_s),
    }
    for name in ("min", "mean", "q25", "q50", "q75", "q90", "q99", "max"):
        head = "median" if name == "q50" else name
        forms[head] = lambda row, name=name: time_words(getattr(row, f"{name}_ns"), 3)  # type: ignore[misc]
    forms["failed"] = lambda row: "" if not row.failed else format_count(row.failed)
    return _filled(forms, rows, 2)


def _filled(
    forms: dict[str, Callable[[RunRow], str]], rows: Sequence[RunRow], left: int
) -> list[Block]:
    """A table without the columns that say nothing in any row."""
    cells = {name: [clean_text(form(row)) for row in rows] for name, form in forms.items()}
    kept = {
        name: column
        for name, column in cells.items()
        if not set(column) <= {"", "n/a"} and not (name == "T" and set(column) == {"0"})
    }
    lines = list(zip(*kept.values(), strict=True))
    if not lines:
        return []
    more = len(lines) - _MOST_LINES
    blocks: list[Block] = [TableBlock(list(kept), lines[:_MOST_LINES], left)]
    return blocks + [f"and {more} more rows (--format csv)"] * (more > 0)
