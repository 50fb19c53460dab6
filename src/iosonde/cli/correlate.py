"""iosonde correlate: correlations with the performance of jobs, from any table of them."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.cli.shared import job_options, options
from iosonde.cli.shared.job_choice import Note
from iosonde.cli.shared.text import table
from iosonde.jobs import answers
from iosonde.jobs.correlate.words import (
    REGION,
    claimed,
    say_doubt,
    say_group,
    say_too_few,
    say_warning,
    too_few,
)
from iosonde.jobs.table.derived import FRACTION, PEAKS
from iosonde.model.errors import InputFileError, UsageError
from iosonde.model.units import format_count, parse_time

if TYPE_CHECKING:
    from iosonde.jobs.correlate.correlate import Correlated, Correlation
    from iosonde.jobs.correlate.pooling import PooledWarning
    from iosonde.jobs.table.from_files import Loaded
    from iosonde.model.jobs import JobTable

SCHEMA_VERSION = 1
EXAMPLES = """\
  iosonde correlate summaries.csv.gz                pytokio's summarize_job is known
  iosonde correlate                                 the jobs of the store
  iosonde correlate jobs.csv --mapping jobs.toml --by none
  iosonde correlate lustre.csv gpfs.csv --mapping examples/umami-month --by file_system
  iosonde correlate jobs.csv --with bandwidth --metrics temperature,load --control load
  iosonde correlate jobs.csv --motif 'hacc write' --since 2026-02-14 --until 2026-03-16
  iosonde correlate year.csv.gz --by climate        each stretch of a file system's climates by itself
  iosonde correlate year.csv.gz --by motif --boundaries 2018-03-01,2018-06-01
  iosonde correlate jobs.csv --format csv -o correlations.csv

docs/correlate.md shows what a mapping is and what the columns are.
"""
_BY = ("file_system", "motif")
_HEAD = ("", "n", "Pearson", "p", "Spearman", "p", "q", "n_eff", "", "")


def main(arguments: Sequence[str]) -> int:
    """Print correlations group by group, or write them as data."""
    args = _parse(arguments)
    with job_options.notes_last() as note:
        return _correlate(args, note)


def _correlate(args: argparse.Namespace, note: Note) -> int:
    span = options.time_range(args, options.now_ns())
    loaded = _loaded(args, note)
    found = []
    for one in loaded:
        rows = answers.select(one.table, args.file_system, args.motif, span)
        metrics = list(rows.metrics) if args.metrics == ["all"] else args.metrics
        regions = answers.regions_of(rows, args.boundaries) if args.regions else None
        correlated = answers.correlate(
            rows, args.y, metrics, args.by, args.control or (), regions=regions
        )
        found.append((correlated, rows))
    if args.format == "table":
        for place, (correlated, rows) in enumerate(found):
            print("" if place == 0 else "\n", end="")
            _print(correlated, rows, args, note)
    elif args.format == "json":
        _write_json(found, loaded, args)
    else:
        _write_rows([one for one, _ in found], args)
    return 0


def _loaded(args: argparse.Namespace, note: Note) -> list[Loaded]:
    """Tables requested, or the store's jobs."""
    from iosonde.connectors.source import Settings
    from iosonde.jobs.table.from_files import Loaded, load_tables, mappings
    from iosonde.jobs.table.source import from_store, remarks

    if not args.table:
        return [Loaded(from_store(job_options.only_store(args), args.peak), (), "store")]
    told: list[InputFileError] = []
    settings = Settings(system=args.system or "", zone=options.local_zone())
    loaded = load_tables(args.table, mappings(args.mapping), settings, told.append, of=args.peak)
    for line in remarks(loaded, told):
        note(line)
    return loaded


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "What goes with the performance of jobs: Pearson, Spearman, partial, p, q and n."
    parser = options.Parser("correlate", summary, EXAMPLES)
    add = parser.add_argument
    job_options.add_tables(parser)
    told = "what is explained (default: fraction of peak)"
    add("--with", dest="y", default=FRACTION, metavar="METRIC", help=told)
    told = "of file_system, motif (default: both) and climate; or none"
    add("--by", type=options.reads(_by), default=_BY, metavar="LIST", help=told)
    told = "times between which runs are groups of their own, instead of climates"
    add("--boundaries", default="", metavar="TIMES", help=told)
    told = "only these, or all (default: those that could explain it)"
    add("--metrics", type=_names, metavar="LIST", help=told)
    told = "partial coefficients: without what these explain"
    add("--control", type=_names, metavar="LIST", help=told)
    told = "100%%: the best like run, or p99, mean, median of them"
    add("--peak", choices=PEAKS, default="max", help=told)
    add("--file-system", metavar="NAME", help="one file system only")
    add("--motif", metavar="NAME", help="one motif only")
    add(
        "--top", type=int, default=10, metavar="N", help="metrics a group in the table (10; 0: all)"
    )
    parser.add_range()
    parser.add_data()
    args = parser.parse(arguments)
    args.top = max(0, args.top)
    now_ns = options.now_ns()
    args.boundaries = [parse_time(text, now_ns) for text in _names(args.boundaries)]
    args.regions = bool(args.boundaries) or REGION in args.by
    # Climates are those of a file system.
    of_system = args.by == (REGION,) and not args.boundaries
    args.by = ("file_system",) if of_system else tuple(one for one in args.by if one != REGION)
    return args


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _by(text: str) -> tuple[str, ...]:
    names = tuple(name.replace("-", "_") for name in _names(text))
    if names == ("none",):
        return ()
    if not names or not set(names) <= {*_BY, REGION}:
        raise UsageError(
            f"cannot group by {text!r}", expected="some of file_system, motif, climate; or none"
        )
    return tuple(dict.fromkeys(names))


