"""iosonde bench metadata: measure, then say what it came to."""

from __future__ import annotations

import argparse
import os
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

from iosonde.bench.adaptive.adaptive import adaptive
from iosonde.bench.adaptive.verdict import more_to_run
from iosonde.bench.adaptive.words import verdict_line, waiting_json
from iosonde.bench.metadata.run import run_plan
from iosonde.bench.runs.compare import compare
from iosonde.bench.runtime.processes import find_processes, is_first
from iosonde.cli.bench.options import parse
from iosonde.cli.bench.plan import plan
from iosonde.cli.bench.progress import ProgressBar, ProgressView
from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.run_data import write_rows
from iosonde.cli.shared.run_tables import comparison, details
from iosonde.cli.shared.verdicts import Verdict, verdict_text, verdicts
from iosonde.model.errors import IosondeError, NothingMeasuredError
from iosonde.model.runs import RunRow
from iosonde.weather.store import Store


def metadata(arguments: Sequence[str]) -> int:
    """Run the benchmark in every process; process 0 speaks."""
    try:
        args = parse(arguments)
    except IosondeError as error:
        # Every process has been given the same words: one says what is wrong with them.
        if is_first(os.environ):
            raise
        return error.exit_code
    processes = find_processes(os.environ)
    root = None if args.no_store else options.store_root(args)
    seed = processes.broadcast(secrets.randbits(48))
    try:
        with tempfile.TemporaryDirectory() as spare, Interrupt() as interrupt:
            samples = _samples(args, root, Path(spare))
            work = plan(args, os.environ, _more_measurements, seed, samples)
            view = ProgressView(interrupt, quiet=processes.number > 0)
            with ProgressBar(view):
                outcome = run_plan(work, processes, root, view, options.now_ns)
            if processes.number == 0 and outcome.rows:
                _show(outcome.rows, args, samples)
    except IosondeError as error:
        # Every process has the same error: one says it.
        if processes.number > 0:
            return error.exit_code
        raise
    except BaseException:
        # This process cannot go on, and the others would wait for it.
        processes.abort()
        raise
    if processes.number > 0:
        return 0
    for text in dict.fromkeys(map(str, outcome.errors)):
        options.note(f"iosonde: {text}")
    if not outcome.rows and not outcome.errors:
        raise NothingMeasuredError("the run was ended before anything was measured")
    if outcome.stopped:
        return 130
    if not outcome.rows:
        return outcome.errors[0].exit_code
    good = all((row.complete or _limited(row)) and not row.failed for row in outcome.rows)
    return 0 if good and not outcome.errors else 1


def _limited(row: RunRow) -> bool:
    """Whether the run had a time limit: ending early is no failure then."""
    return row.parameters.get("limit_ns") is not None


def _more_measurements(rows: Sequence[RunRow], measurements: int) -> int:
    """How many measurements of each waiting factor to add before judging again; none where nothing can be said."""
    try:
        return more_to_run(adaptive(rows).verdict, measurements)
    except IosondeError:
        return 0


def _samples(args: argparse.Namespace, root: Path | None, spare: Path) -> Path | None:
    """Where every operation goes; a picture of them needs it for a while."""
    if not args.samples and (args.plot is None or args.adaptive):
        return None
    return root if args.samples and root is not None else spare


def _show(rows: list[RunRow], args: argparse.Namespace, samples: Path | None) -> None:
    runs = list(dict.fromkeys(row.run_id for row in rows))
    each = [[row for row in rows if row.run_id == run] for run in runs]
    judged = verdicts(each) if args.adaptive else []
    if args.plot is not None:
        _plot(each, judged, args, samples)
    if args.format != "table":
        plain = [waiting_json(found) for _, found in judged]
        write_rows(rows, args.format, args.output, every_factor=args.adaptive, verdicts=plain)
        return
    if len(runs) == 1 and not args.adaptive:
        print(details(rows, options.now_ns(), ranks=(rows[0].ranks or 1) > 2))
    elif judged:
        print(comparison(compare(rows, every_factor=True)))
    if len(runs) > 1 or (args.pattern == "cycle" and not args.adaptive):
        print(("\n" if len(runs) == 1 else "") + comparison(compare(rows)))
    for _, found in judged:
        print(f"\n{verdict_text(found)}")
    if not args.no_store:
        options.note(f"\nkept in {options.store_root(args)}; 'iosonde runs' shows it")


def _plot(
    each: Sequence[list[RunRow]],
    judged: Sequence[Verdict],
    args: argparse.Namespace,
    samples: Path | None,
) -> None:
    """AdaptiveResult: rates over waits. Else densities, and beside them the timeline."""
    from iosonde.drawing.render_sheet import save_sheet

    if judged:
        from iosonde.bench.adaptive.sheet import waiting_sheet

        say = [f"{found.target}: {verdict_line(found)}" for _, found in judged]
        save_sheet(waiting_sheet(judged, say), args.plot, dark=args.dark)
        options.note(f"wrote {args.plot}")
    elif samples is not None:
        from iosonde.bench.metadata.sheets import bench_sheets

        timeline = args.plot.with_name(f"{args.plot.stem}-timeline{args.plot.suffix}")
        sheets = bench_sheets(Store(samples), {rows[0].run_id: rows[0].target for rows in each})
        for path, sheet in zip((args.plot, timeline), sheets, strict=True):
            if sheet is not None:
                save_sheet(sheet, path, dark=args.dark)
                options.note(f"wrote {path}")
