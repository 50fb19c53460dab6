"""iosonde umami: a job among earlier runs of its kind, metric by metric."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.cli.shared import job_options, options
from iosonde.cli.shared.job_choice import Note
from iosonde.engine.files import csv_text
from iosonde.jobs import answers
from iosonde.jobs.table.leakage import judged
from iosonde.jobs.umami.records import as_json, flat_records
from iosonde.model import parameters
from iosonde.model.errors import MissingPartError, NothingMeasuredError, UsageError

if TYPE_CHECKING:
    from iosonde.jobs.umami.diagram import Umami
    from iosonde.model.jobs import JobTable

EXAMPLES = """\
  iosonde umami --job 4711                   of the store
  iosonde umami jobs.csv --job 4711 --mapping site.toml --plot 4711.png
  iosonde umami jobs.csv --job 4711 --step 2 --history all
  iosonde umami jobs.csv --job 4711 --metric cf_bandwidth_ratio --metric mds_cpu_mean_percent
  iosonde umami --job 4711 --last 30 --format json

The history are earlier runs of the same application, file mode and direction on the same file system.
docs/umami.md says how to read the diagram.
"""


def main(arguments: Sequence[str]) -> int:
    """Print the diagram of a job, or its numbers."""
    args = _parse(arguments)
    with job_options.notes_last() as note:
        return _show(args, note)


def _show(args: argparse.Namespace, note: Note) -> int:
    table = job_options.table_of(args, note)
    found = answers.umami(
        table,
        args.job,
        args.step,
        metrics=args.metric,
        last=args.last,
        history=args.history,
    )
    if args.plot is not None:
        job_options.plot(found, args, _sentence(table, args))
    if args.format == "table":
        job_options.print_diagram(found, args)
    else:
        text = json.dumps(as_json(found), indent=2) + "\n" if args.format == "json" else _csv(found)
        job_options.write(text, args.output)
    return 0


def _sentence(table: JobTable, args: argparse.Namespace) -> str:
    """What explain says of the run; "" where nothing says how fast it was."""
    try:
        _, verdict, _ = answers.explain_job(
            judged(table), args.job, args.step, history=args.history, last=args.last
        )
    except (UsageError, NothingMeasuredError, MissingPartError):
        return ""
    return verdict.sentence


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "A job among runs of its kind: every metric of it within its history."
    parser = options.Parser("umami", summary, EXAMPLES)
    job_options.add_job(parser)
    parser.add_argument("--metric", action="append", metavar="M", help=parameters.UMAMI_METRIC)
    parser.add_data(("json", "csv"))
    return parser.parse(arguments)


def _csv(found: Umami) -> str:
    names, rows = flat_records(found)
    return csv_text(rows, names)
