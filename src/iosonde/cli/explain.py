"""iosonde explain: reasons for a slow job, in one sentence with evidence, and its diagram."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.cli.shared import job_options, options
from iosonde.cli.shared.job_choice import Note, settle
from iosonde.cli.shared.render import draw, show
from iosonde.jobs import answers
from iosonde.jobs.scheduled import answers as stored
from iosonde.jobs.table.answers import find_run, judged
from iosonde.model import parameters
from iosonde.model.errors import MissingPartError, NothingMeasuredError, UsageError

if TYPE_CHECKING:
    from iosonde.jobs.scheduled.answers import Meant
    from iosonde.model.jobs import Job, JobTable

EXAMPLES = """\
  iosonde explain --job 4711                     a job of the store
  iosonde explain 4711                           the same, where no file is called 4711
  iosonde explain --job 4711_7                   a task of an array; 4711: all of its tasks; also 600+1, 4711.batch
  iosonde explain --job 4711 --step '#2'         its second run; without --step a line a run, worst first
  iosonde explain jobs.csv --job 4711 --mapping site.toml
  iosonde explain --job 4711 --plot 4711.png     the diagram as a picture
  iosonde explain --job 4711 --format json       every metric that was looked at, with its evidence
  iosonde explain --job 4711 --format text       72 columns of plain text, for the mail of a job's epilogue
  iosonde explain --diagram --job 4711           the diagram alone: docs/umami.md says how to read it
  iosonde explain --diagram jobs.csv --job 4711 --metric cf_bandwidth_ratio --format csv

A job that only the scheduler recorded (iosonde import sacct.txt) is explained by what probes saw while it
ran, by its run time among earlier ones, and by counters of its nodes (docs/jobs.md).
Others are compared with earlier runs of the same program, file mode, direction and size on the same file system;
--history all takes the later ones too. What stood out need not be the cause: docs/umami.md says how it is found.
"""


def main(arguments: Sequence[str]) -> int:
    """Print the reasons for a slow job."""
    args = _parse(arguments)
    with job_options.notes_last() as note:
        if args.diagram:
            _show_diagram(args, note)
            return 0
        settle(args, note)
        found = None if args.table else _meant(args, note)
        if found is not None and found.whole:
            _show_tasks(args, found)
            return 0
        records = [] if found is None else stored.records_of(job_options.only_store(args), args.job)
        if records and _show_scheduled(args, records):
            return 0
        table = judged(job_options.table_of(args, note))
        runs = int((table.job_id == args.job).sum())
        if runs > 1 and args.step is None and args.plot is None:
            _show_runs(table, args, note)
        else:
            _show(table, args, records, note)
    return 0


def _meant(args: argparse.Namespace, note: Note) -> Meant | None:
    """Jobs of the store that the id, or a part of it, means; ``args.job`` becomes the id of a single one."""
    root = job_options.only_store(args)
    found = stored.meant(root, args.job)
    if found is None:
        args.job = stored.meant_job(root, args.job, note)
        found = stored.meant(root, args.job)
    if found is not None and found.remark:
        note(found.remark)
    if found is not None and not found.whole:
        args.job = found.jobs[0].written
    return found


def _show_tasks(args: argparse.Namespace, found: Meant) -> None:
    """Tasks of an array side by side. Raises UsageError: options about one run."""
    if args.step is not None or args.plot is not None:
        option = "--step" if args.step is not None else "--plot"
        raise UsageError(
            f"{option} is for one job; {args.job} has {len(found.jobs)} {found.part}s",
            expected=f"one of them, such as --job {found.jobs[0].written}",
        )
    root = job_options.only_store(args)
    told = answers.explain_tasks(
        root, found, options.now_ns(), history=args.history, last=args.last
    )
    _show_or_mail(told, args)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Why was this job slow? What stood out, what history says of it, what was as usual."
    parser = options.Parser("explain", summary, EXAMPLES)
    job_options.add_job(parser)
    told = "also: what performance goes with over all runs, and columns without a description"
    parser.add_argument("-v", "--verbose", action="store_true", help=told)
    told = "the diagram alone: every metric of the job within its history"
    parser.add_argument("--diagram", action="store_true", help=told)
    parser.add_argument("--metric", action="append", metavar="M", help=parameters.UMAMI_METRIC)
    parser.add_data(("json", "text", "csv"))
    args = parser.parse(arguments)
    if args.format == ("text" if args.diagram else "csv"):
        wanted = "table, json, csv" if args.diagram else "table, json, text"
        raise UsageError(f"there is no {args.format} of this answer", expected=f"one of {wanted}")
    if args.metric and not args.diagram:
        raise UsageError("--metric chooses rows of the diagram", hint="--diagram --metric M")
    return args


def _show_scheduled(args: argparse.Namespace, records: list[Job]) -> bool:
    """A job of the store of which nothing but a scheduler's records is known; False: it is none."""
    if stored.has_performance(records):
        return False
    root = job_options.only_store(args)
    found = stored.scheduled_job(root, records, options.now_ns(), args.step)
    if found is None:
        return False
    if args.plot is not None:
        raise UsageError(
            f"job {args.job} has no diagram: only a scheduler recorded it",
            expected="its Darshan log, or a table with its performance",
            hint="'iosonde explain' without --plot",
        )
    _show_or_mail(found, args)
    return True


