"""Tables of runs fitted to terminals, for ``iosonde runs`` and ``iosonde bench metadata``."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.bench.bandwidth.words import format_bandwidth
from iosonde.bench.report.cautions import run_cautions
from iosonde.bench.runs.compare import RunSummary, comparison_table, counted, slow_ranks
from iosonde.bench.runs.described import machine_of, machine_words, parameter_words
from iosonde.bench.runs.words import say_comparison, say_quantiles, say_ranks
from iosonde.cli.shared.bandwidth_table import bandwidth_table
from iosonde.cli.shared.fitting import columns
from iosonde.cli.shared.text import table, wrapped
from iosonde.model.runs import RunRow, run_order
from iosonde.model.text import clean_text
from iosonde.model.units import format_count, format_duration, format_size, format_time

_WIDE = 140
_LEAST_NAME = 14
_GONE_FIRST = ("backend", "I", "P", "what", "D", "target", "N", "balance", "max", "when")
"""Columns to drop, in this order, without room."""
_ONE_KIND = ("write_bytes_per_s", "read_bytes_per_s", "creates_per_s")
"""Columns of one benchmark, dropped if no run has them."""
_MOST_LINES = 400


def width() -> int:
    """Width of the terminal; of a pipe ``_WIDE``. COLUMNS overrides it."""
    return columns(_WIDE)


@dataclass
class _Column:
    name: str
    head: str
    cells: list[str]
    left: bool = False

    @property
    def wide(self) -> int:
        return max(len(text) for text in (self.head, *self.cells))


def comparison(
    rows: Sequence[RunSummary], now_ns: int | None = None, columns: int | None = None
) -> str:
    """The paper's comparison table with its meaning below. ``columns``: available width."""
    room = max(60, columns or width())
    names, values = comparison_table(rows)
    digits = 3 if room >= 120 else 2
    shown: dict[str, tuple[str, Callable[[Any], str]]] = {
        "run": ("run", str),
        "when": ("when", lambda ns: _when(ns, now_ns)),
        **{name: (name, str) for name in ("target", "backend", "what")},
        **{name: (name, _number) for name in ("N", "D", "I", "P")},
        "T": ("T", lambda t: f"{t:g}"),
        "write_bytes_per_s": ("write", format_bandwidth),
        "read_bytes_per_s": ("read", format_bandwidth),
        "creates_per_s": ("creates/s", _rate),
        "balance": ("balance", lambda b: "n/a" if b is None else f"{b:.1%}"),
        "max_ns": ("max", lambda ns: _time(ns, digits)),
    }
    every = []
    for place, name in enumerate(names):
        head, form = shown.get(name, (name.removesuffix("_q75_ns"), lambda ns: _time(ns, digits)))
        cells = [clean_text(form(row[place])) for row in values]
        left = name in ("run", "when", "target", "backend", "what")
        every.append(_Column(name, head, cells, left))
    notes = _fitted(every, room, len(rows))
    return "\n".join([*_lines(every), "", *notes, *say_comparison(rows)])


def _fitted(every: list[_Column], room: int, n: int) -> list[str]:
    """Fit the table: common values move below it, then names shrink, then columns are dropped."""
    notes = []
    if all(cell == "0" for cell in _of(every, "T").cells):
        every.remove(_of(every, "T"))
    for name in _ONE_KIND:
        if all(cell == "n/a" for cell in _of(every, name).cells):
            every.remove(_of(every, name))
    for name in ("backend", "target", "what", "N", "D", "I", "P", "when"):
        column = _of(every, name)
        same = n > 1 and len(set(column.cells)) == 1
        unknown = all(cell == "n/a" for cell in column.cells)
        if unknown or (same and _wide(every) > room):
            every.remove(column)
            notes += [] if unknown else [f"{name} {column.cells[0]}"]
    quartiles = [column for column in every if column.name.endswith("_q75_ns")]
    if all(cell == "n/a" for column in quartiles for cell in column.cells):
        every[:] = [column for column in every if column not in quartiles]
    for name in ("target", "run"):
        _shorten(every, name, room, 24)
    for name in _GONE_FIRST:
        if _wide(every) > room and any(column.name == name for column in every):
            _shorten(every, "run", room, _LEAST_NAME)
            _shorten(every, "target", room, _LEAST_NAME)
            if _wide(every) > room:
                every.remove(_of(every, name))
    run = _of(every, "run")
    _shorten(every, "run", room, 8)
    run.cells = [_cut(cell, max(8, run.wide - max(0, _wide(every) - room))) for cell in run.cells]
    return ["all: " + ", ".join(notes)] if notes else []


