"""What can be asked of ``iosonde bench metadata``: words to a plan."""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from iosonde.analysis.bench import Adaptive, Plan
from iosonde.cli import options
from iosonde.measure.metadata.spec import PHASES, Spec
from iosonde.measure.places import parse_place
from iosonde.model.errors import UsageError
from iosonde.model.ops import parse_op
from iosonde.model.runs import RunRow
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

PLACE is a directory, s3://BUCKET/PREFIX, postgresql://USER@HOST/DB, mongodb://HOST/DB, mpiio:DIR or null:. Only the
directory .iosonde-... below DIR is touched. Letters as in md-workbench; docs/bench-metadata.md explains each.
"""
MoreRepeats = Callable[[Sequence[RunRow], int], int]
_MOST_RUNS = 1000
_OPS = {word: f"md_{word}" for word in ("create", "stat", "read", "delete")}
"""Here ``read`` is that of a small object."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The words as values, checked one by one."""
    parser = options.Parser(
        "bench metadata",
        "Measure small objects: every operation timed, rates and latencies of each, who is the limit.",
        EXAMPLES,
    )
    size, time = options.reads(parse_size), options.reads(parse_duration)
    add = parser.add_argument
    add("place", nargs="+", metavar="PLACE", help="where the objects go")
    add(
        "-n", "--ranks", type=_counts, default=[1], metavar="N", help="of this process (default: 1)"
    )
    add("-D", "--data-sets", type=_counts, metavar="D", help="data sets of each rank (10)")
    add("-P", "--objects", type=_counts, metavar="P", help="objects precreated in each (1000)")
    add(
        "-I",
        "--iterations",
        type=_counts,
        default=[200],
        metavar="I",
        help="over the data sets (200)",
    )
    add("-S", "--size", type=size, metavar="S", help="of an object (3901)")
    add("-O", "--offset", type=_count0, default=1, metavar="O", help=_OFFSET)
    add("-R", "--repeat", type=_count, default=None, metavar="R", help="the benchmark phase (3)")
    add("-T", "--waiting", type=_factor, default=0.0, metavar="T", help=_WAITING)
    add("--adaptive", action="store_true", help=_ADAPTIVE)
    add("--repeats", type=_repeats, metavar="K", help=_REPEATS)
    add("-w", "--stonewall", type=time, metavar="TIME", help="stop a rank after this time")
    add("-W", "--wear-out", type=time, nargs="?", const=0, metavar="TIME", help=_WEAR_OUT)
    add(
        "--pattern",
        choices=tuple(PHASES),
        default="cycle",
        help="cycle (md-workbench) or bulk (mdtest)",
    )
    add("--shared", action="store_true", help="bulk: all ranks in one directory")
    add("--phases", type=_words, metavar="A,B", help="precreate,benchmark,cleanup (default: all)")
    add("--keep", action="store_true", help="leave the objects in place")
    add("--order", choices=("fixed", "random"), default="fixed", help="of operations and objects")
    add("--one-by-one", action="store_true", help="each op by itself, between barriers")
    add("--read-only", action="store_true", help="stat and read only")
    add("--verify", action="store_true", help="compare what is read with what was written")
    add("--fsync", action="store_true", help="force every object to stable storage")
    add("--direct", action="store_true", help="past the client's cache (O_DIRECT)")
    add("--give-up", type=_count, default=100, metavar="N", help="failures in a row (100)")
    add("--seed", type=_count0, metavar="N", help="of contents and orders (default: a fresh one)")
    add(
        "--fault",
        type=options.reads(_fault),
        action="append",
        default=[],
        metavar="OP:WHAT",
        help=_FAULT,
    )
    add("--endpoint", metavar="URL", help="of an S3 server (default: $AWS_ENDPOINT_URL)")
    add("--samples", action="store_true", help="keep every operation in the store")
    add("--plot", type=Path, metavar="FILE", help="picture: .png, .svg, .pdf")
    add("--dark", action="store_true", help="a dark picture")
    add("--format", choices=("table", "json", "csv", "parquet"), default="table")
    add("-o", "--output", type=Path, metavar="FILE", help="of --format (default: stdout)")
    add("--no-store", action="store_true", help="leave nothing in the store")
    parser.add_store()
    return parser.parse(arguments)


_OFFSET = "ranks between reader and writer; 0: own objects (1)"
_WAITING = "wait T times as long as each op took (0)"
_ADAPTIVE = "several T, and the verdict: clients, servers or background work"
_REPEATS = "of each T (5, up to 8 if not decided)"
_WEAR_OUT = "then all go on to where the fastest was, at most until TIME"
_FAULT = "misbehave: create:ENOSPC, stat:+50ms, all:x3, read:hang; then :AFTER[:FOR]"


