"""iosonde bench metadata: measure, then print the result."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from iosonde.bench.adaptive.adaptive import adaptive
from iosonde.bench.adaptive.verdict import more_to_run
from iosonde.bench.adaptive.words import verdict_line, waiting_json
from iosonde.bench.metadata.run import run_plan
from iosonde.bench.recorder import PlanOutcome
from iosonde.bench.runs.compare import compare
from iosonde.cli.bench.measured import BenchmarkContext, run_benchmark, say_kept
from iosonde.cli.bench.options import parse
from iosonde.cli.bench.plan import plan
from iosonde.cli.shared import options
from iosonde.cli.shared.run_data import write_rows
from iosonde.cli.shared.run_tables import comparison, details
from iosonde.cli.shared.verdicts import Verdict, verdict_text, verdicts
from iosonde.model.errors import IosondeError
from iosonde.model.runs import RunRow
from iosonde.weather.store import Store


def metadata(arguments: Sequence[str]) -> int:
    """Run the benchmark in every process; process 0 prints."""
    return run_benchmark(parse, _measure, _show, arguments)


def _measure(args: argparse.Namespace, context: BenchmarkContext) -> PlanOutcome:
    work = plan(args, os.environ, _more_measurements, context.seed, _samples(args, context))
    return run_plan(work, context.processes, context.root, context.view, options.now_ns)


def _more_measurements(rows: Sequence[RunRow], measurements: int) -> int:
    """Number of measurements of each waiting factor to add before judging again; 0 if unjudgeable."""
    try:
        return more_to_run(adaptive(rows).verdict, measurements)
    except IosondeError:
        return 0


def _samples(args: argparse.Namespace, context: BenchmarkContext) -> Path | None:
    """Store for single operations; a picture of them needs it temporarily."""
    if not args.samples and (args.plot is None or args.adaptive):
        return None
    return context.drawn if args.samples else context.spare


def _show(rows: list[RunRow], args: argparse.Namespace, context: BenchmarkContext) -> None:
    runs = list(dict.fromkeys(row.run_id for row in rows))
    each = [[row for row in rows if row.run_id == run] for run in runs]
    judged = verdicts(each) if args.adaptive else []
    if args.plot is not None:
        _plot(each, judged, args, _samples(args, context))
    if args.format != "table":
        plain = [waiting_json(found) for _, found in judged]
        write_rows(rows, args.format, args.output, every_factor=args.adaptive, verdicts=plain)
        return
    if len(runs) == 1 and not args.adaptive:
        print(details(rows, options.now_ns(), ranks=(rows[0].ranks or 1) > 2))
    elif args.adaptive:
        print(comparison(compare(rows, every_factor=True)))
    if len(runs) > 1 or (args.pattern == "cycle" and not args.adaptive):
        print(("\n" if len(runs) == 1 else "") + comparison(compare(rows)))
    for _, found in judged:
        print(f"\n{verdict_text(found)}")
    say_kept(args)


def _plot(
    each: Sequence[list[RunRow]],
    judged: Sequence[Verdict],
    args: argparse.Namespace,
    samples: Path | None,
) -> None:
    """Draw rates over waits for an adaptive run, else densities, and the timeline beside them."""
    from iosonde.drawing.render_sheet import save_sheet

    if judged:
        from iosonde.bench.adaptive.sheet import waiting_sheet

        say = [f"{found.target}: {verdict_line(found)}" for _, found in judged]
        save_sheet(waiting_sheet(judged, say), args.plot, width_in=9.0, dark=args.dark)
        options.note(f"wrote {args.plot}")
    elif samples is not None:
        from iosonde.bench.metadata.sheets import bench_sheets

        timeline = args.plot.with_name(f"{args.plot.stem}-timeline{args.plot.suffix}")
        sheets = bench_sheets(Store(samples), each)
        for path, sheet in zip((args.plot, timeline), sheets, strict=True):
            if sheet is not None:
                save_sheet(sheet, path, dark=args.dark)
                options.note(f"wrote {path}")
