"""A list of jobs for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.model.amounts import amount, scale_of
from iosonde.model.answer import Block, TableBlock
from iosonde.model.text import clean_text
from iosonde.model.units import about_length, format_count, format_factor, format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.jobs.table.listing import JobList, ListedJob, Sort

_LEFT = ("job", "cluster", "run", "user", "began", "kind", "file system", "state")
_HEAD = (*_LEFT, "ran", "nodes", "rate", "of peak", "slower")
_LESS = ("of peak", "cluster", "state", "run", "file system", "nodes", "kind", "rate")
"""Columns that go, one after the other, where the terminal is narrow."""


def list_blocks(found: JobList, sort: Sort, now_ns: int) -> list[Block]:
    """A row a job, and how many more there are."""
    blocks: list[Block] = ["No job matches." if found.n else "There is no job."]
    if found.jobs:
        blocks = [_columns([_row(one, now_ns) for one in found.jobs])]
    if more := found.total - len(found.jobs):
        ones = "one" if more == 1 else "ones"
        what = f"older {ones}" if sort == "time" else f"more {ones}, less slow or unknown"
        blocks.append(f"and {format_count(more)} {what} (--limit 0: all)")
    return blocks


def _columns(rows: Sequence[dict[str, str]]) -> TableBlock:
    """Columns of which something is known."""
    names = [name for name in _HEAD if name == "job" or any(row[name] for row in rows)]
    left = sum(name in _LEFT for name in names)
    return TableBlock(names, [[row[name] for name in names] for row in rows], left, _LESS)


def _row(one: ListedJob, now_ns: int) -> dict[str, str]:
    rate, share, slower = one.performance, one.fraction_of_peak, one.slowness
    by = " (time)" if one.slowness_by == "run time" else ""
    began = "" if one.start_ns is None else format_time(one.start_ns, now_ns)
    going = "goes on" if one.end_ns is None and one.start_ns is not None else ""
    texts = {
        "job": one.job,
        "run": "" if one.run == one.motif else one.run,
        "cluster": one.system,
        "user": one.user,
        "began": began,
        "kind": one.motif or one.name,
        "file system": one.file_system,
        "state": "" if one.state == "COMPLETED" else one.state,
        "ran": going if one.run_s is None else about_length(one.run_s * 1e9),
        "nodes": "" if one.nodes is None else str(one.nodes),
        "rate": "" if rate is None else _rate(rate, one.unit),
        "of peak": "" if share is None else f"{share:.0%}",
        "slower": "" if slower is None else f"{format_factor(slower)}x{by}",
    }
    return {name: clean_text(text) for name, text in texts.items()}


def _rate(rate: float, unit: str) -> str:
    return amount(rate, scale_of(unit, [rate])).replace(" /s", "/s")
