"""iosonde why: slow target, start, component, load and remedy, in one sentence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.cli.shared.in_time import add_timeout, answered_in_time
from iosonde.cli.shared.render import print_blocks, put_json
from iosonde.cli.shared.targets import names_of
from iosonde.engine.left_out import with_left_out
from iosonde.engine.states import read_states
from iosonde.model.errors import UsageError
from iosonde.model.units import parse_time
from iosonde.why.answers import WhyQuestion, event_called, why

EXAMPLES = """\
  iosonde why                          what is slow now; else the last slow stretch of a day
  iosonde why /work                    all servers of /work
  iosonde why /work --at 14:05         the stretch that was under way then
  iosonde why EVENT                    an event's id, as 'iosonde events --format json' prints it
  iosonde why /work --json

The more iosonde knows the more it says: several targets or servers probed side by side, records of nodes and jobs,
sacct, servers' records, runs of 'bench bandwidth'. docs/why.md says what each link needs.
"""


def main(arguments: Sequence[str]) -> int:
    """Print the sentence and its evidence."""
    return answered_in_time(_parse(arguments), _answer)


def _answer(args: argparse.Namespace) -> int:
    root, now_ns = options.store_root(args), options.now_ns()
    at_ns = None if args.at is None else parse_time(args.at, now_ns)
    event = event_called(root, args.what) if args.what else None
    if event is not None and at_ns is not None:
        raise UsageError("an event's id and --at are two questions", hint="one of both")
    targets: list[str] = []
    if args.what and event is None:
        targets = names_of(root, [args.what], read_states(root), ())
    question = WhyQuestion(
        targets=tuple(targets),
        at_ns=at_ns,
        event=event,
        systems=tuple(args.system) or None,
        zone=options.local_zone(),
        model=not args.no_model,
    )
    found = why(root, question, now_ns)
    if args.format == "json":
        put_json(with_left_out(found.data(), root), None)
    else:
        print_blocks(found.shown())
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Why storage is slow: what, since when, which part, whose load, and what would help."
    parser = options.Parser("why", summary, EXAMPLES)
    add = parser.add_argument
    add("what", nargs="?", metavar="TARGET|EVENT", help="target, or an event's id (default: all)")
    add("--at", metavar="TIME", help="the slow stretch at this time: -2h, 14:05, 2026-07-01T12:00")
    told = "file system whose records count, as 'iosonde import' names it; may be repeated"
    add("--system", action="append", default=[], metavar="NAME", help=told)
    add("--no-model", action="store_true", help="no fit of the queue model, which takes seconds")
    parser.add_text_or_json()
    parser.add_store()
    add_timeout(parser, "10m")
    return parser.parse(arguments)
