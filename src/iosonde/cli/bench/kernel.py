"""iosonde bench kernel: creates beside writers of several block sizes, through the mount."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from iosonde.bench.kernel.answers import BLOCKS, FSYNCS, KernelAnswer, KernelPlan, measure
from iosonde.bench.report.answers import PlanOutcome, RunsAnswer
from iosonde.cli.bench.measured import BenchmarkContext, run_benchmark, say_kept
from iosonde.cli.bench.options import add_results, check_results
from iosonde.cli.bench.values import count, seed_number
from iosonde.cli.shared import options
from iosonde.cli.shared.render import draw, print_blocks, show
from iosonde.model.errors import UsageError
from iosonde.model.ops import SECOND_NS
from iosonde.model.runs import RunRow
from iosonde.model.units import parse_duration, parse_size

EXAMPLES = """\
  iosonde bench kernel /nfs/work -n 4               4 writers of 1 KiB, 64 KiB, 1 MiB; creates beside them
  iosonde bench kernel /nfs/work -b 4K -b 16M --duration 2m
  iosonde bench kernel /nfs/work --plot creates.png
  mpirun -n 64 iosonde bench kernel /nfs/work       a writer a process; process 0 creates files, too

DIR is any mounted directory; only .iosonde-kernel-... below it is touched. As root the kernel's caches are dropped
every 0.1 s on every node, unless --keep-caches. docs/bench-kernel.md explains every number.
"""


def kernel(arguments: Sequence[str]) -> int:
    """Run the benchmark in every process; process 0 prints."""
    command = _Command()
    return run_benchmark(_parse, command.measure, command.show, arguments)


class _Command:
    """The answer, from the measurement to its table."""

    found: KernelAnswer

    def measure(self, args: argparse.Namespace, context: BenchmarkContext) -> PlanOutcome:
        """Measure in every process."""
        plan = _plan(args, context.seed)
        self.found = measure(plan, context.processes, context.drawn, context.view, options.now_ns)
        return self.found.outcome

    def show(self, rows: list[RunRow], args: argparse.Namespace, context: BenchmarkContext) -> None:
        """Print table and sentence, or rows; draw the picture."""
        del context
        if args.plot is not None:
            missing = "no picture: no create ended"
            draw(self.found.picture(), args, width_in=12.0, without=missing)
        if args.format != "table":
            show(RunsAnswer(rows), args, indent=None)
            return
        print_blocks(self.found.shown())
        say_kept(args)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = options.Parser(
        "bench kernel",
        "Write blocks of several sizes through a mount; measure how long creates beside them take.",
        EXAMPLES,
    )
    size, time = options.reads(parse_size), options.reads(parse_duration)
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR", help="directory of a mounted file system")
    add(
        "-n",
        "--writers",
        type=count,
        default=1,
        metavar="N",
        help="number of writers per process (1)",
    )
    add("-b", "--block", type=size, action="append", metavar="SIZE", help=_BLOCK)
    add("--duration", type=time, default=30 * SECOND_NS, metavar="TIME", help=_DURATION)
    add(
        "--quiet",
        type=time,
        default=30 * SECOND_NS,
        metavar="TIME",
        help="duration of creates alone (30s)",
    )
    add("--pause", type=time, default=2 * SECOND_NS, metavar="TIME", help="pause after each (2s)")
    add("--every", type=time, default=SECOND_NS // 10, metavar="TIME", help="create every (100ms)")
    add("--period", type=time, default=SECOND_NS, metavar="TIME", help=_PERIOD)
    add(
        "--file-size",
        type=size,
        default=1 << 30,
        metavar="SIZE",
        help="size of a writer's file (1G)",
    )
    add("--fsync", choices=FSYNCS, default="end", help=_FSYNC)
    add("--keep-caches", action="store_true", help="never drop the caches of the kernel")
    add("--seed", type=seed_number, metavar="N", help="random seed for contents")
    add_results(parser)
    args = parser.parse(arguments)
    check_results(args)
    _check(args)
    return args


def _check(args: argparse.Namespace) -> None:
    """Raise UsageError for options with nothing to measure."""
    for name in ("duration", "quiet", "period", "every"):
        if getattr(args, name) <= 0:
            raise UsageError(f"--{name} 0 measures nothing", expected="a time such as 30s")
    if args.quiet < 10 * args.every:
        raise UsageError(
            "--quiet is too short for a baseline", expected="10 times --every, or longer"
        )
    blocks = args.block or BLOCKS
    if min(blocks) < 1 or len(set(blocks)) < len(blocks):
        raise UsageError("-b names a block size twice, or 0", expected="each size once")
    if max(blocks) > args.file_size:
        raise UsageError("a block is larger than --file-size", expected="room for a block")


def _plan(args: argparse.Namespace, seed: int) -> KernelPlan:
    return KernelPlan(
        place=args.directory,
        writers=args.writers,
        blocks=tuple(args.block or BLOCKS),
        duration_ns=args.duration,
        quiet_ns=args.quiet,
        pause_ns=args.pause,
        every_ns=args.every,
        period_ns=args.period,
        file_bytes=args.file_size,
        fsync=args.fsync,
        drop_caches=not args.keep_caches,
        seed=seed if args.seed is None else args.seed,
    )


_BLOCK = "bytes of a write; may be given several times (1K, 64K, 1M)"
_DURATION = "writes of each block size (30s)"
_PERIOD = "keep the longest create of each such time (1s)"
_FSYNC = "force to stable storage: none, at the end of a file, after each write (end)"
