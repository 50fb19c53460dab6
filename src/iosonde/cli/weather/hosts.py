"""iosonde now --hosts: hosts x targets, and the verdict node or storage."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING

from iosonde.cli.shared import options
from iosonde.cli.shared.render import print_blocks
from iosonde.cli.shared.text import table, wrapped
from iosonde.engine.states import read_states
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.units import format_factor, format_time, parse_time
from iosonde.weather.peers.answers import peers

if TYPE_CHECKING:
    from iosonde.weather.fleet.answers import Fleet

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
    from iosonde.weather.fleet.answers import fleet_at, fleet_now
    from iosonde.weather.store import Store

    root, now_ns = options.store_root(args), options.now_ns()
    span = _span(args, now_ns)
    past = span is not None and fleet_at(Store(root), span, now_ns)
    fleet = past or fleet_now(read_states(root), now_ns)
    beside = peers(root, span or (None, None), now_ns)
    if not fleet.matrix.hosts:
        raise NothingMeasuredError(
            f"no host probes anything in {options.store_name(args)}"
            + (" at that time" if span else ""),
            expected="a running probe on some hosts",
            hint="--at for the past, or --store",
        )
    if args.format == "json":
        about = {"schema_version": 1, "since_ns": None, "until_ns": now_ns}
        if span:
            about |= {"since_ns": span[0], "until_ns": span[1]}
        about |= fleet.to_json() | {"peers": beside.data()}
        text = json.dumps(about, indent=2, allow_nan=False)
        options.put_text(f"{text}\n", None)
        return 0
    print("\n".join(wrapped(fleet.sentence)))
    if span:
        print(f"from {format_time(span[0], now_ns)} to {format_time(span[1], now_ns)}")
    print(f"\n{_table(fleet, args.most)}")
    for clock in fleet.to_json()["clocks"]:
        print("\n".join(wrapped(clock["sentence"])))
    print_blocks(beside.shown())
    return 0


def _span(args: argparse.Namespace, now_ns: int) -> tuple[int, int] | None:
    from iosonde.weather.fleet.answers import INTERVAL_NS

    since, until = options.time_range(args, now_ns)
    if args.at is None:
        return None if since is None and until is None else (since or 0, until or now_ns)
    if since is not None or until is not None:
        raise UsageError("--at and a range exclude each other", hint="--since and --until alone")
    at = parse_time(args.at, now_ns)
    return at - INTERVAL_NS // 2, at + INTERVAL_NS // 2


def _table(fleet: Fleet, most: int) -> str:
    """Hosts as lines and targets as columns, the slowest first."""
    matrix = fleet.matrix
    rows = [
        [host, *(_cell(value, word) for value, word in zip(values, words, strict=True))]
        for host, values, words in zip(
            matrix.hosts, matrix.slowdown.tolist(), matrix.words, strict=True
        )
    ]
    text = table(("host", *matrix.targets), rows[:most])
    left = len(rows) - most
    return f"{text}\n{left} more hosts (--most {len(rows)})" if left > 0 else text


def _cell(value: float, word: str) -> str:
    """``3.1x``; a word for a missing number; empty without a probe."""
    return word or ("-" if math.isnan(value) else f"{format_factor(value)}x")
