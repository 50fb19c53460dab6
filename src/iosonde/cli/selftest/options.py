"""Options of ``iosonde selftest``, and the plan built from them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from iosonde.bench.selftest.answers import SelftestPlan
from iosonde.cli.bench.options import check_results
from iosonde.cli.bench.values import count, seed_number
from iosonde.cli.shared import options
from iosonde.model.errors import UsageError
from iosonde.model.units import parse_duration, parse_size

EXAMPLES = """\
  iosonde selftest /work                    about 90 s: 10 s of the probe alone, then 12 phases beside it
  iosonde selftest /work --plot selftest.png
  iosonde selftest /work -n 8 -w 30s -b 64G -P 200k      more ranks, longer phases
  iosonde selftest /work --format json

Phases, as in IO500: ior-easy (files of ranks, 1 MiB), ior-hard (one file, 47008 bytes in turn), mdtest-easy (empty
objects, a directory a rank), mdtest-hard (3901 bytes, one directory), find; writes first, then reads and deletes.
DIR/.iosonde-selftest-<uid> holds all files and goes at the end. docs/selftest.md explains the numbers.
"""
_LEAST_PERIOD_NS = 1_000_000


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments, each checked."""
    parser = options.Parser(
        "selftest",
        "A probe beside short data and metadata phases: which phases slow which operations.",
        EXAMPLES,
    )
    size, time = options.reads(parse_size), options.reads(parse_duration)
    add = parser.add_argument
    add("directory", metavar="DIR", type=Path, help="directory on the storage to test")
    add("-n", "--ranks", type=count, default=2, metavar="N", help="ranks of the phases (2)")
    add("-w", "--limit", type=time, default="5s", metavar="TIME", help=_LIMIT)
    add("-b", "--block", type=size, default="1G", metavar="SIZE", help=_BLOCK)
    add("-P", "--objects", type=count, default=50_000, metavar="P", help=_OBJECTS)
    add("--quiet", type=time, default="10s", metavar="TIME", help="probe alone at first (10s)")
    add("--pause", type=time, default="1s", metavar="TIME", help="pause after each phase (1s)")
    add("--period", type=time, default="50ms", metavar="TIME", help=_PERIOD)
    add(
        "--file-size",
        type=size,
        default="256M",
        metavar="SIZE",
        help="size of the probe's large file (256M)",
    )
    add(
        "--pool",
        type=count,
        default=200,
        metavar="N",
        help="number of the probe's small files (200)",
    )
    add("--seed", type=seed_number, metavar="N", help="random seed (default: a fresh one)")
    add("--plot", type=Path, metavar="FILE", help="picture: .png, .svg, .pdf")
    add("--dark", action="store_true", help="a dark picture")
    add("--width", type=float, default=12.0, metavar="INCHES", help="width of the picture (12)")
    parser.add_data(("json",))
    add("--no-store", action="store_true", help="store no results")
    parser.add_store()
    args = parser.parse(arguments)
    check_results(args)
    return args


def plan(args: argparse.Namespace, seed: int) -> SelftestPlan:
    """Plan from the options. Raises UsageError."""
    if args.limit <= 0 or args.quiet < 5 * args.period:
        raise UsageError(
            "--quiet is too short for a baseline", expected="at least 5 periods of the probe"
        )
    if args.period < _LEAST_PERIOD_NS:
        raise UsageError("--period is too short", expected="at least 1ms")
    return SelftestPlan(
        place=args.directory.absolute(),
        ranks=args.ranks,
        limit_ns=args.limit,
        rank_bytes=args.block,
        objects=args.objects,
        quiet_ns=args.quiet,
        pause_ns=args.pause,
        period_ns=args.period,
        file_bytes=args.file_size,
        pool=args.pool,
        seed=seed if args.seed is None else args.seed,
    )


_LIMIT = "time limit of a write phase (5s)"
_BLOCK = "most bytes of a rank in a data phase (1G)"
_OBJECTS = "most objects of a rank in a metadata phase (50000)"
_PERIOD = "probe period (50ms)"
