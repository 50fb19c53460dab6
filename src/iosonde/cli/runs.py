"""iosonde runs: benchmark runs of the store side by side, or one of them in detail."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from iosonde.bench.adaptive.words import waiting_json
from iosonde.bench.runs.compare import RunSummary, compare
from iosonde.bench.runs.store import read
from iosonde.cli.shared import options
from iosonde.cli.shared.in_time import add_timeout, answered_in_time
from iosonde.cli.shared.named_run import run_named
from iosonde.cli.shared.run_data import write_rows
from iosonde.cli.shared.run_tables import comparison, details
from iosonde.cli.shared.verdicts import verdict_text, verdicts, waits
from iosonde.model.errors import NothingMeasuredError, UsageError

EXAMPLES = """\
  iosonde runs                         all runs, measured here or imported
  iosonde runs --target /work --since -7d --sort creates
  iosonde runs mdw-lat                 one run: phases, operations, quantiles
  iosonde runs 4f2c91 --ranks          by the beginning of its id, with its slowest ranks
  iosonde runs --waiting-factors       a line for every waiting factor
  iosonde runs --format csv -o runs.csv

See docs/importing.md for runs of other tools, schema/tables/runs.toml for the columns of the data.
"""


def main(arguments: Sequence[str]) -> int:
    """Print the comparison, one run, or rows as data."""
    return answered_in_time(_parse(arguments), _answer)


def _answer(args: argparse.Namespace) -> int:
    now_ns = options.now_ns()
    root = options.store_root(args)
    since, until = options.time_range(args, now_ns)
    target = None if args.target is None else args.target.rstrip("/") or "/"
    rows = read(root, target=target, since_ns=since, until_ns=until)
    if not rows:
        raise NothingMeasuredError(
            f"there are no runs for this question in {root}",
            expected="'iosonde bench metadata DIR' or 'iosonde import FILE' before",
            hint="a longer --since, or --store",
        )
    if args.run is not None:
        wanted = run_named(args.run, list(dict.fromkeys(row.run_id for row in rows)))
        rows = [row for row in rows if row.run_id == wanted]
    judged = verdicts([rows]) if args.run is not None and waits(rows) else []
    if args.format != "table":
        plain = [waiting_json(found) for _, found in judged]
        factors = args.waiting_factors
        write_rows(
            rows,
            args.format,
            args.output,
            every_factor=factors,
            verdicts=plain,
            root=options.store_root(args),
        )
    elif args.run is not None:
        print(details(rows, now_ns, ranks=args.ranks))
        for _, found in judged:
            print(f"\n{verdict_text(found)}")
    else:
        summaries = compare(rows, every_factor=args.waiting_factors)
        print(comparison(sorted(summaries, key=_ORDERS[args.sort]), now_ns))
    return 0


def _up(value: float | None) -> tuple[bool, float]:
    """Sort key, ascending, with missing values last."""
    return value is None, value or 0.0


def _down(value: float | None) -> tuple[bool, float]:
    return value is None, -(value or 0.0)


_ORDERS: dict[str, Callable[[RunSummary], Any]] = {
    "newest": lambda one: _down(one.first_ns),
    "oldest": lambda one: _up(one.first_ns),
    "name": lambda one: one.run_id,
    "target": lambda one: (one.target, _down(one.first_ns)),
    "creates": lambda one: _down(one.creates_per_s),
    "max": lambda one: _down(one.max_ns),
}
"""Orders of listed runs."""


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Benchmark runs side by side (rate, balance, max, quartile 3), or one run in detail."
    parser = options.Parser("runs", summary, EXAMPLES)
    add = parser.add_argument
    add("run", nargs="?", metavar="RUN", help="a run, or the beginning of its id (default: all)")
    add("--target", help="runs of this target only")
    parser.add_range()
    add("--waiting-factors", action="store_true", help="a line for every waiting factor of a run")
    add("--sort", choices=tuple(_ORDERS), default="newest", help="order of the list (newest first)")
    add("--ranks", action="store_true", help="slowest ranks of one run")
    parser.add_data()
    add_timeout(parser, "10m")
    parser.add_store()
    args = parser.parse(arguments)
    if args.ranks and args.run is None:
        raise UsageError("--ranks is for one run", hint="'iosonde runs RUN --ranks'")
    return args
