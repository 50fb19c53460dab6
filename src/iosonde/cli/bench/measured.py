"""Common start and end of benchmark commands: processes, the store, Ctrl-C, errors, exit codes."""

from __future__ import annotations

import argparse
import os
import secrets
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.bench.report.answers import PlanOutcome
from iosonde.cli.bench.progress import ProgressBar, ProgressView
from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.host.processes import Processes, find_processes, is_first
from iosonde.model.errors import IosondeError, NothingMeasuredError
from iosonde.model.runs import RunRow


@dataclass(frozen=True, slots=True)
class BenchmarkContext:
    """Environment of a benchmark. ``seed`` is the same in every process."""

    processes: Processes
    root: Path | None
    """The store; None: nothing is stored."""
    spare: Path
    """A temporary folder, removed with the command."""
    seed: int
    view: ProgressView

    @property
    def drawn(self) -> Path:
        """Store that pictures are drawn from."""
        return self.spare if self.root is None else self.root


Measure = Callable[[argparse.Namespace, BenchmarkContext], PlanOutcome]
Show = Callable[[list[RunRow], argparse.Namespace, BenchmarkContext], None]


def run_benchmark(
    parse: Callable[[Sequence[str]], argparse.Namespace],
    measure: Measure,
    show: Show,
    arguments: Sequence[str],
) -> int:
    """Measure in every process; process 0 prints rows and errors. Returns the exit code.

    ``parse`` gives ``no_store`` and ``store`` among its values.
    """
    try:
        args = parse(arguments)
    except IosondeError as error:
        # Every process has been given the same words: one says what is wrong with them.
        if is_first(os.environ):
            raise
        return error.exit_code
    processes = find_processes(os.environ)
    root = None if args.no_store else options.store_folder(args)
    seed = processes.broadcast(secrets.randbits(48))
    try:
        with tempfile.TemporaryDirectory() as spare, Interrupt() as interrupt:
            view = ProgressView(interrupt, quiet=processes.number > 0)
            context = BenchmarkContext(processes, root, Path(spare), seed, view)
            with ProgressBar(view):
                outcome = measure(args, context)
            if processes.number == 0 and outcome.rows:
                show(outcome.rows, args, context)
    except IosondeError as error:
        # Every process has the same error: one says it.
        if processes.number > 0:
            return error.exit_code
        raise
    except BaseException:
        # This process cannot go on, and the others would wait for it.
        processes.abort()
        raise
    return 0 if processes.number > 0 else end(outcome)


def end(outcome: PlanOutcome) -> int:
    """Print the errors; return the exit code. Raises NothingMeasuredError without results and errors."""
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
    """True if the run had a time limit, for which an early end is no failure."""
    return row.parameters.get("limit_ns") is not None


def say_kept(args: argparse.Namespace) -> None:
    """Print the location of the rows."""
    if not args.no_store:
        options.note(f"\nkept in {options.store_folder(args)}; 'iosonde runs' shows it")
