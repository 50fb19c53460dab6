"""iosonde bench metadata: measure, then say what it came to."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from iosonde.analysis.bench import run_plan
from iosonde.analysis.runs import compare
from iosonde.cli import options
from iosonde.cli.bench_options import parse, plan
from iosonde.cli.bench_progress import Following, Looking
from iosonde.cli.interrupt import Interrupt
from iosonde.cli.run_tables import comparison, details
from iosonde.measure.ranks import Processes, find_processes
from iosonde.model.errors import IosondeError, NothingMeasuredError
from iosonde.model.runs import RunRow


def metadata(arguments: Sequence[str]) -> int:
    """Run the benchmark in every process; process 0 speaks."""
    args = parse(arguments)
    processes = find_processes(os.environ)
    root = None if args.no_store else options.store_root(args)
    seed = processes.first_says(secrets.randbits(48))
    try:
        with Interrupt() as interrupt:
            asked = plan(args, os.environ, _more_repeats, seed)
            looking = Looking(interrupt, quiet=processes.number > 0)
            with Following(looking):
                ran = run_plan(asked, processes, root, looking, options.now_ns)
    except IosondeError as error:
        # Every process has the same error: one says it.
        if processes.number > 0:
            return error.exit_code
        raise
    except BaseException:
        # This process cannot go on, and the others would wait for it.
        processes.leave_all()
        raise
    if processes.number > 0:
        return 0
    if ran.rows:
        _show(ran.rows, args, processes)
    elif ran.errors:
        raise ran.errors[0]
    else:
        raise NothingMeasuredError("the run was ended before anything was measured")
    for wrong in ran.errors:
        options.tell(f"iosonde: {wrong}")
    if ran.stopped:
        return 130
    good = all((row.complete or _limited(row)) and not row.failed for row in ran.rows)
    return 0 if good and not ran.errors else 1


def _limited(row: RunRow) -> bool:
    """A time limit was asked for: ending early is no failure."""
    return row.parameters.get("limit_ns") is not None


def _more_repeats(rows: Sequence[RunRow]) -> int:
    """How many more repeats of each waiting factor would decide."""
    from iosonde.analysis.waiting import adaptive

    return adaptive(rows).judged.more_repeats or 0


def _show(rows: list[RunRow], args: argparse.Namespace, processes: Processes) -> None:
    if args.plot is not None:
        _plot(rows, args)
    if args.format != "table":
        _write(rows, args)
        return
    runs = list(dict.fromkeys(row.run_id for row in rows))
    if len(runs) == 1:
        print(details(rows, options.now_ns(), ranks=processes.size * args.ranks[0] > 1))
    if len(runs) > 1 or args.pattern == "cycle":
        print(("\n" if len(runs) == 1 else "") + comparison(compare(rows)))
    if args.adaptive:
        from iosonde.analysis.waiting import adaptive
        from iosonde.findings.waiting import say_waiting

        for run in runs:
            mine = [row for row in rows if row.run_id == run]
            first, *rest = say_waiting(adaptive(mine))
            print(f"\n{mine[0].target}: {first}")
            for line in rest:
                print(f"  {line}")
    if not args.no_store:
        options.tell(f"\nkept in {options.store_root(args)}; 'iosonde runs' shows it")


def _write(rows: list[RunRow], args: argparse.Namespace) -> None:
    if args.format == "json" and args.output is None:
        json.dump([asdict(row) for row in rows], sys.stdout, allow_nan=False)
        print()
        return
    from iosonde.store.export import write_frame
    from iosonde.store.run_lines import frame_of

    if args.output is not None:
        write_frame(frame_of(rows), args.output, args.format)
        options.tell(f"wrote {args.output}")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"runs.{args.format}"
        write_frame(frame_of(rows), path, args.format)
        options.copy_to_stdout(path)


def _plot(rows: list[RunRow], args: argparse.Namespace) -> None:
    del rows, args
