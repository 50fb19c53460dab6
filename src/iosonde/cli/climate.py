"""iosonde climate: lasting changes with dates and sizes, and simultaneous changes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING

from iosonde.cli.shared import job_options, options
from iosonde.cli.shared.job_choice import Note
from iosonde.cli.shared.render import draw, show
from iosonde.jobs.climate import answers
from iosonde.model import parameters
from iosonde.model.errors import UsageError

if TYPE_CHECKING:
    from iosonde.jobs.climate.answers import ClimateAnswer
    from iosonde.model.jobs import JobTable

EXAMPLES = """\
  iosonde climate                                jobs of the store
  iosonde climate year.csv.gz                    a table; pytokio's summarize_job is known
  iosonde climate jobs.csv --mapping site.toml --file-system work --since 2026-01-01
  iosonde climate year.csv.gz --on 2017-08-04    what changed on that date, and what did not
  iosonde climate year.csv.gz --plot year.png
  iosonde climate jobs.csv --validate            what a prediction from metrics would be worth
  iosonde climate jobs.csv --motifs              which jobs do the same, from what they did

Dates are UTC. docs/methods/climate.md says how changes are found, and what was measured.
"""


def main(arguments: Sequence[str]) -> int:
    """Print changes, events and climates, or write them as data."""
    args = _parse(arguments)
    with job_options.notes_last() as note:
        return _answer(args, note)


def _answer(args: argparse.Namespace, note: Note) -> int:
    rows = job_options.table_of(args, note)
    if args.motifs:
        show(answers.motifs(rows), args)
        return 0
    found = _climate(rows, args)
    if args.plot is not None:
        draw(found.picture(), args, zone=UTC)
    show(found, args)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "What changed for good: when, how much, what else changed with it, and what did not."
    parser = options.Parser("climate", summary, EXAMPLES)
    add = parser.add_argument
    job_options.add_tables(parser)
    add("--file-system", metavar="NAME", help=parameters.ONE_FILE_SYSTEM)
    add("--motif", metavar="NAME", help=parameters.ONE_MOTIF)
    add("--on", metavar="DATE", help="changes around this date (UTC)")
    parser.add_range()
    add("--validate", action="store_true", help="print the value of a prediction from metrics")
    add("--motifs", action="store_true", help="clusters of jobs instead, from what they did")
    told = "draw it: .png, .svg, .pdf, or .json: what is drawn"
    parser.add_picture(told, 12.0)
    parser.add_data(("json", "csv"))
    args = parser.parse(arguments)
    if args.motifs and (args.on or args.validate or args.plot):
        raise UsageError("--motifs does not go with --on, --validate or --plot")
    return args


def _climate(rows: JobTable, args: argparse.Namespace) -> ClimateAnswer:
    from iosonde.model.units import parse_time

    now_ns = options.now_ns()
    span = options.time_range(args, now_ns)
    # A day of the answer is one in UTC, whatever the zone of this machine.
    day_ns = parse_time(args.on, now_ns, UTC) if args.on else None
    return answers.climate(
        rows, args.file_system, args.motif, span, day_ns=day_ns, validate=args.validate
    )