def _of(every: list[_Column], name: str) -> _Column:
    return next(column for column in every if column.name == name)


def _shorten(every: list[_Column], name: str, room: int, least: int) -> None:
    """Cut the middles of names, as far as needed and allowed; different names stay different."""
    column = next((one for one in every if one.name == name), None)
    over = _wide(every) - room
    if column is None or over <= 0:
        return
    for most in range(max(least, column.wide - over), column.wide):
        cut = [_cut(cell, most) for cell in column.cells]
        if len(set(cut)) == len(set(column.cells)):
            column.cells = cut
            return


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[-end:]}"


def _wide(every: list[_Column]) -> int:
    return sum(column.wide for column in every) + 2 * (len(every) - 1)


def _lines(every: list[_Column]) -> list[str]:
    """The table, with a heading above the four quartiles."""
    quartiles = [column for column in every if column.name.endswith("_q75_ns")]
    before = sum(column.wide + 2 for column in every if column not in quartiles)
    span = sum(column.wide for column in quartiles) + 2 * (len(quartiles) - 1)
    title = " " * before + " q75 of ".center(span, "-")
    lines = [title.rstrip()] if quartiles else []
    for cells in zip(*([c.head, *c.cells] for c in every), strict=True):
        padded = (
            text.ljust(column.wide) if column.left else text.rjust(column.wide)
            for text, column in zip(cells, every, strict=True)
        )
        lines.append("  ".join(padded).rstrip())
    return lines


def details(rows: Sequence[RunRow], now_ns: int | None = None, *, ranks: bool = False) -> str:
    """Details of one run: its parameters, its phases, its operations; with ``ranks`` the slowest ones."""
    if rows[0].instrument == "bandwidth":
        return "\n\n".join([_about(rows, now_ns), bandwidth_table(rows), *_cautions(rows)])
    together = [row for row in sorted(rows, key=run_order) if row.rank is None]
    parts = [_about(rows, now_ns), _phases([row for row in together if row.op is None])]
    ops = [row for row in together if row.op is not None]
    if any(row.q50_ns is not None or row.max_ns is not None for row in ops):
        parts.append(_ops(ops))
    parts.append("\n".join(say_quantiles([counted(together)] if together else [])))
    if ranks:
        slow = [say_ranks(one) for one in slow_ranks(rows)]
        parts.append("\n".join(slow[:_MOST_LINES]) or "no data on single ranks")
    parts += _cautions(rows)
    return "\n\n".join(part for part in parts if part)


def _cautions(rows: Sequence[RunRow]) -> list[str]:
    """A note per caution; failures have columns of their own."""
    lines = [line for text in run_cautions(rows) for line in wrapped(f"note: {text}", "", "  ")]
    return ["\n".join(lines)] if lines else []


def _about(rows: Sequence[RunRow], now_ns: int | None) -> str:
    first = rows[0]
    began = [row.began_ns for row in rows if row.began_ns is not None]
    parameters = parameter_words(first.parameters)
    lines = [
        f"run {first.run_id}: {first.pattern} on {first.target}",
        f"measured by {first.source}, backend {first.backend}, "
        + _ranks_of(rows)
        + (f", began {_when(min(began), now_ns)}" if began else ""),
    ]
    if parameters:
        lines.append("asked for: " + _listed(parameters))
    if machine := machine_of(rows):
        lines.append("machine: " + _listed(machine_words(machine)))
    if not all(row.complete for row in rows):
        lines.append("not complete: it ended before all of its operations were done")
    room = max(60, width())
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


