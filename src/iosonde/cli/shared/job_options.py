"""Common options of commands about one job: source of jobs, history, display of the diagram."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.cli.shared import options
from iosonde.cli.shared.fitting import columns
from iosonde.cli.shared.job_choice import Note, settle
from iosonde.connectors.source import Settings
from iosonde.engine.files import write_text
from iosonde.jobs import answers
from iosonde.jobs.table.which_job import found_job
from iosonde.jobs.umami.shown import MOST_ROWS, MOST_RUNS, Shown
from iosonde.model import parameters
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.text import clean_text

if TYPE_CHECKING:
    from iosonde.jobs.umami.diagram import Umami
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
    add("--plot", type=Path, metavar="FILE", help=told)
    add("--dark", action="store_true", help="a dark picture")
    add(
        "--width",
        type=float,
        default=8.0,
        metavar="INCHES",
        help="width of the picture (default: 8)",
    )
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
    """Jobs of files or of the store; ``listed``: with the numbers of a list of jobs."""
    from iosonde.jobs.table import source as job_source

    about_one = "job" in args
    if about_one:
        settle(args, note)
    if not args.table:
        root = only_store(args)
        try:
            table = job_source.from_store(
                root,
                metrics=job_source.LISTED if listed else None,
                scheduled=listed,
                job_id=args.job if about_one else None,
            )
        except NothingMeasuredError:
            if about_one and not answers.has_records(root, args.job):
                raise answers.unknown_job(root, args.job) from None
            raise
        if about_one:
            job_source.must_have(root, table, args.job)
            args.job = found_job(
                table, args.job, note, unknown=lambda: answers.unknown_job(root, args.job)
            )
        return table
    if args.store is not None:
        raise UsageError("both TABLE and --store are given", expected="one of them")
    settings = Settings(system=args.system or "", zone=options.local_zone())
    table = job_source.from_files(args.table, args.mapping, settings, note)
    if about_one:
        args.job = found_job(table, args.job, note, of_store=False)
    return table


def only_store(args: argparse.Namespace) -> Path:
    """The store, if no TABLE is named. Raises UsageError: options that need one."""
    if args.mapping or args.system:
        raise UsageError("--mapping and --system are for a TABLE", hint="'TABLE --mapping FILE'")
    return options.store_root(args)


def write(text: str, output: Path | None) -> None:
    """To a file or to stdout."""
    if output is None:
        sys.stdout.write(text)
    else:
        write_text(text, output)
        options.note(f"wrote {output}")


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


def print_diagram(found: Umami, args: argparse.Namespace) -> None:
    """Print the diagram, as wide as the terminal (a pipe: 100 columns), with as many runs as fit."""
    from iosonde.jobs.umami.figure import umami_figure
    from iosonde.jobs.umami.text import umami_text

    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    lines = umami_text(
        umami_figure(found, shown(args)._replace(runs=None)),
        columns(),
        coloured=options.colourful(),
        ascii_only=not encoding.startswith("utf"),
    )
    print("\n".join(lines))


def plot(found: Umami, args: argparse.Namespace, sentence: str) -> None:
    """Draw the diagram with the job's sentence, or write its data."""
    import json

    from iosonde.jobs.umami.figure import to_json, umami_figure

    figure = umami_figure(found, shown(args), sentence)
    if args.plot.suffix == ".json":
        write_text(json.dumps(to_json(figure), allow_nan=False) + "\n", args.plot)
    else:
        from iosonde.jobs.umami.render import save_umami

        zone = options.local_zone()
        save_umami(figure, args.plot, width_in=args.width, dark=args.dark, zone=zone)
    options.note(f"wrote {args.plot}")
