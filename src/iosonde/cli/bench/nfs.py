"""iosonde bench nfs: latency of reads under a rising rate of writes."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence

from iosonde.bench.nfs.answers import (
    STABILITIES,
    MeasuredSweep,
    SweepSpec,
    measure_sweep,
    parse_nfs,
)
from iosonde.bench.report.answers import RunsAnswer
from iosonde.cli.bench.nfs_view import SweepBar, SweepView
from iosonde.cli.bench.options import add_results, check_results
from iosonde.cli.bench.values import count, count0, seed_number
from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.render import draw, print_blocks, show
from iosonde.model.errors import UsageError
from iosonde.model.units import parse_duration, parse_size

EXAMPLES = """\
  iosonde selftest nfs                                     try it on a server with a known queue first
  iosonde bench nfs nfs://filer/export --i-may-load-this-server
  iosonde bench nfs nfs://filer/export --to 2000 --ceiling 200ms --i-may-load-this-server
                                                           a gentle sweep: stops early
  iosonde bench nfs nfs://filer/export --stable --plot sweep.png --i-may-load-this-server
  iosonde bench nfs 'nfs://localhost:12049/vfs?mountport=12050' --i-may-load-this-server

One client can bring a file server down: it will answer nobody while its queue is full. Ask its administrators first.
docs/bench-nfs.md explains every number.
"""


def nfs(arguments: Sequence[str]) -> int:
    """Run the sweep."""
    args = _parse(arguments)
    place, spec = parse_nfs(args.place), _spec(args)
    spec.check()
    if not args.i_may_load_this_server:
        raise UsageError(
            f"{place.name}: this sweep writes faster and faster until the server's reads wait",
            expected="--i-may-load-this-server from somebody who may",
            hint="'iosonde selftest nfs' for a server of its own",
        )
    root = None if args.no_store else options.store_folder(args)
    with Interrupt() as interrupt:
        view = SweepView(interrupt)
        with SweepBar(view):
            found = measure_sweep(place, spec, root, view, options.now_ns)
    _show(found, args, place.name)
    if found.sweep.stopped:
        return 130
    return 0 if found.sweep.points[1:] and not found.sweep.left_behind and not found.problem else 1


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = options.Parser(
        "bench nfs",
        "Write 8 bytes at a rising rate over NFSv3 from user space; measure how long reads beside it take.",
        EXAMPLES,
    )
    size, time = options.reads(parse_size), options.reads(parse_duration)
    add = parser.add_argument
    add("place", metavar="nfs://HOST/EXPORT", help="export, or directory of one")
    add("--i-may-load-this-server", action="store_true", help="consent to the load")
    add("-k", "--connections", type=count, default=4, metavar="K", help="TCP connections (4)")
    add("--from", dest="first", type=count, default=100, metavar="RATE", help="lowest rate (100)")
    add("--to", dest="last", type=count, default=10_000, metavar="RATE", help="highest rate (10k)")
    add(
        "--factor", type=_factor, default=1.5, metavar="X", help="ratio of neighbouring rates (1.5)"
    )
    add("--refine", type=count0, default=3, metavar="N", help="rates added around the knee (3)")
    add(
        "--duration",
        type=time,
        default=10 * 10**9,
        metavar="TIME",
        help="duration of each rate (10s)",
    )
    add("--period", type=time, default=10**8, metavar="TIME", help="time between reads (100ms)")
    add("--ceiling", type=time, default=10**9, metavar="TIME", help=_CEILING)
    add(
        "--limit",
        type=time,
        default=600 * 10**9,
        metavar="TIME",
        help="duration of the sweep (10m)",
    )
    add("--patience", type=time, default=60 * 10**9, metavar="TIME", help=_PATIENCE)
    add("--window", type=count, default=4096, metavar="N", help="most writes under way (4096)")
    add(
        "--file-size",
        type=size,
        default=100 << 20,
        metavar="SIZE",
        help="size of both files (100M)",
    )
    add("--stable", action="store_true", help="writes that are on disk when answered (FILE_SYNC)")
    add("--reserved-port", action="store_true", help="demand source ports below 1024 (root only)")
    add("--seed", type=seed_number, metavar="N", help="random seed for contents and names")
    add_results(parser)
    args = parser.parse(arguments)
    check_results(args)
    return args


def _factor(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number such as 1.5") from None


def _spec(args: argparse.Namespace) -> SweepSpec:
    return SweepSpec(
        connections=args.connections,
        first_per_s=float(args.first),
        last_per_s=float(args.last),
        factor=args.factor,
        refine=args.refine,
        duration_ns=args.duration,
        probe_period_ns=args.period,
        ceiling_ns=args.ceiling,
        limit_ns=args.limit,
        patience_ns=args.patience,
        window=args.window,
        file_bytes=args.file_size,
        stability=STABILITIES[args.stable],
        reserved_port=args.reserved_port,
        seed=secrets.randbits(48) if args.seed is None else args.seed,
    )


def _show(found: MeasuredSweep, args: argparse.Namespace, name: str) -> None:
    if args.plot is not None:
        missing = "no picture: no read was answered under load"
        draw(found.picture(name), args, width_in=12.0, without=missing)
    if args.format != "table":
        show(RunsAnswer(found.rows), args, indent=None)
    else:
        print_blocks(found.shown())
        if found.rows and not args.no_store and found.problem is None:
            options.note(f"\nkept in {options.store_folder(args)}; 'iosonde runs' shows it")
    if found.problem is not None:
        options.note(f"iosonde: {found.problem}")


_CEILING = "end when a read takes longer (1s)"
_PATIENCE = "wait so long for answers, and for the server's queue (1m)"