def plan(
    args: argparse.Namespace,
    environ: Mapping[str, str],
    more: MoreRepeats,
    seed: int,
    samples: Path | None,
) -> Plan:
    """What to measure. Raises UsageError for what does not go together."""
    places = tuple(parse_place(text, environ, args.endpoint) for text in args.place)
    phases = _phases(args)
    if args.adaptive and (args.pattern != "cycle" or "benchmark" not in phases):
        raise UsageError("--adaptive is for the benchmark phase of --pattern cycle")
    if args.adaptive and args.waiting:
        raise UsageError("--adaptive chooses T itself", expected="either --adaptive or -T")
    if args.wear_out is not None and args.stonewall is None:
        raise UsageError("--wear-out without --stonewall", expected="-w TIME too")
    if args.shared and args.pattern != "bulk":
        raise UsageError("--shared is for --pattern bulk")
    specs = tuple(_specs(args, seed))
    rounds = args.repeat or (3 if args.pattern == "cycle" else 1)
    adaptive = None
    if args.adaptive:
        repeats = args.repeats or 5
        adaptive = Adaptive(repeats, more if args.repeats is None else _no_more)
    made = Plan(places, tuple(args.ranks), specs, phases, rounds, args.waiting, adaptive, samples)
    if len(made) > _MOST_RUNS:
        raise UsageError(f"these are {len(made)} runs", expected=f"at most {_MOST_RUNS}")
    return made


def _no_more(_rows: Sequence[RunRow], _repeats: int) -> int:
    """As many repeats as were asked for."""
    return 0


def _phases(args: argparse.Namespace) -> tuple[str, ...]:
    known = PHASES[args.pattern]
    wanted = known if args.phases is None else args.phases
    for phase in wanted:
        if phase not in known and phase != "cleanup":
            raise UsageError(
                f"--pattern {args.pattern} has no phase {phase!r}",
                expected="one or more of " + ",".join(known),
            )
    ordered = tuple(p for p in (*known, "cleanup") if p in wanted)
    kept = {"cleanup", "delete"} if args.keep else set()
    left = tuple(dict.fromkeys(phase for phase in ordered if phase not in kept))
    if not left:
        raise UsageError("nothing is left to do", expected="a phase besides cleanup, or no --keep")
    return left


def _specs(args: argparse.Namespace, seed: int) -> list[Spec]:
    """Every combination; I and P go together when both are lists."""
    objects: list[int | None] = args.objects or [None]
    together = len(objects) > 1 and len(args.iterations) > 1
    if together and len(objects) != len(args.iterations):
        raise UsageError(
            f"-I has {len(args.iterations)} values and -P {len(objects)}",
            expected="as many of each: they go together",
        )
    pairs = (
        zip(args.iterations, objects, strict=True)
        if together
        else itertools.product(args.iterations, objects)
    )
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
            give_up=args.give_up,
            faults=tuple(args.fault),
        )
        for (iterations, each_objects), data_sets in itertools.product(
            list(pairs), args.data_sets or [None]
        )
    ]


def _count(text: str) -> int:
    return _whole(text, 1)


def _count0(text: str) -> int:
    return _whole(text, 0)


def _repeats(text: str) -> int:
    return _whole(text, 1)


def _whole(text: str, least: int) -> int:
    clean = text.strip().replace("_", "")
    scale = {"k": 1000, "M": 1_000_000}.get(clean[-1:], 1)
    digits = clean[:-1] if scale > 1 else clean
    if not re.fullmatch(r"\d{1,12}", digits) or int(digits) * scale < least:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
    return int(digits) * scale


def _counts(text: str) -> list[int]:
    return [_count(part) for part in text.split(",")]


def _words(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _factor(text: str) -> float:
    match = re.fullmatch(r"(\d{1,4}(?:\.\d{1,6})?)(?:/(\d{1,4}))?", text.strip())
    value = float(match[1]) / (int(match[2] or 1) or 1) if match else -1.0
    if not 0 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is no waiting factor such as 0.25, 1/4 or 2")
    return value


def _fault(text: str) -> dict[str, Any]:
    """``create:ENOSPC:2s:1s``: what the op does, from when on, for how long."""
    words = text.split(":")
    if not 2 <= len(words) <= 4:
        raise UsageError(f"the fault {text!r} is none", expected="OP:WHAT[:AFTER[:FOR]]")
    op = None if words[0] == "all" else _OPS.get(words[0]) or parse_op(words[0])
    times = [parse_duration(word) for word in words[2:]]
    return {
        "op": op,
        "after_ns": times[0] if times else 0,
        "for_ns": times[1] if len(times) > 1 else None,
        "kind": _kind(words[1], text),
    }


def _kind(word: str, text: str) -> Any:
    import errno

    if word == "hang":
        return "Hang"
    if word.startswith("+"):
        return {"Delay": parse_duration(word[1:])}
    if re.fullmatch(r"x\d{1,6}(\.\d{1,3})?", word):
        return {"Multiply": float(word[1:])}
    number = getattr(errno, word, None)
    if isinstance(number, int) and word.startswith("E"):
        return {"Error": number}
    raise UsageError(
        f"the fault {text!r} does nothing known",
        expected="an errno such as ENOSPC, +50ms, x3 or hang",
    )
