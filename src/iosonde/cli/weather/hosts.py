"""iosonde now --hosts: hosts x targets, and the verdict node or storage."""

from __future__ import annotations

import argparse

from iosonde.cli.shared import options
from iosonde.cli.shared.render import show
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.units import parse_time
from iosonde.weather.fleet import answers

_SHOWN = 20


def add_hosts(parser: options.Parser) -> None:
    """Add --hosts, and its dependent options."""
    group = parser.add_argument_group("hosts beside each other")
    told = "this node or the storage: every host beside the others, target by target"
    group.add_argument("--hosts", action="store_true", help=told)
    group.add_argument("--at", metavar="TIME", help="the hour around this time (default: now)")
    group.add_argument("--since", metavar="TIME", help="begin of another span, from samples")
    group.add_argument("--until", metavar="TIME", help="end of that span")
    told = f"hosts to print (default: {_SHOWN})"
    group.add_argument("-n", "--most", type=_count, default=_SHOWN, metavar="N", help=told)


def is_past(args: argparse.Namespace) -> bool:
    """True if the question is about samples rather than live states."""
    return bool(args.at or args.since or args.until)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of hosts; expected 1 or more")
    return int(text)


def answer(args: argparse.Namespace) -> int:
    """Print the sentence and the matrix of hosts and targets."""
    root, now_ns = options.store_root(args), options.now_ns()
    span = _span(args, now_ns)
    found = answers.hosts(root, now_ns, span, most=args.most)
    if found.is_empty:
        raise NothingMeasuredError(
            f"no host probes anything in {options.store_name(args)}"
            + (" at that time" if span else ""),
            expected="a running probe on some hosts",
            hint="--at for the past, or --store",
        )
    show(found, args)
    return 0


def _span(args: argparse.Namespace, now_ns: int) -> tuple[int, int] | None:
    since, until = options.time_range(args, now_ns)
    if args.at is None:
        return None if since is None and until is None else (since or 0, until or now_ns)
    if since is not None or until is not None:
        raise UsageError("--at and a range exclude each other", hint="--since and --until alone")
    return answers.around(parse_time(args.at, now_ns))
