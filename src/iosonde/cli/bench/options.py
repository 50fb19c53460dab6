"""Options of ``iosonde bench metadata``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from iosonde.bench.metadata.answers import PHASES
from iosonde.cli.bench.values import count, count0, counts, factor, fault, seed_number, words
from iosonde.cli.shared import options
from iosonde.model.errors import UsageError
from iosonde.model.units import parse_duration, parse_size

EXAMPLES = """\
  iosonde bench metadata /work                      one rank: precreate, benchmark, cleanup
  iosonde bench metadata /work -n 4 --adaptive      who is the limit: clients, servers, background work?
  iosonde bench metadata /work /scratch s3://bucket/bench -n 1,4 -D 1,10 -I 200,2000 -P 1000,10000
                                                    every combination, one table (I and P go together)
  iosonde bench metadata /work --pattern bulk       as mdtest: create, stat, read, delete, between barriers
  iosonde bench metadata /work --phases precreate   keep the tree ...
  iosonde bench metadata /work --phases benchmark   ... measure on it, as often as you like ...
  iosonde bench metadata /work --phases cleanup     ... and remove it
  mpirun -n 64 iosonde bench metadata /work -O 8    a rank a process; reader and writer 8 ranks apart
  iosonde bench metadata /work --fault create:ENOSPC:2s:1s      a fire drill

PLACE is a directory, s3://BUCKET/PREFIX, postgresql://USER@HOST/DB, mongodb://HOST/DB, nfs://HOST/EXPORT, mpiio:DIR or
null:. Only the directory .iosonde-... below DIR is touched. Letters as in md-workbench; see docs/bench-metadata.md.
"""
_PICTURES = {".png", ".svg", ".pdf"}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments, each checked."""
    parser = options.Parser(
        "bench metadata",
        "Measure small objects: every operation timed, rates and latencies of each, who is the limit.",
        EXAMPLES,
    )
    _add_sizes(parser)
    _add_manner(parser)
    _add_output(parser)
    args = parser.parse(arguments)
    check_results(args)
    return args


def _add_sizes(parser: options.Parser) -> None:
    """Add numbers, sizes and durations."""
    size, time = options.reads(parse_size), options.reads(parse_duration)
    add = parser.add_argument
    add("place", nargs="+", metavar="PLACE", help="directory, bucket or database for the objects")
    add(
        "-n",
        "--ranks",
        type=counts,
        default=[1],
        metavar="N",
        help="number of ranks per process (default: 1)",
    )
    add("-D", "--data-sets", type=counts, metavar="D", help="number of data sets per rank (10)")
    add(
        "-P",
        "--objects",
        type=counts,
        metavar="P",
        help="objects precreated in each data set (1000)",
    )
    add(
        "-I",
        "--iterations",
        type=counts,
        metavar="I",
        help="iterations over the data sets (200, at most P)",
    )
    add("-S", "--size", type=size, metavar="S", help="size of an object (3901)")
    add("-O", "--offset", type=count0, default=1, metavar="O", help=_OFFSET)
    add(
        "-R",
        "--repetitions",
        type=count,
        metavar="R",
        help="repetitions of the benchmark phase (3)",
    )
    add("-T", "--waiting", type=factor, default=0.0, metavar="T", help=_WAITING)
    add("--adaptive", action="store_true", help=_ADAPTIVE)
    add("--measurements", type=count, metavar="K", help=_MEASUREMENTS)
    add("-w", "--stonewall", type=time, metavar="TIME", help="stop a rank after this time")
    add("-W", "--wear-out", type=time, nargs="?", const=0, metavar="TIME", help=_WEAR_OUT)


def _add_manner(parser: options.Parser) -> None:
    """Add operations, their order, and modes."""
    add = parser.add_argument
    add(
        "--pattern",
        choices=tuple(PHASES),
        default="cycle",
        help="cycle (md-workbench) or bulk (mdtest)",
    )
    add("--shared", action="store_true", help="bulk: all ranks in one directory")
    add(
        "--phases",
        type=words,
        metavar="A,B",
        help="phases: precreate,benchmark,cleanup (default: all)",
    )
    add("--keep", action="store_true", help="leave the objects in place")
    add(
        "--order",
        choices=("fixed", "random"),
        default="fixed",
        help="order of operations and objects",
    )
    add("--one-by-one", action="store_true", help="do each op by itself, between barriers")
    add("--read-only", action="store_true", help="stat and read only")
    add("--verify", action="store_true", help="verify the data that reads return")
    add("--fsync", action="store_true", help="force every object to stable storage")
    add("--direct", action="store_true", help="bypass the client's cache (O_DIRECT)")
    add(
        "--max-errors",
        type=count,
        default=100,
        metavar="N",
        help="failures in a row that stop a rank (100)",
    )
    add(
        "--seed",
        type=seed_number,
        metavar="N",
        help="random seed for object contents and access order (default: a fresh one)",
    )
    add(
        "--fault",
        type=options.reads(fault),
        action="append",
        default=[],
        metavar="OP:WHAT",
        help=_FAULT,
    )


def _add_output(parser: options.Parser) -> None:
    """Add destinations of objects and results."""
    add = parser.add_argument
    add("--endpoint", metavar="URL", help="address of an S3 server (default: $AWS_ENDPOINT_URL)")
    add("--samples", action="store_true", help="keep every operation in the store")
    add_results(parser)


def add_results(parser: options.Parser) -> None:
    """Add destinations of results of any benchmark."""
    add = parser.add_argument
    parser.add_picture("picture: .png, .svg, .pdf")
    parser.add_data()
    add("--no-store", action="store_true", help="store no results")
    parser.add_store()


def check_results(args: argparse.Namespace) -> None:
    """Check before a long measurement that its results can be written. Raises UsageError."""
    for path in (args.output, args.plot):
        if path and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise UsageError(
                f"{path}: no file can be written there",
                expected="a file in a directory that exists",
            )
    if args.plot and args.plot.suffix.lower() not in _PICTURES:
        raise UsageError(f"{args.plot}: no picture has this ending", expected=".png, .svg or .pdf")
    if args.dark and not args.plot:
        raise UsageError("--dark is for a picture", expected="--plot FILE too")


_OFFSET = "ranks between reader and writer; 0: own objects (1)"
_WAITING = "wait T times as long as each op took (0)"
_ADAPTIVE = "several T, and the verdict: clients, servers or background work"
_MEASUREMENTS = "measurements of each T with --adaptive (5, up to 8 if not decided)"
_WEAR_OUT = "let all ranks go on to where the fastest was, at most until TIME"
_FAULT = "misbehave: create:ENOSPC, stat:+50ms, all:x3, read:hang; then :AFTER[:FOR]"
