"""Options of ``iosonde bench bandwidth``, and the plan built from them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iosonde.bench.bandwidth.answers import (
    BLOCK_BYTES,
    FSYNCS,
    LAYOUTS,
    TIMED_SEGMENTS,
    TRANSFER_BYTES,
    BandwidthPlan,
    BandwidthSpec,
    parse_place,
)
from iosonde.cli.bench.options import add_results, check_results
from iosonde.cli.bench.values import count, fault, seed_number, words
from iosonde.cli.shared import options
from iosonde.model.errors import UsageError
from iosonde.model.transfers import DIRECTIONS
from iosonde.model.units import parse_duration, parse_size

EXAMPLES = """\
  iosonde bench bandwidth /work                        one rank: write 1 GiB, read it back
  iosonde bench bandwidth /work -n 4 -b 16G --direct   4 ranks, past the client's cache
  iosonde bench bandwidth /work -n 4 -w 30s            write and read for 30 seconds each
  iosonde bench bandwidth /work -n 4 --layout strided -t 47008 -b 47008 -s 1000
                                                       one file, transfers of the ranks in turn (as ior-hard)
  iosonde bench bandwidth /work --order random -t 4k --direct --queue-depth 32
  iosonde bench bandwidth /work -n 4 --verify          verify the data that reads return
  iosonde bench bandwidth /work --phases write --keep  leave the files ...
  iosonde bench bandwidth /work --phases read --keep   ... and read them later
  iosonde bench bandwidth /ost0 /ost1 /ost2 /ost3 -n 8 -R 3
                                                       two files in each; then 'iosonde locate RUN'
  mpirun -n 64 iosonde bench bandwidth /work --reorder --plot rates.png
                                                       a rank a process; read what another host wrote

DIR is a directory; only .iosonde-... below it is touched. On Lustre, files inherit the striping of DIR (lfs setstripe).
docs/bench-bandwidth.md explains every number.
"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments, each checked."""
    parser = options.Parser(
        "bench bandwidth",
        "Measure large files: bandwidth while all ranks are busy, until the first and the last are done, over time.",
        EXAMPLES,
    )
    _add_sizes(parser)
    _add_manner(parser)
    add_results(parser)
    args = parser.parse(arguments)
    check_results(args)
    return args


def _add_sizes(parser: options.Parser) -> None:
    size, time = options.reads(parse_size), options.reads(parse_duration)
    add = parser.add_argument
    add("places", nargs="+", metavar="DIR", help=_DIRS)
    add("-n", "--ranks", type=count, default=1, metavar="N", help="number of ranks per process (1)")
    add("-t", "--transfer", type=size, metavar="SIZE", help="size of one read or write (1M)")
    add("-b", "--block", type=size, metavar="SIZE", help="bytes per rank in one segment (1G)")
    add("-s", "--segments", type=count, metavar="N", help="segments (1; with -w 1024)")
    add("-R", "--repetitions", type=count, default=1, metavar="R", help="repetitions (1)")
    add("-w", "--stonewall", type=time, metavar="TIME", help="stop a rank after this time")
    add("-W", "--wear-out", type=time, nargs="?", const=0, metavar="TIME", help=_WEAR_OUT)


def _add_manner(parser: options.Parser) -> None:
    add = parser.add_argument
    add("--layout", choices=LAYOUTS, default="own", help=_LAYOUT)
    add("--phases", type=words, metavar="A,B", help="write, read (default: both)")
    add("--keep", action="store_true", help="leave the files in place")
    add("--order", choices=("fixed", "random"), default="fixed", help="access order of transfers")
    add("--reorder", type=count, nargs="?", const=0, metavar="RANKS", help=_REORDER)
    add("--fsync", choices=FSYNCS[1:], nargs="?", const="end", default="none", help=_FSYNC)
    add("--direct", action="store_true", help="bypass the client's cache (O_DIRECT)")
    add("--queue-depth", type=count, default=1, metavar="N", help=_DEPTH)
    add("--verify", action="store_true", help="verify the data that reads return")
    add(
        "--max-errors",
        type=count,
        default=1,
        metavar="N",
        help="failures in a row that stop a rank (1)",
    )
    add("--seed", type=seed_number, metavar="N", help=_SEED)
    add(
        "--fault",
        type=options.reads(rank_fault),
        action="append",
        default=[],
        metavar="OP:WHAT",
        help=_FAULT,
    )


def rank_fault(text: str) -> dict[str, Any]:
    """Parse ``write@1:+5ms``: a fault in writes of rank 1; without a rank, of all ranks. Raises UsageError."""
    op, colon, rest = text.partition(":")
    name, at, rank = op.partition("@")
    known = {"all": "all", "write": "data_write", "read": "data_read"}
    if name not in known or (at and not rank.isdigit()) or not colon:
        raise UsageError(f"the fault {text!r} is none", expected="write@RANK:WHAT[:AFTER[:FOR]]")
    return {"rank": int(rank) if at else None, "fault": fault(f"{known[name]}:{rest}")}


