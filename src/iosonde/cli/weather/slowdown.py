"""iosonde slowdown: slowdown over time with intervals, and slow spans."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.cli.shared import options
from iosonde.cli.shared.in_time import add_timeout, answered_in_time
from iosonde.cli.shared.render import show
from iosonde.cli.shared.targets import nothing_measured, target_called
from iosonde.model.errors import UsageError
from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import DEFAULT_TRAILING_NS, DEFAULT_WINDOW_NS, STATISTICS
from iosonde.model.units import parse_duration
from iosonde.weather.series import answers

if TYPE_CHECKING:
    from iosonde.weather.series.answers import SlowdownAnswer

EXAMPLES = """\
  iosonde slowdown                              everything that is stored
  iosonde slowdown /work --since -2h --plot slow.png
  iosonde slowdown --op creates --since yesterday --until today --window 10m
  iosonde slowdown --stat tail --window 5m --format csv > tail.csv
  iosonde slowdown --as-published --window 4h   median / median of everything, as in the paper
"""
_PLOT = "draw a picture: .png, .svg or .pdf; of further targets FILE-2 ..."


def main(arguments: Sequence[str]) -> int:
    """Print slowdown per operation and slow spans, or the windows as data."""
    return answered_in_time(_parse(arguments), _answer)


def _answer(args: argparse.Namespace) -> int:
    root, now_ns = options.store_root(args), options.now_ns()
    args.target = target_called(root, args.target)
    found = answers.slowdown(root, _query(args, now_ns), now_ns)
    if found.is_empty:
        raise nothing_measured(root, "question", args.target)
    if args.plot:
        _plot(found, args)
    if args.format == "json":
        options.put_text(found.json_text(), args.output)
    else:
        show(found, args)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Slowdown over time: observed latency / what is usual, with interval and n."
    parser = options.Parser("slowdown", summary, EXAMPLES)
    duration = options.reads(parse_duration)
    add = parser.add_argument
    add("target", nargs="?", help="name or path of a watched target (default: all)")
    parser.add_host()
    parser.add_op()
    parser.add_range()
    add(
        "--window",
        type=duration,
        metavar="TIME",
        help="length of a window (default: the one that each series is judged in, 1m at 1 Hz)",
    )
    add(
        "--stat",
        choices=STATISTICS,
        help="statistic of the table (default: typ, the typical operation)",
    )
    add(
        "--baseline",
        default="guarded",
        metavar="WHICH",
        help="guarded, all-time, a sliding time such as 7d, a period BEGIN..END (default: guarded)",
    )
    add("--as-published", action="store_true", help="median / all-time median (Kunkel, Betke 2019)")
    parser.add_data()
    parser.add_picture(_PLOT, 12.0)
    parser.add_store()
    add_timeout(parser, "10m")
    args = parser.parse(arguments)
    if args.as_published:
        if args.stat not in (None, "median") or args.baseline not in ("guarded", "all-time"):
            raise UsageError(
                "--as-published is --stat median --baseline all-time", hint="one of both"
            )
        args.stat, args.baseline = "median", "all-time"
    return args


def _query(args: argparse.Namespace, now_ns: int) -> SlowdownQuery:
    since, until = options.time_range(args, now_ns)
    choice, sliding_ns = options.baseline_choice(args.baseline, now_ns)
    statistic = args.stat or ("typ" if sliding_ns is None else "median")
    if sliding_ns is not None and statistic in ("typ", "tail"):
        raise UsageError(
            f"a sliding median cannot judge {statistic}",
            expected="--baseline guarded, all-time or BEGIN..END, or --stat median",
        )
    return SlowdownQuery(
        host=args.host,
        target=args.target,
        ops=tuple(args.op) if args.op else None,
        since_ns=since,
        until_ns=until,
        window_ns=args.window or DEFAULT_WINDOW_NS,
        own_windows=args.window is None,
        statistic=statistic,
        trailing_ns=sliding_ns or DEFAULT_TRAILING_NS,
        choice=choice,
    )


def _plot(found: SlowdownAnswer, args: argparse.Namespace) -> None:
    from iosonde.drawing.render_sheet import save_sheet

    for number, sheet in enumerate(found.sheets()):
        path = args.plot if number == 0 else args.plot.with_stem(f"{args.plot.stem}-{number + 1}")
        save_sheet(sheet, path, width_in=args.width, dark=args.dark)
        options.note(f"wrote {path}")