def _print(found: Correlated, rows: JobTable, args: argparse.Namespace, note: Note) -> None:
    def label(metric: str) -> str:
        return rows.about(metric).label

    print(f"{found.source}: {format_count(found.jobs)} runs; what goes with {label(found.y)}")
    head = [*_HEAD]
    if found.controls:
        head[8:8] = ["partial", "p"]
    groups: dict[tuple[str, ...], list[Correlation]] = {}
    for row in found.rows:
        groups.setdefault(row.group, []).append(row)
    few = [group for group, mine in groups.items() if too_few(mine)]
    for group, mine in groups.items():
        if group in few:
            continue
        shown = _strongest(mine, 0 if args.metrics else args.top)
        print(f"\n{say_group(group, found)}")
        doubts = [say_doubt(row) for row in shown]
        width = max(map(len, doubts))
        lines = [
            (*_row(row, label, bool(found.controls)), doubt.ljust(width))
            for row, doubt in zip(shown, doubts, strict=True)
        ]
        print(table(head, lines))
        if len(shown) < len(mine):
            print(f"and {len(mine) - len(shown)} more, weaker (--top 0)")
    if few:
        print(f"\n{say_too_few(few, found)}")
    warnings = _worst(found.warnings)
    if args.top and not args.metrics and len(warnings) > args.top:
        note(f"{len(warnings)} metrics mislead over all rows: --top 0 tells how")
        warnings = []
    for warning in warnings:
        note(say_warning(warning, label))


def _worst(warnings: Sequence[PooledWarning]) -> list[PooledWarning]:
    """Worst warning per metric: a reversed sign before a vanishing one."""
    order = ("turned", "opposed", "only-between")
    worst: dict[str, PooledWarning] = {}
    for warning in sorted(warnings, key=lambda one: order.index(one.kind)):
        worst.setdefault(warning.metric, warning)
    return list(worst.values())


def _strongest(rows: list[Correlation], most: int) -> list[Correlation]:
    """Strongest rows: claims first, by size; 0: all in the given order."""
    if not most or len(rows) <= most:
        return rows
    order = sorted(rows, key=lambda row: (not claimed(row), -abs(row.spearman or 0)))
    return order[:most]


def _row(row: Correlation, label: Callable[[str], str], partial: bool) -> tuple[str, ...]:
    cells = [
        label(row.metric),
        format_count(row.n),
        _coefficient(row.pearson),
        _chance(row.pearson_p),
        _coefficient(row.spearman),
        _chance(row.p),
        _chance(row.q),
        "n/a" if row.n_eff is None else f"{row.n_eff:.0f}",
    ]
    if partial:
        cells += [_coefficient(row.partial), _chance(row.partial_p)]
    return (*cells, "*" if claimed(row) else "")


def _coefficient(value: float | None) -> str:
    return "n/a" if value is None else f"{value:+.4f}"


def _chance(p: float | None) -> str:
    return "n/a" if p is None else "<1e-300" if p < 1e-300 else f"{p:.2g}"


def _plain(row: Correlation, source: str, y: str) -> dict[str, Any]:
    group = " / ".join(row.group)
    return {"source": source, "with": y, **row._asdict(), "group": group}


def _write_json(
    found: list[tuple[Correlated, JobTable]], loaded: list[Loaded], args: argparse.Namespace
) -> None:
    tables = [
        {
            "source": one.source,
            "mapping": given.mapping,
            "with": one.y,
            "by": one.by,
            "controls": one.controls,
            "jobs": one.jobs,
            "left_out": [str(reason) for reason in rows.reasons],
            "notes": [note._asdict() for note in given.notes],
            "correlations": [row._asdict() for row in one.rows],
            "warnings": [warning._asdict() for warning in one.warnings],
        }
        for (one, rows), given in zip(found, loaded, strict=True)
    ]
    text = json.dumps({"schema_version": SCHEMA_VERSION, "tables": tables}, allow_nan=False)
    job_options.write(text + "\n", args.output)


def _write_rows(found: list[Correlated], args: argparse.Namespace) -> None:
    import numpy as np

    from iosonde.engine.files import write_frame
    from iosonde.model.frames import Frame

    rows = [_plain(row, one.source, one.y) for one in found for row in one.rows]
    columns: dict[str, Any] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if all(isinstance(value, str) for value in values):
            columns[name] = np.array(values, dtype=object)
        elif isinstance(values[0], (bool, int)):
            columns[name] = np.array(values)
        else:
            filled = [np.nan if value is None else value for value in values]
            columns[name] = np.array(filled, dtype=np.float64)
    with tempfile.TemporaryDirectory() as folder:
        path = args.output or Path(folder) / "rows"
        write_frame(Frame(columns), path, args.format)
        if args.output is None:
            options.copy_to_stdout(path)
    if args.output is not None:
        options.note(f"wrote {args.output}")
