"""What can be asked of ``iosonde bench metadata``: words to a plan."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from iosonde.bench.backends.places import parse_place
from iosonde.bench.metadata.plan import AdaptivePlan, Plan
from iosonde.bench.metadata.spec import PHASES, Spec
from iosonde.cli.bench.values import count, count0, counts, factor, fault, seed_number, words
from iosonde.cli.shared import options
from iosonde.model.errors import UsageError
from iosonde.model.runs import RunRow
from iosonde.model.units import format_size, parse_duration, parse_size

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

PLACE is a directory, s3://BUCKET/PREFIX, postgresql://USER@HOST/DB, mongodb://HOST/DB, mpiio:DIR or null:. Only the
directory .iosonde-... below DIR is touched. Letters as in md-workbench; docs/bench-metadata.md explains each.
"""
MoreMeasurements = Callable[[Sequence[RunRow], int], int]
_MOST_RUNS = 1000
_LARGEST = 1 << 30
"""Bytes of an object."""
_ONLY = {"shared": "bulk", "read-only": "cycle", "one-by-one": "cycle", "waiting": "cycle"}
"""Options of one pattern."""
_PICTURES = {".png", ".svg", ".pdf"}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The words as values, checked one by one."""
    parser = options.Parser(
        "bench metadata",
        "Measure small objects: every operation timed, rates and latencies of each, who is the limit.",
        EXAMPLES,
    )
    size, time = options.reads(parse_size), options.reads(parse_duration)
    add = parser.add_argument
    add("place", nargs="+", metavar="PLACE", help="directory, bucket or database for the objects")
    add(
        "-n",
        "--ranks",
        type=counts,
        default=[1],
        metavar="N",
        help="ranks of this process (default: 1)",
    )
    add("-D", "--data-sets", type=counts, metavar="D", help="data sets of each rank (10)")
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
    add("--verify", action="store_true", help="compare what is read with what was written")
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
    add("--endpoint", metavar="URL", help="address of an S3 server (default: $AWS_ENDPOINT_URL)")
    add("--samples", action="store_true", help="keep every operation in the store")
    add("--plot", type=Path, metavar="FILE", help="picture: .png, .svg, .pdf")
    add("--dark", action="store_true", help="a dark picture")
    parser.add_data()
    add("--no-store", action="store_true", help="leave nothing in the store")
    parser.add_store()
    args = parser.parse(arguments)
    _check_output(args)
    return args


def _check_output(args: argparse.Namespace) -> None:
    """Before an hour is measured: that what it comes to can be written. Raises UsageError."""
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


def plan(
    args: argparse.Namespace,
    environ: Mapping[str, str],
    more: MoreMeasurements,
    seed: int,
    samples: Path | None,
) -> Plan:
    """What to measure. Raises UsageError for what does not go together."""
    places = tuple(parse_place(text, environ, args.endpoint) for text in args.place)
    phases = _phases(args)
    _check_together(args, phases)
    if args.endpoint is not None and all(place.kind != "s3" for place in places):
        raise UsageError("--endpoint is for s3://BUCKET/PREFIX", expected="such a place")
    specs = tuple(_specs(args, seed))
    repetitions = args.repetitions or (3 if args.pattern == "cycle" else 1)
    if repetitions > 1 and "create" in phases and "delete" not in phases:
        raise UsageError(
            f"-R {repetitions} would create the same objects again",
            expected="the phase delete too, or -R 1",
        )
    adaptive = None
    if args.adaptive:
        adaptive = AdaptivePlan(args.measurements or 5, _no_more if args.measurements else more)
    made = Plan(
        places, tuple(args.ranks), specs, phases, repetitions, args.waiting, adaptive, samples
    )
    if len(made) > _MOST_RUNS:
        raise UsageError(f"these are {len(made)} runs", expected=f"at most {_MOST_RUNS}")
    return made


def _check_together(args: argparse.Namespace, phases: Sequence[str]) -> None:
    """Options that would say nothing, or something else than meant, beside others. Raises UsageError."""
    if args.adaptive and (args.pattern != "cycle" or "benchmark" not in phases):
        raise UsageError("--adaptive is for the benchmark phase of --pattern cycle")
    if args.adaptive and args.waiting:
        raise UsageError("--adaptive chooses T itself", expected="either --adaptive or -T")
    if args.adaptive and args.repetitions is not None:
        raise UsageError("-R is not for --adaptive", expected="--measurements K of each T")
    if args.measurements is not None and not args.adaptive:
        raise UsageError("--measurements is for --adaptive", expected="-R, or --adaptive too")
    if args.stonewall == 0:
        raise UsageError(
            "--stonewall after no time measures nothing", expected="-w TIME, as in 30s"
        )
    if args.wear_out is not None and args.stonewall is None:
        raise UsageError("--wear-out without --stonewall", expected="-w TIME too")
    if args.wear_out and args.wear_out < args.stonewall:
        raise UsageError("--wear-out would end before --stonewall", expected="a later time")
    for name, pattern in _ONLY.items():
        if getattr(args, name.replace("-", "_")) and args.pattern != pattern:
            raise UsageError(f"--{name} is for --pattern {pattern}")
    if (args.size or 0) > _LARGEST:
        raise UsageError(
            f"objects of {format_size(args.size)}", expected=f"at most {format_size(_LARGEST)}"
        )


def _no_more(_rows: Sequence[RunRow], _measurements: int) -> int:
    """No more than the command line says."""
    return 0


def _phases(args: argparse.Namespace) -> tuple[str, ...]:
    every = PHASES[args.pattern]
    wanted = every if args.phases is None else args.phases
    for phase in wanted:
        if phase not in every and phase != "cleanup":
            raise UsageError(
                f"--pattern {args.pattern} has no phase {phase!r}",
                expected="one or more of " + ",".join(every),
            )
    ordered = tuple(p for p in (*every, "cleanup") if p in wanted)
    kept = {"cleanup", "delete"} if args.keep else set()
    left = tuple(dict.fromkeys(phase for phase in ordered if phase not in kept))
    if not left:
        raise UsageError("nothing is left to do", expected="a phase besides cleanup, or no --keep")
    return left


def _specs(args: argparse.Namespace, seed: int) -> list[Spec]:
    """Every combination; I and P go together when both are lists."""
    objects: list[int | None] = args.objects or [None]
    wanted: list[int | None] = args.iterations or [None]
    together = len(objects) > 1 and len(wanted) > 1
    if together and len(objects) != len(wanted):
        raise UsageError(
            f"-I has {len(wanted)} values and -P {len(objects)}",
            expected="as many of each: they go together",
        )
    pairs = zip(wanted, objects, strict=True) if together else itertools.product(wanted, objects)
    wear_out = None
    if args.wear_out is not None:
        wear_out = args.wear_out or 10 * args.stonewall
    return [
        Spec(
            data_sets=data_sets,
            objects=each_objects,
            size_bytes=args.size,
            iterations=iterations,
            offset=args.offset,
            pattern=args.pattern,
            shared=args.shared,
            one_by_one=args.one_by_one,
            random_order=args.order == "random",
            verify=args.verify,
            read_only=args.read_only,
            fsync=args.fsync,
            direct=args.direct,
            limit_ns=args.stonewall,
            wear_out_ns=wear_out,
            seed=seed if args.seed is None else args.seed,
            max_errors=args.max_errors,
            faults=tuple(args.fault),
        )
        for (iterations, each_objects), data_sets in itertools.product(
            list(pairs), args.data_sets or [None]
        )
    ]
