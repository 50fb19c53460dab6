"""iosonde jobs: which jobs there are to explain, newest or slowest first."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import get_args

from iosonde.cli.shared import job_options, options
from iosonde.cli.shared.job_choice import Note
from iosonde.cli.shared.text import table
from iosonde.engine.files import csv_text
from iosonde.jobs import answers
from iosonde.jobs.table.listing import JOB_COLUMNS, JobFilter, JobList, ListedJob, Sort
from iosonde.model import parameters
from iosonde.model.amounts import amount, scale_of
from iosonde.model.json_types import as_json
from iosonde.model.text import clean_text
from iosonde.model.units import about_length, format_count, format_factor, format_time

_LEFT = ("job", "run", "user", "began", "kind", "file system", "state")
_HEAD = (*_LEFT, "ran", "nodes", "rate", "of peak", "slower")
_LESS = ("of peak", "state", "run", "file system", "nodes", "kind", "rate")
"""Columns that go, one after the other, where the terminal is narrow."""
EXAMPLES = """\
  iosonde jobs                            the newest jobs of the store
  iosonde jobs --slow --since -2d         slow ones of the last two days, the slowest first
  iosonde jobs --user ann --sort slowness
  iosonde jobs --node n0017 --since 2026-11-02 --until 2026-11-03
  iosonde jobs --search 'vpic write'      in id, step, name, user, kind or file system
  iosonde jobs jobs.csv --mapping site.toml --limit 0 --format csv
  iosonde explain --job 4711              why was this one slow

Slower: times as long as the median of its kind, by the I/O rate or, of jobs that only the scheduler recorded,
by the run time (docs/jobs.md).
"""


def main(arguments: Sequence[str]) -> int:
    """Print jobs, newest or slowest first."""
    args = _parse(arguments)
    with job_options.notes_last() as note:
        return _list(args, note)


def _list(args: argparse.Namespace, note: Note) -> int:
    now_ns = options.now_ns()
    since_ns, until_ns = options.time_range(args, now_ns)
    which = JobFilter(
        words=args.search.split(),
        since_ns=since_ns,
        until_ns=until_ns,
        user=args.user,
        account=args.account,
        node=args.node,
        file_system=args.file_system,
        slow=args.slow,
    )
    jobs = job_options.table_of(args, note, listed=True)
    sort: Sort = args.sort or ("slowness" if args.slow else "time")
    found = answers.list_jobs(jobs, which, args.limit or None, sort)
    if args.format == "table":
        _print(found, sort, now_ns)
    elif args.format == "json":
        job_options.write(json.dumps(as_json(found), indent=2) + "\n", args.output)
    else:
        text = csv_text(as_json(found.jobs), JOB_COLUMNS)
        job_options.write(text, args.output)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = options.Parser("jobs", "Jobs of the store, newest or slowest first.", EXAMPLES)
    job_options.add_tables(parser)
    add = parser.add_argument
    add("--search", default="", metavar="WORDS", help=parameters.JOB_SEARCH)
    parser.add_range()
    add("--user", metavar="NAME", help=parameters.JOBS_OF_USER)
    add("--account", metavar="NAME", help=parameters.JOBS_OF_ACCOUNT)
    add("--node", metavar="NAME", help=parameters.JOBS_OF_NODE)
    add("--file-system", metavar="NAME", help=parameters.ONE_FILE_SYSTEM)
    add("--slow", action="store_true", help=parameters.JOBS_SLOW)
    add("--sort", choices=get_args(Sort), help=parameters.JOBS_SORT + " (default with --slow)")
    add("--limit", type=int, default=20, metavar="N", help="number of jobs (20; 0: all)")
    parser.add_data(("json", "csv"))
    args = parser.parse(arguments)
    args.limit = max(0, args.limit)
    return args


def _print(found: JobList, sort: Sort, now_ns: int) -> None:
    if not found.jobs:
        print("No job matches." if found.n else "There is no job.")
    else:
        print(_fitted([_row(one, now_ns) for one in found.jobs]))
    if more := found.total - len(found.jobs):
        ones = "one" if more == 1 else "ones"
        what = f"older {ones}" if sort == "time" else f"more {ones}, less slow or unknown"
        print(f"and {format_count(more)} {what} (--limit 0: all)")


def _fitted(rows: Sequence[dict[str, str]]) -> str:
    """Columns of which something is known."""
    names = [name for name in _HEAD if name == "job" or any(row[name] for row in rows)]
    left = sum(name in _LEFT for name in names)
    return table(names, [[row[name] for name in names] for row in rows], left, _LESS)


def _row(one: ListedJob, now_ns: int) -> dict[str, str]:
    rate, share, slower = one.performance, one.fraction_of_peak, one.slowness
    by = " (time)" if one.slowness_by == "run time" else ""
    began = "" if one.start_ns is None else format_time(one.start_ns, now_ns)
    going = "goes on" if one.end_ns is None and one.start_ns is not None else ""
    texts = {
        "job": one.job,
        "run": "" if one.run == one.motif else one.run,
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
