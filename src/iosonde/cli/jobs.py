"""iosonde jobs: list of jobs to explain, newest or slowest first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import get_args

from iosonde.cli.shared import job_options, options
from iosonde.cli.shared.job_choice import Note
from iosonde.cli.shared.render import show
from iosonde.jobs.table.answers import JobFilter, Sort, list_jobs
from iosonde.model import parameters

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
    show(list_jobs(jobs, which, args.limit or None, sort, now_ns=now_ns), args)
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