def plan(args: argparse.Namespace, hosts: Sequence[str], seed: int) -> BandwidthPlan:
    """Plan from the options. ``hosts``: of each process. Raises UsageError for contradicting ones."""
    places = _places(args.places)
    directions = tuple(DIRECTIONS if args.phases is None else args.phases)
    if not directions or set(directions) - set(DIRECTIONS):
        raise UsageError(f"--phases {','.join(directions)}", expected="write, read, or both")
    directions = tuple(each for each in DIRECTIONS if each in directions)
    _check_together(args, directions)
    spec = BandwidthSpec(
        transfer_bytes=args.transfer or min(TRANSFER_BYTES, args.block or TRANSFER_BYTES),
        block_bytes=_block(args),
        segments=args.segments or (TIMED_SEGMENTS if args.stonewall and not args.block else 1),
        layout=args.layout,
        shift=_shift(args.reorder, hosts, args.ranks, len(places)),
        random_order=args.order == "random",
        fsync=args.fsync,
        direct=args.direct,
        depth=args.queue_depth,
        verify=args.verify,
        seed=seed if args.seed is None else args.seed,
        max_errors=args.max_errors,
        limit_ns=args.stonewall,
        wear_out_ns=None if args.wear_out is None else args.wear_out or 10 * args.stonewall,
        faults=tuple(args.fault),
    )
    if len(places) > 1:
        _check_spread(args, spec, directions, len(places))
    return BandwidthPlan(places, args.ranks, spec, directions, args.repetitions, args.keep)


def _places(words: Sequence[str]) -> tuple[str, ...]:
    """Directories; none for null:. Raises UsageError."""
    found = [parse_place(word, {}) for word in words]
    for word, place in zip(words, found, strict=True):
        if place.kind not in (("posix", "null") if len(words) == 1 else ("posix",)):
            raise UsageError(f"{word}: bandwidth is measured on a directory", expected="DIR")
    paths = tuple(str(Path(place.name)) for place in found if place.kind == "posix")
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise UsageError("a directory appears twice", expected="each directory once")
    return paths


def _check_spread(
    args: argparse.Namespace, spec: BandwidthSpec, directions: Sequence[str], places: int
) -> None:
    """Check the requirements of several directories. Raises UsageError."""
    if spec.layout != "own":
        raise UsageError(f"--layout {spec.layout} in several directories", expected="--layout own")
    if args.keep or "write" not in directions:
        what = "--keep, or --phases read, with several directories"
        raise UsageError(what, expected="a run that writes, reads and removes")
    if args.ranks < places:
        raise UsageError(
            f"{args.ranks} ranks for {places} directories",
            expected="a rank a directory in each process",
            hint=f"-n {places}",
        )
    if spec.shift % places:
        raise UsageError(
            f"--reorder {spec.shift} with {places} directories", expected=f"a multiple of {places}"
        )


def _block(args: argparse.Namespace) -> int:
    """Value of -b; by default 1 GiB, cut to a multiple of the transfer."""
    transfer = args.transfer or TRANSFER_BYTES
    return int(args.block or max(transfer, BLOCK_BYTES // transfer * transfer))


def _shift(reorder: int | None, hosts: Sequence[str], threads: int, places: int) -> int:
    """Distance between reader and writer in ranks; 0 means the ranks per host, in the same directory."""
    if reorder is None:
        return 0
    alone = len(set(hosts)) == 1
    wanted = 1 if alone else threads * hosts.count(hosts[0])
    return reorder or -(-wanted // max(places, 1)) * max(places, 1)


def _check_together(args: argparse.Namespace, directions: Sequence[str]) -> None:
    """Refuse options that would be ignored or misunderstood beside others. Raises UsageError."""
    if args.stonewall == 0:
        raise UsageError("--stonewall after no time measures nothing", expected="-w 30s")
    if args.wear_out is not None and args.stonewall is None:
        raise UsageError("--wear-out without --stonewall", expected="-w TIME too")
    if args.wear_out and args.wear_out < args.stonewall:
        raise UsageError("--wear-out would end before --stonewall", expected="a later time")
    if directions == ("write",) and args.verify:
        raise UsageError("--verify compares what is read", expected="the phase read too")
    if directions == ("read",) and args.fsync != "none":
        raise UsageError("--fsync is for writes", expected="the phase write too")


_DIRS = "directory for the files, or null: (no storage); of several, ranks take them in turn"
_WEAR_OUT = "let all ranks go on to where the fastest was, at most until TIME"
_LAYOUT = (
    "own: a file a rank (default); segmented, strided: one file, ranks in turn by block or transfer"
)
_REORDER = "read what the rank RANKS further wrote (default: as many as share a host)"
_FSYNC = "force to stable storage: at the end of a file (default), or after each write"
_DEPTH = "transfers of a rank under way at once, through io_uring (1)"
_SEED = "random seed for contents and order (default: a fresh one)"
_FAULT = "misbehave: write:ENOSPC, write@1:+50ms (rank 1), read:x3, all:hang; then :AFTER[:FOR]"
