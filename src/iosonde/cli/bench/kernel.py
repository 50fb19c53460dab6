"""iosonde bench kernel: creates beside writers of several block sizes, through the mount."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from iosonde.bench.bandwidth.spec import FSYNCS
from iosonde.bench.kernel.answers import KernelPhase, examined, keep_creates
from iosonde.bench.kernel.plan import BLOCKS, KernelPlan
from iosonde.bench.kernel.run import KernelOutcome, run_kernel
from iosonde.bench.kernel.words import MARKS, head, say, table_rows
from iosonde.bench.recorder import PlanOutcome
from iosonde.bench.selftest.effects import ProbeSamples
from iosonde.cli.bench.measured import BenchmarkContext, run_benchmark, say_kept
from iosonde.cli.bench.options import add_results, check_results
from iosonde.cli.bench.values import count, seed_number
from iosonde.cli.shared import options
from iosonde.cli.shared.run_data import write_rows
from iosonde.cli.shared.text import table, wrapped
from iosonde.model.errors import StoreError, UsageError
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


@dataclass(slots=True)
class _Command:
    """Results of the command, from the measurement to its table. Filled at process 0."""

    outcome: KernelOutcome | None = None
    samples: dict[str, ProbeSamples] = field(default_factory=dict)
    phases: list[KernelPhase] = field(default_factory=list)

    def measure(self, args: argparse.Namespace, context: BenchmarkContext) -> PlanOutcome:
        """Measure in every process; process 0 joins creates and writers."""
        plan, root = _plan(args, context.seed), context.drawn
        outcome = run_kernel(plan, context.processes, root, context.view, options.now_ns)
        if context.processes.number > 0:
            return PlanOutcome(outcome.rows, outcome.errors, outcome.stopped)
        self.outcome = outcome
        try:
            self.samples, self.phases = examined(root, outcome, plan.period_ns)
            creates = keep_creates(root, outcome, plan, self.phases)
        except StoreError as error:
            return PlanOutcome(outcome.rows, [*outcome.errors, error], outcome.stopped)
        rows = creates + outcome.rows if outcome.phases else []
        return PlanOutcome(rows, outcome.errors, outcome.stopped)

    def show(self, rows: list[RunRow], args: argparse.Namespace, context: BenchmarkContext) -> None:
        """Print table and sentence, or rows; draw the picture."""
        del context
        sentence = say(str(args.directory), self.phases)
        if args.plot is not None:
            self._plot(args, sentence)
        if args.format != "table":
            write_rows(rows, args.format, args.output)
            return
        print(table(head(args.period), table_rows(self.phases)))
        print("\n" + "\n".join(wrapped(MARKS)))
        print("\n" + "\n".join(wrapped(sentence)))
        say_kept(args)

    def _plot(self, args: argparse.Namespace, sentence: str) -> None:
        from iosonde.bench.kernel.sheet import kernel_sheet
        from iosonde.drawing.render_sheet import save_sheet

        sheet = None
        if self.outcome is not None:
            sheet = kernel_sheet(self.samples, self.phases, args.period, sentence)
        if sheet is None:
            options.note("no picture: no create ended")
            return
        save_sheet(sheet, args.plot, dark=args.dark)
        options.note(f"wrote {args.plot}")


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
