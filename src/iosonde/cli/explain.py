"""iosonde explain: why was this job slow, in one sentence with its evidence, and its diagram."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from iosonde.cli.shared import job_options, options
from iosonde.cli.shared.job_choice import Note
from iosonde.jobs import answers
from iosonde.jobs.explain.data import SCHEMA_VERSION, explanation_data
from iosonde.jobs.table.leakage import judged
from iosonde.model.text import clean_text

if TYPE_CHECKING:
    from iosonde.jobs.explain.words import JobVerdict
    from iosonde.model.jobs import JobTable

EXAMPLES = """\
  iosonde explain --job 4711                     a job of the store
  iosonde explain 4711                           the same, where no file is called 4711
  iosonde explain --job 4711 --step '#2'         its second run; without --step a line a run, worst first
  iosonde explain jobs.csv --job 4711 --mapping site.toml
  iosonde explain --job 4711 --plot 4711.png     the diagram as a picture
  iosonde explain --job 4711 --format json       every metric that was looked at, with its evidence

Compared with earlier runs of the same program, file mode, direction and size on the same file system;
--history all takes the later ones too. What stood out need not be the cause: docs/umami.md says how it is found.
"""


def main(arguments: Sequence[str]) -> int:
    """Print why a job was slow."""
    args = _parse(arguments)
    with job_options.notes_last() as note:
        table = judged(job_options.table_of(args, note))
        runs = int((table.job_id == args.job).sum())
        if runs > 1 and args.step is None and args.plot is None:
            _answer_several(table, args, note)
        else:
            _answer(table, args, note)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Why was this job slow? What stood out, what history says of it, what was as usual."
    parser = options.Parser("explain", summary, EXAMPLES)
    job_options.add_job(parser)
    told = "also: what performance goes with over all runs, and which columns nobody has described"
    parser.add_argument("-v", "--verbose", action="store_true", help=told)
    parser.add_data(("json",))
    return parser.parse(arguments)


def _answer(table: JobTable, args: argparse.Namespace, note: Note) -> None:
    """One run: its sentence, the evidence, the diagram."""
    found, verdict, diagram = answers.explain_job(
        table, args.job, args.step, history=args.history, last=args.last
    )
    if args.format == "json":
        _write(explanation_data(found, verdict), args)
    else:
        _print(verdict, args.verbose)
    if args.format == "table" or args.plot is not None:
        if args.format == "table":
            print()
            job_options.print_diagram(diagram)
        if args.plot is not None:
            job_options.plot(diagram, args)
        for text in map(str, found.notes) if args.verbose else ():
            if text not in diagram.notes:  # those are below the diagram
                note(text)


def _answer_several(table: JobTable, args: argparse.Namespace, note: Note) -> None:
    """The sentence of every run of a job, worst first."""
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
        print(f"{clean_text(name):<{width}}  {clean_text(verdict.sentence)}")
    if more:
        print(f"and {more} more, nearer to the best of their kind")
    print(
        f"\n--step {quote(clean_text(found[0][0]))} shows what stood out in that run, and its diagram"
    )


def _write(data: dict[str, Any], args: argparse.Namespace) -> None:
    job_options.write(json.dumps(data, indent=2) + "\n", args.output)


def _print(verdict: JobVerdict, verbose: bool) -> None:
    print(verdict.sentence)
    for line in verdict.lines():
        if verbose or line != verdict.history:
            print(f"  - {line}")