def _show_or_mail(
    found: answers.JobAnswer | stored.ScheduledAnswer | answers.TasksAnswer,
    args: argparse.Namespace,
) -> None:
    if args.format == "text":
        options.put_text(found.mail(), args.output)
    else:
        show(found, args)


def _show(table: JobTable, args: argparse.Namespace, records: list[Job], note: Note) -> None:
    """One run: its sentence, the evidence, the diagram."""
    asked = {"history": args.history, "last": args.last}
    found = answers.explain_job(table, args.job, args.step, **asked)
    found = found._replace(beside=_meanwhile(table, args, records), verbose=args.verbose)
    found = found._replace(diagram=found.diagram._replace(most=job_options.shown(args)))
    _show_or_mail(found, args)
    if args.plot is not None:
        draw(found.picture(), args, zone=options.local_zone())
    for text in found.notes() if args.format == "table" or args.plot is not None else ():
        note(text)


def _show_runs(table: JobTable, args: argparse.Namespace, note: Note) -> None:
    """The sentence of every run of a job, worst first."""
    found = answers.explain_runs(table, args.job, history=args.history, last=args.last)
    for text in found.notes() if args.verbose else ():
        note(text)
    show(found, args)


def _meanwhile(
    table: JobTable, args: argparse.Namespace, records: list[Job]
) -> stored.ScheduledAnswer | None:
    """What probes and the scheduler say of a run of the store."""
    if args.table:
        return None
    root = job_options.only_store(args)
    row = find_run(table, args.job, args.step)
    known = records or stored.records_of(root, args.job)
    return stored.meanwhile(root, table, row, options.now_ns(), known)


def _show_diagram(args: argparse.Namespace, note: Note) -> None:
    """The diagram of a job alone, or its numbers."""
    table = job_options.table_of(args, note)
    asked = {"history": args.history, "last": args.last}
    found = answers.job_diagram(table, args.job, args.step, metrics=args.metric, **asked)
    found = found._replace(most=job_options.shown(args))
    if args.plot is not None:
        sentence = _sentence(table, args)
        draw(found._replace(sentence=sentence).picture(), args, zone=options.local_zone())
    show(found, args)


def _sentence(table: JobTable, args: argparse.Namespace) -> str:
    """What is said of the run; "" where nothing says how fast it was."""
    asked = {"history": args.history, "last": args.last}
    try:
        return answers.explain_job(judged(table), args.job, args.step, **asked).sentence
    except (UsageError, NothingMeasuredError, MissingPartError):
        return ""
