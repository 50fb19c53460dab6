"""iosonde bench bandwidth: measure, then say what it came to."""

from __future__ import annotations

import argparse
import os
import platform
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

from iosonde.bench.bandwidth.run import run_bandwidth
from iosonde.bench.runtime.processes import find_processes, is_first
from iosonde.cli.bench.bandwidth_options import parse, plan
from iosonde.cli.bench.progress import ProgressBar, ProgressView
from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.run_data import write_rows
from iosonde.cli.shared.run_tables import details
from iosonde.model.errors import IosondeError, NothingMeasuredError
from iosonde.model.runs import RunRow


def bandwidth(arguments: Sequence[str]) -> int:
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
            # A picture is drawn from what a store holds.
            drawn = Path(spare) if root is None and args.plot is not None else root
            work = plan(args, processes.all_gather(platform.node()), seed)
            view = ProgressView(interrupt, quiet=processes.number > 0)
            with ProgressBar(view):
                outcome = run_bandwidth(work, processes, drawn, view, options.now_ns())
            if processes.number == 0 and outcome.rows:
                _show(outcome.rows, args, drawn)
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
    limited = args.stonewall is not None
    good = all((row.complete or limited) and not row.failed for row in outcome.rows)
    return 0 if good and not outcome.errors else 1


def _show(rows: list[RunRow], args: argparse.Namespace, drawn: Path | None) -> None:
    if args.plot is not None and drawn is not None:
        _plot(rows, args, drawn)
    if args.format != "table":
        write_rows(rows, args.format, args.output)
        return
    print(details(rows, options.now_ns()))
    if not args.no_store:
        options.note(f"\nkept in {options.store_root(args)}; 'iosonde runs' shows it")


def _plot(rows: list[RunRow], args: argparse.Namespace, root: Path) -> None:
    """Rates over time and times of files."""
    from iosonde.bench.bandwidth.sheets import bandwidth_sheet
    from iosonde.drawing.render_sheet import save_sheet

    sheet = bandwidth_sheet(root, rows)
    if sheet is not None:
        save_sheet(sheet, args.plot, dark=args.dark)
        options.note(f"wrote {args.plot}")
