"""iosonde selftest [io]: phases beside a probe, then the operations that each slowed."""

from __future__ import annotations

import argparse
import json
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

from iosonde.bench.selftest import answers
from iosonde.bench.selftest.answers import SelftestFindings
from iosonde.bench.selftest.run import SelftestOutcome, Surroundings, run_selftest
from iosonde.bench.selftest.words import EXPLAINED, as_json, cautions, head, say, table_rows
from iosonde.cli.bench.progress import ProgressBar, ProgressView
from iosonde.cli.selftest.options import parse, plan
from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.progress import preparing
from iosonde.cli.shared.text import table, wrapped
from iosonde.model.errors import NothingMeasuredError

SCHEMA_VERSION = 1


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
            _show(args, outcome, answers.examined(root, outcome))
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


def _show(args: argparse.Namespace, outcome: SelftestOutcome, found: SelftestFindings) -> None:
    sentence = say(str(args.directory), found.effects)
    if args.plot is not None:
        _plot(args, outcome, found, sentence)
    if args.format == "json":
        _write_json(args, outcome, found, sentence)
        return
    rows = table_rows(found.effects, outcome.phases)
    print(table(head(found.effects), rows))
    print("\n" + "\n".join(line for one in (EXPLAINED,) for line in wrapped(one)))
    for text in cautions(found.effects, _processors(outcome), args.ranks):
        options.note(f"note: {text}")
    print(f"\n{sentence}")


def _processors(outcome: SelftestOutcome) -> int:
    machine = next((row.machine for row in outcome.rows if row.machine), {})
    return int(machine.get("processors", 1))


def _write_json(
    args: argparse.Namespace, outcome: SelftestOutcome, found: SelftestFindings, sentence: str
) -> None:
    document = {
        "schema_version": SCHEMA_VERSION,
        "run": outcome.run_id,
        "target": outcome.target,
        "quiet_ns": outcome.quiet_ns,
        "effects": as_json(found.effects, outcome.phases),
        "sentence": sentence,
    }
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    options.put_text(text, args.output)


def _plot(
    args: argparse.Namespace, outcome: SelftestOutcome, found: SelftestFindings, sentence: str
) -> None:
    from iosonde.bench.selftest.sheet import selftest_sheet
    from iosonde.drawing.render_sheet import save_sheet

    title = f"Self-test of {args.directory}: slowdown of the probe"
    sheet = selftest_sheet(found.samples, outcome, title, [sentence])
    if sheet is not None:
        save_sheet(sheet, args.plot, width_in=args.width, dark=args.dark)
        options.note(f"wrote {args.plot}")
