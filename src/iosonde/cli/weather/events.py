"""iosonde events: events with start, end, recovery, kernel evidence and recurrence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.cli.shared.in_time import add_timeout, answered_in_time
from iosonde.cli.shared.render import show
from iosonde.cli.shared.targets import names_of, require_samples
from iosonde.weather.events import answers

EXAMPLES = """\
  iosonde events                      slow stretches, hangs and outages of the last week
  iosonde events --recurring          what comes back: "Saturdays 02:00-05:30, 8 of 8 weeks"
  iosonde events /work --since -30d
  iosonde events --format json        with the stacks that were waiting
  iosonde events --format parquet -o events.parquet
"""


def main(arguments: Sequence[str]) -> int:
    """Print the events of a time range, oldest first."""
    return answered_in_time(_parse(arguments), _answer)


def _answer(args: argparse.Namespace) -> int:
    root, now_ns = options.store_root(args), options.now_ns()
    if args.recurring:
        args.since = None
    span = options.time_range(args, now_ns)
    log = answers.event_log(root, span, now_ns)
    if args.target:
        heard = [event.target for event in log.events if event.target]
        args.target = names_of(root, args.target, log.states, heard)
    if args.recurring:
        until_ns, zone = span[1] or now_ns, options.local_zone()
        found = answers.recurring(root, until_ns, args.seed, zone, args.target)
        if not found.places:
            require_samples(root)
        show(found, args)
        return 0
    happened = answers.events(
        root,
        log,
        span,
        now_ns,
        targets=args.target,
        agent_only=args.agent_events,
        write_back=True,
    )
    if args.format == "table" and happened.is_empty:
        require_samples(root)
    show(happened, args)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "What happened: slow stretches, operations that hung, targets that could not be used."
    parser = options.Parser("events", summary, EXAMPLES)
    add = parser.add_argument
    add("target", nargs="*", help="name or path of a watched target (default: all)")
    parser.add_range(since="-7d")
    add("--agent-events", action="store_true", help="events of the agent only, no slow stretches")
    add("--recurring", action="store_true", help="daily and weekly recurrence within 8 weeks")
    add("--seed", type=int, default=0, metavar="N", help="random seed of permutations (default: 0)")
    parser.add_data()
    parser.add_store()
    add_timeout(parser, "10m")
    return parser.parse(arguments)
