"""iosonde explain: reasons for a slow job, in one sentence with evidence, and its diagram."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from iosonde.cli.diagram import show_diagram
from iosonde.cli.shared import job_options, options
from iosonde.cli.shared.job_choice import Note, settle
from iosonde.cli.shared.terminal import one_line
from iosonde.cli.shared.text import print_lines
from iosonde.jobs import answers
from iosonde.jobs.explain.data import SCHEMA_VERSION, explanation_data
from iosonde.jobs.scheduled.data import story_data
from iosonde.jobs.scheduled.text import story_text, text_block
from iosonde.jobs.table.leakage import judged
from iosonde.jobs.table.runs import find_run
from iosonde.model import parameters
from iosonde.model.errors import UsageError

if TYPE_CHECKING:
    from iosonde.jobs.explain.words import JobVerdict
    from iosonde.model.jobs import Job, JobTable

EXAMPLES = """\
  iosonde explain --job 4711                     a job of the store
  iosonde explain 4711                           the same, where no file is called 4711
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
            show_diagram(args, note)
            return 0
        settle(args, note)
        records = [] if args.table else _records(args, note)
        if records and _answer_scheduled(args, records):
            return 0
        table = judged(job_options.table_of(args, note))
        runs = int((table.job_id == args.job).sum())
        if runs > 1 and args.step is None and args.plot is None:
            _answer_several(table, args, note)
        else:
            _answer(table, args, records, note)
    return 0


def _records(args: argparse.Namespace, note: Note) -> list[Job]:
    """Stored records of the job, which may be named by a part of its id."""
    root = job_options.only_store(args)
    records = answers.records_of(root, args.job)
    if records:
        return records
    args.job = answers.meant_job(root, args.job, note)
    return answers.records_of(root, args.job)


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


def _answer_scheduled(args: argparse.Namespace, records: list[Job]) -> bool:
    """Print a job with a scheduler's records only; False for other jobs."""
    if answers.has_performance(records):
        return False
    root = job_options.only_store(args)
    found = answers.scheduled_job(root, records, options.now_ns(), args.step)
    if found is None:
        return False
    if args.plot is not None:
        raise UsageError(
            f"job {args.job} has no diagram: only a scheduler recorded it",
            expected="its Darshan log, or a table with its performance",
            hint="'iosonde explain' without --plot",
        )
    if args.format == "json":
        _write(story_data(*found), args)
    elif args.format == "text":
        job_options.write(story_text(found.words), args.output)
    else:
        print_lines(found.words.sentence, found.words.lines())
    return True


def _answer(table: JobTable, args: argparse.Namespace, records: list[Job], note: Note) -> None:
    """Print the answer for one run: its sentence, the evidence, the diagram."""
    found, verdict, diagram = answers.explain_job(
        table, args.job, args.step, history=args.history, last=args.last
    )
    beside = _meanwhile(table, args, records)
    if args.format == "json":
        data = {"meanwhile": None if beside is None else story_data(*beside)}
        _write(explanation_data(found, verdict) | data, args)
    else:
        _print(verdict, beside, args)
    if args.format == "table" or args.plot is not None:
        if args.format == "table":
            print()
            job_options.print_diagram(diagram, args)
        if args.plot is not None:
            job_options.plot(diagram, args, verdict.sentence)
        for text in map(str, found.notes) if args.verbose else ():
            if text not in diagram.notes:  # those are below the diagram
                note(text)


def _answer_several(table: JobTable, args: argparse.Namespace, note: Note) -> None:
    """Print the sentence of every run of a job, worst first."""
    found, more = answers.explain_runs(table, args.job, history=args.history, last=args.last)
    for name, one, _ in found if args.verbose else ():
        for text in one.notes:
            note(f"{name}: {text}")
    if args.format == "json":
        data = {"schema_version": SCHEMA_VERSION, "job_id": args.job, "left_out": more}
        told = [{"run": name, **explanation_data(one, verdict)} for name, one, verdict in found]
        _write(data | {"runs": told}, args)
        return
    width = max(len(name) for name, _, _ in found)
    for name, _, verdict in found:
        print(f"{one_line(name):<{width}}  {one_line(verdict.sentence)}")
    if more:
        print(f"and {more} more, nearer to the best of their kind")
    print(
        f"\n--step {quote(one_line(found[0][0]))} shows what stood out in that run, and its diagram"
    )


def _write(data: dict[str, Any], args: argparse.Namespace) -> None:
    job_options.write(json.dumps(data, indent=2) + "\n", args.output)


def _meanwhile(
    table: JobTable, args: argparse.Namespace, records: list[Job]
) -> answers.ScheduledAnswer | None:
    """Data of probes and the scheduler for a stored run."""
    if args.table:
        return None
    root = job_options.only_store(args)
    row = find_run(table, args.job, args.step)
    known = records or answers.records_of(root, args.job)
    return answers.meanwhile(root, table, row, options.now_ns(), known)


def _print(
    verdict: JobVerdict, beside: answers.ScheduledAnswer | None, args: argparse.Namespace
) -> None:
    evidence = [line for line in verdict.lines() if args.verbose or line != verdict.history]
    more = () if beside is None else beside.words
    if args.format == "text":
        topics = [("Evidence", evidence)]
        if more:
            topics += [("Storage", list(more.storage)), ("Run time", list(more.run_time))]
            topics += [("Counters", list(more.own_io))]
        job_options.write(text_block(verdict.sentence, topics), args.output)
        return
    print(one_line(verdict.sentence))
    beside_it = () if not more else (*more.storage, *more.run_time, *more.own_io)
    for line in (*evidence, *beside_it):
        print(f"  - {one_line(line)}")