def _phases(rows: Sequence[RunRow]) -> str:
    forms: dict[str, Callable[[RunRow], str]] = {
        "phase": lambda row: row.phase,
        "rep": lambda row: str(row.repetition),
        "T": lambda row: f"{row.waiting_factor:g}",
        "measurement": lambda row: str(row.measurement) if row.measurement else "",
        "took": lambda row: format_duration(row.duration_ns),
        "ops": lambda row: "n/a" if row.ops is None else format_count(row.ops),
        "ops/s": lambda row: _rate(row.rate_per_s),
        "at limit": lambda row: "" if row.stonewall_per_s is None else _rate(row.stonewall_per_s),
        "corrected": lambda row: "" if row.corrected_per_s is None else _rate(row.corrected_per_s),
        "balance": lambda row: "n/a" if row.balance is None else f"{row.balance:.1%}",
        "bytes": lambda row: format_size(row.bytes) if row.bytes else "",
        "max": lambda row: "" if row.max_ns is None else _time(row.max_ns, 3),
        "ended": _ended,
    }
    return _filled(forms, rows, 1)


def _ended(row: RunRow) -> str:
    """Outcomes of operations, if not all are ok."""
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
    return text if row.complete else f"{text}, cut" if text else "cut"


def _ops(rows: Sequence[RunRow]) -> str:
    forms: dict[str, Callable[[RunRow], str]] = {
        "phase": lambda row: row.phase,
        "op": lambda row: (row.op or "").removeprefix("md_"),
        "rep": lambda row: str(row.repetition),
        "T": lambda row: f"{row.waiting_factor:g}",
        "measurement": lambda row: str(row.measurement) if row.measurement else "",
        "n": lambda row: "n/a" if row.ops is None else format_count(row.ops),
        "ops/s": lambda row: _rate(row.rate_per_s),
    }
    for name in ("min", "mean", "q25", "q50", "q75", "q90", "q99", "max"):
        head = "median" if name == "q50" else name
        forms[head] = lambda row, name=name: _time(getattr(row, f"{name}_ns"), 3)  # type: ignore[misc]
    forms["failed"] = lambda row: "" if not row.failed else format_count(row.failed)
    return _filled(forms, rows, 2)


def _filled(forms: dict[str, Callable[[RunRow], str]], rows: Sequence[RunRow], left: int) -> str:
    """A table without empty columns."""
    cells = {name: [clean_text(form(row)) for row in rows] for name, form in forms.items()}
    kept = {
        name: column
        for name, column in cells.items()
        if not set(column) <= {"", "n/a"} and not (name == "T" and set(column) == {"0"})
    }
    lines = list(zip(*kept.values(), strict=True))
    if not lines:
        return ""
    text = table(list(kept), lines[:_MOST_LINES], left=left)
    more = len(lines) - _MOST_LINES
    return text + (f"\nand {more} more rows (--format csv)" if more > 0 else "")


def _when(ns: int | None, now_ns: int | None) -> str:
    return "n/a" if ns is None else format_time(ns, ns - 10**15 if now_ns is None else now_ns)


def _number(value: int | None) -> str:
    """``10k`` for 10 000, as the paper writes it."""
    if value is None:
        return "n/a"
    if value >= 1_000_000 and value % 1_000_000 == 0:
        return f"{value // 1_000_000}M"
    return f"{value // 1000}k" if value >= 1000 and value % 1000 == 0 else str(value)


def _rate(value: float | None) -> str:
    if value is None:
        return "n/a"
    if value >= 1e7:
        return f"{value / 1e6:.0f}M" if value < 1e12 else f"{value:.1e}"
    return f"{value:.3g}" if value < 100 else format_count(round(value))


def _time(ns: float | None, digits: int) -> str:
    """``634 us``, with two digits ``630 us``; ``n/a``."""
    if ns is None:
        return "n/a"
    if ns >= 100e9:
        return f"{ns / 1e9:.0f} s" if ns < 1e14 else f"{ns / 1e9:.0e} s"
    text = format_duration(float(f"{ns:.{digits}g}"))
    number, space, unit = text.partition(" ")
    if digits == 2 and "." in number:
        number = f"{float(number):.1f}" if float(number) < 9.95 else f"{float(number):.0f}"
    return number + space + unit
