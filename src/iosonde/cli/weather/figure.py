"""iosonde figure: a figure of the method's paper, or of bursts, or its numbers."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from iosonde.cli.shared import options
from iosonde.cli.shared.targets import called, no_samples
from iosonde.model import parameters
from iosonde.model.errors import StoreError, UsageError
from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import OF_WINDOW
from iosonde.model.phases import Phase, parse_phase, read_phases
from iosonde.model.units import parse_duration
from iosonde.weather.figures.request import (
    ABOVE_NS,
    KINDS,
    OF_RUNS,
    SPARSE,
    FigureRequest,
    RunSpan,
    default_range,
    runs_named,
    suited_window,
    suited_windows,
)
from iosonde.weather.samples.periods import runs
from iosonde.weather.store import Store

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
    now_ns = options.now_ns()
    store = Store(options.store_root(args))
    args.target = called(store, args.target)
    asked = _asked(args, now_ns, store)

    from iosonde.weather.bursts.words import say_runs
    from iosonde.weather.figures.sheets import sheet_of

    sheet = sheet_of(store, asked, lambda runs: say_runs(runs, now_ns))
    if sheet is None:
        raise no_samples(store, "figure", args.target)
    output = args.output or Path(f"iosonde-{args.kind}.png")
    if output.suffix == ".json":
        from iosonde.drawing.sheet import plain
        from iosonde.engine.files import write_text

        write_text(json.dumps(plain(sheet), allow_nan=False) + "\n", output)
    else:
        from iosonde.drawing.render_sheet import save_sheet

        save_sheet(sheet, output, width_in=args.width, dark=args.dark)
    options.note("; ".join((f"wrote {output}", *sheet.caption)))
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


def _asked(args: argparse.Namespace, now_ns: int, store: Store) -> FigureRequest:
    since, until = options.time_range(args, now_ns)
    phases = _phases(args, now_ns, now_ns if since is None else since)
    if phases and args.kind != "phases":
        raise UsageError("--phase is for phases only", hint="'iosonde figure phases'")
    named = _runs(args, store)
    if named is not None:
        since = named.since_ns if since is None else since
        until = named.until_ns if until is None else until
    since, until = default_range(args.kind, since, until, now_ns, phases)
    query = SlowdownQuery(
        host=args.host,
        target=args.target,
        ops=tuple(args.op) if args.op else None,
        since_ns=since,
        until_ns=until,
        window_ns=args.window or suited_window(args.kind, until - since),
        statistic=args.stat if args.kind == "phases" else "median",
        runs=None if named is None else named.run_ids,
    )
    asked = FigureRequest(
        args.kind,
        query,
        tuple(phases),
        args.expected,
        windows_ns=suited_windows(until - since),
        short_ns=args.window,
        sparse=args.sparse,
        above_ns=ABOVE_NS if args.above is None else args.above,
        now_ns=now_ns,
    )
    return replace(asked, windows_ns=(asked.windows_ns[0], args.window)) if args.window else asked


def _runs(args: argparse.Namespace, store: Store) -> RunSpan | None:
    """Runs requested; also checks options against the kind."""
    if (args.sparse is not None or args.above is not None) and args.kind != "points":
        raise UsageError("--sparse and --above are for points", hint="'iosonde figure points'")
    if args.above is not None and args.sparse is None:
        args.sparse = SPARSE
    if args.sparse is not None and args.sparse < 0:
        raise UsageError(f"--sparse {args.sparse} is not possible", expected="0 points or more")
    if not args.run:
        return None
    if args.kind not in OF_RUNS:
        raise UsageError(f"{args.kind} cannot be of a run", expected=f"one of {', '.join(OF_RUNS)}")
    return runs_named(args.run, runs(store.root))


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
