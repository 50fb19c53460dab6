"""iosonde explain --diagram: a job among earlier runs of its kind, metric by metric."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from iosonde.cli.shared import job_options
from iosonde.cli.shared.job_choice import Note
from iosonde.engine.files import csv_text
from iosonde.jobs import answers
from iosonde.jobs.table.leakage import judged
from iosonde.jobs.umami.records import as_json, flat_records
from iosonde.model.errors import MissingPartError, NothingMeasuredError, UsageError

if TYPE_CHECKING:
    from iosonde.jobs.umami.diagram import Umami
    from iosonde.model.jobs import JobTable


def show_diagram(args: argparse.Namespace, note: Note) -> None:
    """Print the diagram of a job, or its numbers."""
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


def _sentence(table: JobTable, args: argparse.Namespace) -> str:
    """Sentence of explain about the run; "" without a performance."""
    try:
        _, verdict, _ = answers.explain_job(
            judged(table), args.job, args.step, history=args.history, last=args.last
        )
    except (UsageError, NothingMeasuredError, MissingPartError):
        return ""
    return verdict.sentence


def _csv(found: Umami) -> str:
    names, rows = flat_records(found)
    return csv_text(rows, names)
