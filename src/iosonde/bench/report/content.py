"""Content of a run's page, as data: sentences, tables, pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.bench.bandwidth.tables import table_file
from iosonde.bench.bandwidth.words import EXPLAINED, HEAD, phase_cells, say_slow_ranks, together
from iosonde.bench.locate import words as locate_words
from iosonde.bench.locate.files import read_rates, read_topology, read_transfers
from iosonde.bench.locate.locate import locate
from iosonde.bench.locate.sheet import locate_sheet
from iosonde.bench.report.cautions import run_cautions
from iosonde.bench.report.pictures import RunPicture, run_pictures
from iosonde.bench.report.repeat import repeat_command
from iosonde.bench.report.words import headline, long_tail
from iosonde.bench.runs.described import machine_of, machine_words, parameter_words
from iosonde.bench.runs.host import host_waits
from iosonde.model.ops import op_order, op_word
from iosonde.model.runs import RunRow
from iosonde.model.transfers import Topology
from iosonde.model.units import format_count, format_duration, format_percent, format_time

if TYPE_CHECKING:
    from iosonde.drawing.sheet import Sheet

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Head and rows."""
Warn = Callable[[str], None]


@dataclass(frozen=True)
class Components:
    """Result of ``locate`` for a run: sentences, a table of findings, limitations; the picture."""

    say: Sequence[str]
    findings: Table
    limits: Sequence[str]
    sheet: Sheet


@dataclass(frozen=True)
class RunPage:
    """A page. ``components``: None if the store has no transfers of the run; ``pictures``: those with data."""

    title: str
    subtitle: str
    headline: str
    slow: bool
    rates: Table
    notes: Sequence[str]
    components: Components | None
    pictures: Sequence[RunPicture]
    cautions: Sequence[str]
    parameters: Sequence[tuple[str, str]]
    machine: Sequence[tuple[str, str]]
    command: str | None


def run_page_content(
    root: Path, rows: Sequence[RunRow], topology: Path | None, zone: tzinfo | None, warn: Warn
) -> RunPage:
    """Content of a run's page. ``rows``: all of the run. Raises InputFileError, StoreError."""
    first = rows[0]
    bandwidth = first.instrument == "bandwidth"
    components = _components(root, first.run_id, topology, warn) if bandwidth else None
    began = [row.began_ns for row in rows if row.began_ns is not None]
    when = f", began {format_time(min(began), 0, zone)}" if began else ""
    ranks = f"{first.ranks} rank{'' if first.ranks == 1 else 's'}, " if first.ranks else ""
    notes = [*say_slow_ranks(rows), EXPLAINED] if bandwidth else []
    found = components is not None and bool(components.findings[1])
    return RunPage(
        title=f"{first.target}: {first.instrument} of {first.ranks or 'an unknown number of'} ranks",
        subtitle=f"run {first.run_id}, {ranks}measured by {first.source} from {first.host}{when}",
        headline=headline(rows),
        slow=found or long_tail(rows) or bool(host_waits(rows)),
        rates=(_head(), phase_cells(rows)) if bandwidth else _metadata(rows),
        notes=notes,
        components=components,
        pictures=run_pictures(root, rows, None if components is None else components.sheet),
        cautions=run_cautions(rows),
        parameters=[
            ("benchmark", first.instrument),
            ("pattern", first.pattern),
            ("ranks", str(first.ranks or "n/a")),
            *parameter_words(first.parameters),
        ],
        machine=[("host", first.host), *machine_words(machine_of(rows))],
        command=repeat_command(rows),
    )


_NAMES = {
    "sustained": "sustained (fixed time)",
    "first": "until the first rank",
    "last": "until the last rank (fixed data)",
    "tail": "tail costs",
}


def _head() -> tuple[str, ...]:
    return tuple(_NAMES.get(name, name) for name in HEAD)


def _components(root: Path, run_id: str, topology: Path | None, warn: Warn) -> Components | None:
    transfers_file, rates_file = (table_file(root, name, run_id) for name in ("transfers", "rates"))
    if transfers_file is None:
        return None
    transfers = read_transfers(transfers_file, warn)
    if rates_file is not None:
        transfers = replace(transfers, rates=read_rates(rates_file, warn))
    known = Topology() if topology is None else read_topology(topology, warn)
    found = locate(transfers, known)
    return Components(
        locate_words.say(found),
        (locate_words.HEAD, locate_words.table_rows(found)),
        locate_words.say_limits(found),
        _without_losses(locate_sheet(transfers, known, found)),
    )


def _without_losses(sheet: Sheet) -> Sheet:
    """Sheet without the cost of the tail, which the table has from the run's own clock."""
    panes = tuple(
        replace(pane, note="") if pane.row == "aggregate rate" else pane for pane in sheet.panes
    )
    return replace(sheet, panes=panes)


def _metadata(rows: Sequence[RunRow]) -> Table:
    """A line per phase and op: rate, latencies, failures."""
    whole = [row for row in rows if row.rank is None]
    order = {(row.phase, row.repetition): n for n, row in enumerate(together(rows))}
    ops = [row for row in whole if row.op is not None] or whole
    ops = sorted(
        ops,
        key=lambda row: (order.get((row.phase, row.repetition), 0), op_order(row.op or "")),
    )
    several = len({row.waiting_factor for row in ops}) > 1
    head = ("phase", "rep", *(("T",) if several else ()), "op", "n", "ops/s")
    head += ("median", "p99", "max", "failed", "balance")
    return head, [
        (
            row.phase,
            str(row.repetition),
            *((f"{row.waiting_factor:g}",) if several else ()),
            op_word(row.op) if row.op else "all",
            "n/a" if row.ops is None else format_count(row.ops),
            "n/a" if row.rate_per_s is None else format_count(round(row.rate_per_s)),
            *(format_duration(ns) for ns in (row.q50_ns, row.q99_ns, row.max_ns)),
            str(row.failed or 0),
            "" if row.balance is None else format_percent(row.balance),
        )
        for row in ops
    ]
