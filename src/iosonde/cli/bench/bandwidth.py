"""iosonde bench bandwidth: measure, then print the result."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Sequence
from pathlib import Path

from iosonde.bench.bandwidth.run import run_bandwidth
from iosonde.bench.recorder import PlanOutcome
from iosonde.cli.bench.bandwidth_options import parse, plan
from iosonde.cli.bench.measured import BenchmarkContext, run_benchmark, say_kept
from iosonde.cli.shared import options
from iosonde.cli.shared.run_data import write_rows
from iosonde.cli.shared.run_tables import details
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
        _plot(rows, args, context.drawn)
    if args.format != "table":
        write_rows(rows, args.format, args.output)
        return
    print(details(rows, options.now_ns()))
    say_kept(args)


def _plot(rows: list[RunRow], args: argparse.Namespace, root: Path) -> None:
    """Draw rates over time and times of files."""
    from iosonde.bench.bandwidth.sheets import bandwidth_sheet
    from iosonde.drawing.render_sheet import save_sheet

    sheet = bandwidth_sheet(root, rows)
    if sheet is not None:
        save_sheet(sheet, args.plot, dark=args.dark)
        options.note(f"wrote {args.plot}")
