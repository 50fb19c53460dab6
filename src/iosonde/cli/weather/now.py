"""iosonde now: one sentence per target, from the states of running probes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.cli.shared.in_time import add_timeout, answered_in_time
from iosonde.cli.shared.render import show
from iosonde.cli.weather import hosts
from iosonde.engine.states import read_states
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.weather.slowdown import answers

EXAMPLES = """\
  iosonde now                     every watched target, the worst first
  iosonde now /work
  iosonde now --format json       with the numbers behind the sentences
  iosonde now --hosts             this node or the storage: every host beside the others, the slowest first
  iosonde now --hosts --at 14:05  the hour around an instant, from samples
  iosonde now --hosts --store '/shared/iosonde/*'
"""


def main(arguments: Sequence[str]) -> int:
    """Print the verdict of every requested target."""
    parser = options.Parser(
        "now", "Is it slow? One sentence a target, with its evidence.", EXAMPLES
    )
    parser.add_argument("target", nargs="*", help="name or path of a watched target (default: all)")
    parser.add_text_or_json()
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="print notes about each target"
    )
    hosts.add_hosts(parser)
    parser.add_store(states_only=True)
    add_timeout(parser, "60s")
    args = parser.parse(arguments)
    if not args.hosts:
        if hosts.is_past(args):
            raise UsageError("--at, --since and --until need --hosts", hint="'iosonde events'")
        return answered_in_time(args, _answer)
    if args.target:
        raise UsageError("--hosts shows all targets", expected="no TARGET beside it")
    args.states_only = not hosts.is_past(args)
    return answered_in_time(args, hosts.answer)


def _answer(args: argparse.Namespace) -> int:
    root, now_ns = options.store_root(args), options.now_ns()
    states = read_states(root)
    if not states:
        raise NothingMeasuredError(
            f"no probe states in {options.store_name(args)}",
            expected="a running probe",
            hint="'iosonde probe DIR', or --store",
        )
    picked = (
        options.chosen(states, args.target) if args.target else answers.relevant(states, now_ns)
    )
    show(answers.now(states, now_ns, picked, verbose=args.verbose), args)
    return 0
