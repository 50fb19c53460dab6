"""iosonde runs: benchmark runs of the store side by side, or one of them in detail."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from iosonde.bench.report.answers import ORDERS, runs_of, verdicts, waits
from iosonde.cli.shared import options
from iosonde.cli.shared.in_time import add_timeout, answered_in_time
from iosonde.cli.shared.named_run import run_named
from iosonde.cli.shared.render import show
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
    found = runs_of(root, target=target, since_ns=since, until_ns=until)
    rows = found.rows
    if not rows:
        raise NothingMeasuredError(
            f"there are no runs for this question in {root}",
            expected="'iosonde bench metadata DIR' or 'iosonde import FILE' before",
            hint="a longer --since, or --store",
        )
    if args.run is not None:
        wanted = run_named(args.run, list(dict.fromkeys(row.run_id for row in rows)))
        rows = [row for row in rows if row.run_id == wanted]
        judged = verdicts([rows], _warn) if waits(rows) else []
        found = found._replace(
            rows=rows, parts=("run",), ranks=args.ranks, verdicts=[one for _, one in judged]
        )
    factors = args.waiting_factors
    found = found._replace(now_ns=now_ns, every_factor=factors, order=args.sort)
    show(found, args, indent=None)
    return 0


def _warn(text: str) -> None:
    options.note(f"iosonde: {text}")


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Benchmark runs side by side (rate, balance, max, quartile 3), or one run in detail."
    parser = options.Parser("runs", summary, EXAMPLES)
    add = parser.add_argument
    add("run", nargs="?", metavar="RUN", help="a run, or the beginning of its id (default: all)")
    add("--target", help="runs of this target only")
    parser.add_range()
    add("--waiting-factors", action="store_true", help="a line for every waiting factor of a run")
    add("--sort", choices=tuple(ORDERS), default="newest", help="order of the list (newest first)")
    add("--ranks", action="store_true", help="slowest ranks of one run")
    parser.add_data()
    add_timeout(parser, "10m")
    parser.add_store()
    args = parser.parse(arguments)
    if args.ranks and args.run is None:
        raise UsageError("--ranks is for one run", hint="'iosonde runs RUN --ranks'")
    return args
