"""iosonde bench bandwidth: measure, then print the result."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Sequence

from iosonde.bench.bandwidth.answers import bandwidth_picture, run_bandwidth
from iosonde.bench.report.answers import PlanOutcome, RunsAnswer
from iosonde.cli.bench.bandwidth_options import parse, plan
from iosonde.cli.bench.measured import BenchmarkContext, run_benchmark, say_kept
from iosonde.cli.shared import options
from iosonde.cli.shared.render import draw, show
from iosonde.model.runs import RunRow


def bandwidth(arguments: Sequence[str]) -> int:
    """Run the benchmark in every process; process 0 prints."""
    return run_benchmark(parse, _measure, _show, arguments)


def _measure(args: argparse.Namespace, context: BenchmarkContext) -> PlanOutcome:
    processes = context.processes
    work = plan(args, processes.all_gather(platform.node()), context.seed)
    # A picture is drawn from what a store holds.
    root = context.root if args.plot is None else context.drawn
    return run_bandwidth(work, processes, root, context.view, options.now_ns())


def _show(rows: list[RunRow], args: argparse.Namespace, context: BenchmarkContext) -> None:
    if args.plot is not None:
        draw(bandwidth_picture(context.drawn, rows), args, width_in=12.0)
    show(RunsAnswer(rows, options.now_ns(), ("run",)), args, indent=None)
    if args.format == "table":
        say_kept(args)
