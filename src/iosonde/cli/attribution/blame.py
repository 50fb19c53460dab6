"""iosonde blame: causes of a slow event, or contributors to the operations of an interval."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.cli.shared.render import show
from iosonde.cli.shared.targets import target_called
from iosonde.jobs.answers import BlameQuestion, blame_report
from iosonde.model.errors import UsageError
from iosonde.model.units import parse_time

EXAMPLES = """\
  iosonde blame /work                          the last slow event of /work
  iosonde blame /work --at 14:05               the one that was under way then
  iosonde blame --since 14:00 --until 15:00    who did most in an hour; no probe is needed
  iosonde blame /work --by user --top 5
  iosonde blame --since -7d --band 20k:60k     nodes and jobs of moments with so many operations per second
  iosonde blame /work --format json

It needs what nodes or jobs did (collectl, mountstats, node_exporter, mmpmon, Lustre job_stats) and which job had which
node (sacct), both by 'iosonde import'. docs/blame.md says what the words mean and when nobody can be named.
"""
_GROUPINGS = ("job", "user", "account", "name", "node")
_UNITS = {"k": 1e3, "M": 1e6}


def main(arguments: Sequence[str]) -> int:
    """Print the causes, or that none is identifiable."""
    args = _parse(arguments)
    now_ns, root = options.now_ns(), options.store_root(args)
    since, until = options.time_range(args, now_ns)
    at = None if args.at is None else parse_time(args.at, now_ns)
    if at is not None and since is not None:
        raise UsageError("--at and --since are two questions", hint="one of both")
    systems = tuple(args.system) or None
    what = target_called(root, args.what)
    question = BlameQuestion(
        what, at, since, until, args.by, args.band, systems, not args.nodes_only
    )
    found = blame_report(root, question, now_ns, args.top)
    show(found, args)
    if found.unknown is not None and args.format != "json":
        options.note(f"iosonde: {found.unknown}")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = (
        "Who made a slow event or the operations of an interval: jobs, users, accounts or nodes."
    )
    parser = options.Parser("blame", summary, EXAMPLES)
    add = parser.add_argument
    add(
        "what",
        nargs="?",
        metavar="TARGET|EVENT",
        help="target (its last slow event), or an event's id",
    )
    add("--at", metavar="TIME", help="the slow event at this time, else the half hour around it")
    parser.add_range()
    add("--by", choices=_GROUPINGS, default="job", help="ranking (default: job)")
    told = "moments with a total from LOW to HIGH operations per second, such as 20k:60k"
    add("--band", type=options.reads(_band), metavar="LOW:HIGH", help=told)
    add("--top", type=int, default=10, metavar="N", help="rows (default: 10)")
    told = "file system or export whose records count, as 'iosonde import' names it; repeatable"
    add("--system", action="append", default=[], metavar="NAME", help=told)
    add("--nodes-only", action="store_true", help="records of nodes, although jobs have counters")
    parser.add_data(("json",))
    parser.add_store()
    args = parser.parse(arguments)
    if args.top < 1:
        raise UsageError(f"--top {args.top} shows nothing", expected="a number from 1 on")
    return args


def _band(text: str) -> tuple[float, float]:
    """Parse ``20k:60k``, ``3500:``, ``:1000``. Raises UsageError."""
    low, colon, high = text.partition(":")
    try:
        first, last = (_rate(word, empty) for word, empty in ((low, 0.0), (high, float("inf"))))
    except ValueError:
        colon, first, last = "", 0.0, 0.0
    if not colon or not 0 <= first < last:
        raise UsageError(f"{text!r} is no band", expected="LOW:HIGH, such as 20k:60k or 3500:")
    return first, last


def _rate(word: str, empty: float) -> float:
    word = word.strip()
    if not word:
        return empty
    return float(word.rstrip("kM")) * _UNITS.get(word[-1], 1.0)
