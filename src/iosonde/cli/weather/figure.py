"""iosonde figure: a figure of the method's paper, or of bursts, or its numbers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.cli.shared import options
from iosonde.cli.shared.render import draw
from iosonde.cli.shared.targets import nothing_measured, target_called
from iosonde.model import parameters
from iosonde.model.errors import StoreError, UsageError
from iosonde.model.ops import OF_WINDOW
from iosonde.model.phases import Phase, parse_phase, read_phases
from iosonde.model.units import parse_duration
from iosonde.weather.figures.answers import (
    KINDS,
    OF_RUNS,
    SPARSE,
    figure,
    named_runs,
    request,
)

if TYPE_CHECKING:
    from iosonde.weather.figures.answers import FigureRequest

EXAMPLES = """\
  iosonde figure points --since -10m             every operation, by op and target
  iosonde figure hosts /work --since -1h         boxes, one a probing host
  iosonde figure phases /work --phase "IOREasy 14:05-14:12" --phase "MDEasy 14:12-14:15"
  iosonde figure statistics --since -30d -o boxes.svg
  iosonde figure timeline /work --since -30d --window 4h --dark
  iosonde figure slowdown /work --since -30d     at 10 min and at 4 h
  iosonde figure bursts mdw --since -2h          what waited, and which statistic shows it
  iosonde figure density --run mdw               how latencies of a run are distributed, by op
  iosonde figure statistics --run mdw            a box a phase of a run, ranks together
  iosonde figure points --run mdw --sparse       some operations of a run, and every slow one
  iosonde figure points -o points.json           the numbers that would be drawn
"""


def main(arguments: Sequence[str]) -> int:
    """Draw a figure, or write its numbers."""
    args = _parse(arguments)
    now_ns, root = options.now_ns(), options.store_root(args)
    args.target = target_called(root, args.target)
    sheet = figure(root, _asked(args, now_ns, root), now_ns)
    if sheet is None:
        raise nothing_measured(root, "figure", args.target)
    args.plot = args.output or Path(f"iosonde-{args.kind}.png")
    draw(sheet, args, said=False)
    options.note("; ".join((f"wrote {args.plot}", *sheet.caption)))
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "The figures of the method's paper, from your store: as a picture or as numbers."
    parser = options.Parser("figure", summary, EXAMPLES)
    duration = options.reads(parse_duration)
    add = parser.add_argument
    add("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    add("target", nargs="?", help=parameters.ONE_TARGET)
    add("--host", help=parameters.ONE_HOST)
    parser.add_op("repeatable")
    parser.add_range()
    add("--window", type=duration, metavar="TIME", help=parameters.FIGURE_WINDOW)
    add("--stat", choices=OF_WINDOW, default="mean", help="statistic of phases (default: mean)")
    add("--phase", action="append", default=[], metavar="'NAME FROM-TO'", help="repeatable")
    add("--phases", type=Path, metavar="FILE", help="CSV file with the columns name,start,end")
    add("--expected", choices=("usual", "median"), default="usual", help=parameters.PHASE_EXPECTED)
    add(
        "--run",
        action="append",
        metavar="RUN",
        help="run of points, statistics, density, bursts, its ranks pooled; repeatable",
    )
    add("--sparse", nargs="?", type=int, const=SPARSE, metavar="N", help=_SPARSE)
    add(
        "--above",
        type=duration,
        metavar="TIME",
        help="latency above which sparse points are all drawn (default: 100ms)",
    )
    add("-o", "--output", type=Path, metavar="FILE", help=_OUTPUT)
    parser.add_picture(None, 12.0)
    parser.add_store()
    return parser.parse(arguments)


_OUTPUT = ".png, .svg, .pdf, or .json: the numbers (default: iosonde-KIND.png)"
_SPARSE = "of points: about N an op at random (default: 1500), and every one above --above"


def _asked(args: argparse.Namespace, now_ns: int, root: Path) -> FigureRequest:
    since, until = options.time_range(args, now_ns)
    phases = _phases(args, now_ns, now_ns if since is None else since)
    if phases and args.kind != "phases":
        raise UsageError("--phase is for phases only", hint="'iosonde figure phases'")
    _check_runs(args)
    return request(
        args.kind,
        now_ns,
        (since, until),
        host=args.host,
        target=args.target,
        ops=args.op or (),
        window_ns=args.window,
        long_ns=args.window,
        statistic=args.stat,
        phases=phases,
        expected=args.expected,
        runs=named_runs(root, args.run) if args.run else None,
        sparse=args.sparse,
        above_ns=args.above,
    )


def _check_runs(args: argparse.Namespace) -> None:
    """Check options against the kind; ``--above`` alone means sparse points. Raises UsageError."""
    if (args.sparse is not None or args.above is not None) and args.kind != "points":
        raise UsageError("--sparse and --above are for points", hint="'iosonde figure points'")
    if args.above is not None and args.sparse is None:
        args.sparse = SPARSE
    if args.sparse is not None and args.sparse < 0:
        raise UsageError(f"--sparse {args.sparse} is not possible", expected="0 points or more")
    if args.run and args.kind not in OF_RUNS:
        raise UsageError(f"{args.kind} cannot be of a run", expected=f"one of {', '.join(OF_RUNS)}")


def _phases(args: argparse.Namespace, now_ns: int, day_ns: int) -> list[Phase]:
    phases = [parse_phase(text, now_ns, day_ns) for text in args.phase]
    if args.phases is not None:
        try:
            content = args.phases.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8 text"
            raise StoreError(f"cannot read {args.phases}: {reason}") from error
        phases += read_phases(content, str(args.phases), now_ns, day_ns)
    return sorted(phases, key=lambda phase: phase.start_ns)
