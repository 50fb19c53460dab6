"""Common options of commands about one job: source of jobs, history, display of the diagram."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.cli.shared import options
from iosonde.cli.shared.job_choice import Note, settle
from iosonde.connectors.source import Settings
from iosonde.jobs.scheduled.answers import has_records, unknown_job
from iosonde.jobs.table import answers as tables
from iosonde.jobs.umami.answers import MOST_ROWS, MOST_RUNS, Shown
from iosonde.model import parameters
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.text import clean_text

if TYPE_CHECKING:
    from iosonde.model.jobs import JobTable


def add_job(parser: options.Parser) -> None:
    """Add TABLE, --job and its run, the history, the picture."""
    add = parser.add_argument
    add_tables(parser)
    add("--job", metavar="ID", help=parameters.JOB)
    add("--step", metavar="S", help=parameters.RUN_OF_JOB)
    add("--last", type=int, metavar="N", help=parameters.HISTORY_LAST)
    add(
        "--history",
        choices=("earlier", "all"),
        default="earlier",
        help="runs to compare with (default: earlier)",
    )
    told = "draw the diagram: .png, .svg, .pdf, or .json: what is drawn"
    parser.add_picture(told, 8.0)
    amount = f"(default: {MOST_RUNS}; 0: all)"
    add("--runs", type=int, default=MOST_RUNS, metavar="N", help=f"runs drawn {amount}")
    amount = f"(default: {MOST_ROWS}, none twice; 0: all)"
    add("--rows", type=int, default=MOST_ROWS, metavar="N", help=f"rows drawn {amount}")


def add_tables(parser: options.Parser) -> None:
    """Add TABLE with its mapping, and --store."""
    add = parser.add_argument
    told = "CSV, Parquet or JSON lines, a row a job (default: the store)"
    add("table", nargs="*", type=Path, metavar="TABLE", help=told)
    told = "TOML: what the columns of TABLE mean; or a folder of such files; repeatable"
    add("--mapping", type=Path, action="append", default=[], metavar="FILE", help=told)
    add("--system", metavar="NAME", help="file system of a TABLE that names none")
    parser.add_store()


@contextmanager
def notes_last() -> Iterator[Note]:
    """Collect notes and print them at the end: on stderr, a ``note: `` line each, once. Errors come after it."""
    told: list[str] = []
    try:
        yield told.append
    finally:
        sys.stdout.flush()
        for text in dict.fromkeys(told):
            options.note(f"note: {clean_text(text)}")


def table_of(args: argparse.Namespace, note: Note, *, listed: bool = False) -> JobTable:
    """The jobs asked for: of files or of the store; ``listed``: with the numbers that a list of jobs has."""
    about_one = "job" in args
    if about_one:
        settle(args, note)
    if not args.table:
        root = only_store(args)
        if about_one:
            return _beside_job(root, args, note)
        return tables.listed_jobs(root) if listed else tables.store_jobs(root).table
    if args.store is not None:
        raise UsageError("both TABLE and --store are given", expected="one of them")
    settings = Settings(system=args.system or "", zone=options.local_zone())
    table = tables.file_jobs(args.table, args.mapping, settings, note)
    if about_one:
        args.job = tables.job_in_files(table, args.job, note)
    return table


def _beside_job(root: Path, args: argparse.Namespace, note: Note) -> JobTable:
    """Jobs beside the one asked for; ``args.job`` becomes its whole id."""
    try:
        table, args.job = tables.job_in_store(
            root, args.job, note, lambda: unknown_job(root, args.job)
        )
    except NothingMeasuredError:
        if not has_records(root, args.job):
            raise unknown_job(root, args.job) from None
        raise
    return table


def only_store(args: argparse.Namespace) -> Path:
    """The store, if no TABLE is named. Raises UsageError: options that need one."""
    if args.mapping or args.system:
        raise UsageError("--mapping and --system are for a TABLE", hint="'TABLE --mapping FILE'")
    return options.store_root(args)


def shown(args: argparse.Namespace) -> Shown:
    """Part of the diagram drawn; requested rows are all drawn. Raises UsageError."""
    for name in ("runs", "rows"):
        if getattr(args, name) < 0:
            raise UsageError(
                f"--{name} {getattr(args, name)} is not possible",
                expected="1 or more, or 0 for all",
            )
    rows = None if getattr(args, "metric", None) else args.rows or None
    return Shown(args.runs or None, rows)
