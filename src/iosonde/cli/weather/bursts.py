"""iosonde bursts: seconds in which operations waited, relative to the rest of the same run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.cli.shared.render import show
from iosonde.model.errors import UsageError
from iosonde.model.units import parse_duration
from iosonde.weather.bursts import answers

EXAMPLES = """\
  iosonde bursts                      every run of the last day
  iosonde bursts lustre02 --since 2017-07-09 --until 2017-07-10
  iosonde bursts mdw-i0 --window 500ms
  iosonde bursts mdw                  all runs whose ids begin so
  iosonde bursts /work@yesterday --format json

The side is a target (by name or path), run, host or period as 'iosonde compare' takes it. See docs/methods/bursts.md.
"""
_FORMATS = ("json", "csv")


def main(arguments: Sequence[str]) -> int:
    """Print the bursts of every requested run."""
    args = _parse(arguments)
    now_ns = options.now_ns()
    span, ops = options.time_range(args, now_ns), tuple(args.op) if args.op else None
    root = options.store_root(args)
    show(answers.bursts(root, args.what, span, now_ns, ops=ops, window_ns=args.window), args)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Short spans in which operations waited: start, length, factor, share, what the median says."
    parser = options.Parser("bursts", summary, EXAMPLES)
    add = parser.add_argument
    add("what", nargs="?", help="a target, run, host or period (default: all)")
    parser.add_op()
    parser.add_range()
    window = options.reads(parse_duration)
    add(
        "--window",
        type=window,
        metavar="TIME",
        help="length of a window (default: the shortest that the operations allow, from 100ms)",
    )
    parser.add_data(_FORMATS)
    parser.add_store()
    args = parser.parse(arguments)
    if args.window == 0:
        raise UsageError("a window of 0 is not possible", expected="a window above 0")
    return args
