"""iosonde selftest [io]: phases beside a probe, then the operations that each slowed."""

from __future__ import annotations

import argparse
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

from iosonde.bench.selftest.answers import (
    SelftestAnswer,
    SelftestOutcome,
    Surroundings,
    examined,
    run_selftest,
)
from iosonde.cli.bench.progress import ProgressBar, ProgressView
from iosonde.cli.selftest.options import parse, plan
from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.progress import preparing
from iosonde.cli.shared.render import draw, show
from iosonde.model.errors import NothingMeasuredError


def io(arguments: Sequence[str]) -> int:
    """Measure, examine, show."""
    args = parse(arguments)
    with tempfile.TemporaryDirectory() as spare:
        root = Path(spare) if args.no_store else options.store_folder(args)
        outcome = _measure(args, root)
        for text in dict.fromkeys(map(str, outcome.errors)):
            options.note(f"iosonde: {text}")
        if not outcome.phases and not outcome.errors:
            raise NothingMeasuredError("the self-test was ended before its first phase")
        if outcome.phases:
            found = examined(root, outcome)
            _show(args, SelftestAnswer(str(args.directory), outcome, found))
    if not args.no_store and outcome.rows:
        options.note(f"\nkept in {root} as {outcome.run_id}-...; 'iosonde runs' shows the phases")
    if outcome.stopped:
        return 130
    good = all(not row.failed for row in outcome.rows)
    return 0 if good and not outcome.errors else 1


def _measure(args: argparse.Namespace, root: Path) -> SelftestOutcome:
    work = plan(args, secrets.randbits(48))
    with Interrupt() as interrupt, preparing(interrupt) as prepare:
        view = ProgressView(interrupt, quiet=False)
        around = Surroundings(options.now_ns, interrupt.wait, prepare, view)
        with ProgressBar(view):
            return run_selftest(work, root, around)


def _show(args: argparse.Namespace, found: SelftestAnswer) -> None:
    if args.plot is not None:
        draw(found.picture(), args)
    show(found, args)
    if args.format == "table":
        for text in found.cautions(args.ranks):
            options.note(f"note: {text}")
        print(f"\n{found.sentence}")
