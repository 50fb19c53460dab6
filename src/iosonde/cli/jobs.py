"""iosonde jobs: which jobs there are to explain, newest first."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from iosonde.cli.shared import job_options, options
from iosonde.cli.shared.job_choice import Note
from iosonde.cli.shared.text import count, table
from iosonde.engine.files import csv_text
from iosonde.jobs import answers
from iosonde.jobs.table.listing import ListedJob, jobs_data
from iosonde.model import parameters
from iosonde.model.amounts import amount, scale_of
from iosonde.model.text import clean_text
from iosonde.model.units import format_time

EXAMPLES = """\
  iosonde jobs                            the newest jobs of the store
  iosonde jobs --search 'vpic write'      in id, step, kind or file system
  iosonde jobs jobs.csv --mapping site.toml --limit 0 --format csv
  iosonde explain --job 4711              why was this one slow
"""
_HEAD = ("job", "run", "began", "kind", "file system", "rate", "of peak")


def main(arguments: Sequence[str]) -> int:
    """Print jobs, newest first."""
    args = _parse(arguments)
    with job_options.notes_last() as note:
        return _list(args, note)


def _list(args: argparse.Namespace, note: Note) -> int:
    now_ns = options.now_ns()
    jobs = job_options.table_of(args, note, listed=True)
    found = answers.list_jobs(jobs, args.search.split(), args.limit or None)
    if args.format == "table":
        rows = [_row(one, now_ns) for one in found.jobs]
        nothing = "no job is like that" if found.n else "there is no job"
        print(table(_HEAD, rows, left=5) if rows else nothing)
        if more := found.n_found - len(found.jobs):
            print(f"and {count(more)} older {'one' if more == 1 else 'ones'} (--limit 0: all)")
    elif args.format == "json":
        job_options.write(json.dumps(jobs_data(found), indent=2) + "\n", args.output)
    else:
        text = csv_text((one._asdict() for one in found.jobs), ListedJob._fields)
        job_options.write(text, args.output)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = options.Parser("jobs", "Jobs whose performance is known, newest first.", EXAMPLES)
    job_options.add_tables(parser)
    parser.add_argument("--search", default="", metavar="WORDS", help=parameters.JOB_SEARCH)
    parser.add_argument(
        "--limit", type=int, default=20, metavar="N", help="number of jobs (20; 0: all)"
    )
    parser.add_data(("json", "csv"))
    args = parser.parse(arguments)
    args.limit = max(0, args.limit)
    return args


def _row(one: ListedJob, now_ns: int) -> tuple[str, ...]:
    rate, share = one.performance, one.fraction_of_peak
    return (
        *(clean_text(one.job), clean_text("" if one.run == one.motif else one.run)),
        "" if one.start_ns is None else format_time(one.start_ns, now_ns),
        *(clean_text(one.motif), clean_text(one.file_system)),
        "" if rate is None else amount(rate, scale_of(one.unit, [rate])).replace(" /s", "/s"),
        "" if share is None else f"{share:.0%}",
    )
