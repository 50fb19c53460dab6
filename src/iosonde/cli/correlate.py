"""iosonde correlate: correlations with the performance of jobs, from any table of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.cli.shared import job_options, options
from iosonde.cli.shared.job_choice import Note
from iosonde.cli.shared.render import show
from iosonde.connectors.source import Settings
from iosonde.jobs import answers
from iosonde.jobs.correlate.answers import FRACTION, PEAKS, REGION
from iosonde.jobs.table import answers as tables
from iosonde.model.errors import UsageError
from iosonde.model.units import parse_time

if TYPE_CHECKING:
    from iosonde.jobs.table.answers import Loaded

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


def main(arguments: Sequence[str]) -> int:
    """Print correlations group by group, or write them as data."""
    args = _parse(arguments)
    with job_options.notes_last() as note:
        return _correlate(args, note)


def _correlate(args: argparse.Namespace, note: Note) -> int:
    span = options.time_range(args, options.now_ns())
    question = answers.CorrelateQuestion(
        args.y,
        args.metrics,
        args.by,
        args.control or (),
        args.file_system,
        args.motif,
        span,
        args.regions,
        args.boundaries,
    )
    found = answers.correlations(_loaded(args, note), question, args.top)
    if args.format == "table":
        for text in found.notes():
            note(text)
    show(found, args, indent=None)
    return 0


def _loaded(args: argparse.Namespace, note: Note) -> list[Loaded]:
    """The tables asked for, or the store's jobs."""
    if not args.table:
        return [tables.store_jobs(job_options.only_store(args), args.peak)]
    settings = Settings(system=args.system or "", zone=options.local_zone())
    return tables.file_tables(args.table, args.mapping, settings, note, args.peak)


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
