"""iosonde bench metadata: measure, then print the result."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.bench.metadata.answers import (
    metadata_pictures,
    more_measurements,
    run_plan,
)
from iosonde.bench.report.answers import (
    Part,
    PlanOutcome,
    RunsAnswer,
    verdicts,
    waiting_picture,
)
from iosonde.cli.bench.measured import BenchmarkContext, run_benchmark, say_kept
from iosonde.cli.bench.options import parse
from iosonde.cli.bench.plan import plan
from iosonde.cli.shared import options
from iosonde.cli.shared.render import draw, show
from iosonde.model.runs import RunRow

if TYPE_CHECKING:
    from iosonde.bench.report.answers import Judged


def metadata(arguments: Sequence[str]) -> int:
    """Run the benchmark in every process; process 0 prints."""
    return run_benchmark(parse, _measure, _show, arguments)


def _measure(args: argparse.Namespace, context: BenchmarkContext) -> PlanOutcome:
    work = plan(args, os.environ, more_measurements, context.seed, _samples(args, context))
    return run_plan(work, context.processes, context.root, context.view, options.now_ns)


def _samples(args: argparse.Namespace, context: BenchmarkContext) -> Path | None:
    """Store for single operations; a picture of them needs it temporarily."""
    if not args.samples and (args.plot is None or args.adaptive):
        return None
    return context.drawn if args.samples else context.spare


def _show(rows: list[RunRow], args: argparse.Namespace, context: BenchmarkContext) -> None:
    runs = list(dict.fromkeys(row.run_id for row in rows))
    each = [[row for row in rows if row.run_id == run] for run in runs]
    judged = verdicts(each, _warn) if args.adaptive else []
    if args.plot is not None:
        _plot(each, judged, args, _samples(args, context))
    parts: list[Part] = ["factors"] if args.adaptive else ["run"] if len(runs) == 1 else []
    if len(runs) > 1 or (args.pattern == "cycle" and not args.adaptive):
        parts.append("runs")
    limits = [found for _, found in judged]
    ranks = (rows[0].ranks or 1) > 2
    found = RunsAnswer(rows, options.now_ns(), parts, args.adaptive, limits, ranks=ranks)
    show(found, args, indent=None)
    if args.format == "table":
        say_kept(args)


def _warn(text: str) -> None:
    options.note(f"iosonde: {text}")


def _plot(
    each: Sequence[Sequence[RunRow]],
    judged: Sequence[Judged],
    args: argparse.Namespace,
    samples: Path | None,
) -> None:
    """AdaptiveResult: rates over waits. Else densities, and beside them the timeline."""
    if judged:
        draw(waiting_picture(judged), args, width_in=9.0)
    elif samples is not None:
        densities, timeline = metadata_pictures(samples, each)
        draw(densities, args, width_in=12.0)
        args.plot = args.plot.with_name(f"{args.plot.stem}-timeline{args.plot.suffix}")
        draw(timeline, args, width_in=12.0)
