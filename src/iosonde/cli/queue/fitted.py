"""iosonde simulate --from: a storage queue fitted to measured reads, and the effect of another queue."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.cli.shared import options
from iosonde.cli.shared.render import show
from iosonde.jobs.environment.answers import reads
from iosonde.model.errors import UsageError
from iosonde.model.ops import OP_WORDS
from iosonde.queue import answers

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

OPS = tuple(OP_WORDS)

FROM_EXAMPLES = """\
  iosonde simulate --from reads.csv                 N, M and how well the model fits
  iosonde simulate --from reads.csv --queue 5       and what reads would take with a queue of 5
  iosonde simulate --from reads.parquet --queue 5 --load 800 --format json
  iosonde simulate --from --target /work --metric read_ops,write_ops --since -1d --queue 5

A table has a row a read: latency_s (or latency_ns) and load_per_s, the operations that all clients asked for in a
second while it was under way. A store has a probe's reads, and imported series of operations. The exit code is 1
where the model does not explain the reads. See docs/simulate.md.
"""


def add_fitted(parser: options.Parser) -> None:
    """Add --from, and its dependent options."""
    add = parser.add_argument_group("fitted to measured reads").add_argument
    told = "reads with loads (CSV, Parquet, JSON lines), or a store (default: the store)"
    add("--from", dest="source", nargs="?", const="", metavar="FILE", help=told)
    add("--target", metavar="NAME", help="target of the store whose operations are the reads")
    add("--op", choices=OPS, default="data_read", help="operation of the probe (data_read)")
    add("--metric", metavar="NAMES", help="series of loads, added up: read_ops,write_ops")
    add("--system", metavar="NAME", help="file system of the series")
    add("--since", metavar="TIME", default="-7d", help="begin of the reads (default: -7d)")
    add("--until", metavar="TIME", help="end of the reads")
    add("--queue", type=int, metavar="M", help="another length of the queue, operations")
    told = "load of the answer, operations per second (default: the highest)"
    add("--load", type=float, metavar="RATE", help=told)


def fit_reads(args: argparse.Namespace) -> int:
    """Print the fit, and predictions from it."""
    _settle(args)
    measured = (
        _stored(args) if args.scenario is None else answers.read_samples(args.scenario, _warn)
    )
    seed = 1 if args.seed is None else args.seed
    found = answers.fitted(measured, args.queue, args.load, seed)
    show(found, args)
    return 0 if found.found.explained else 1


def _settle(args: argparse.Namespace) -> None:
    """Distinguish a table from a store: a table becomes ``args.scenario``, a folder ``args.store``. Raises
    UsageError.
    """
    if args.source and Path(args.source).is_dir():
        args.store = args.source
    elif args.source:
        args.scenario = Path(args.source)
    if (args.scenario is None) == (args.target is None or args.metric is None):
        raise UsageError(
            "the reads are not named",
            expected="a FILE, or --target and --metric for reads and loads of the store",
            hint="'iosonde simulate --help'",
        )
    if args.format not in ("table", "json"):
        raise UsageError(f"there is no {args.format} of a fit", expected="table or json")
    if args.queue is not None and args.queue < 1:
        raise UsageError(f"--queue {args.queue}", expected="a number of operations from 1 on")
    if args.load is not None and not 0 < args.load < float("inf"):
        raise UsageError(f"--load {args.load}", expected="operations per second above 0")


def _stored(args: argparse.Namespace) -> tuple[Floats, Floats]:
    """The probe's operations that ended ok, each with the load beside it."""
    metrics = tuple(word.strip() for word in args.metric.split(","))
    span = options.time_range(args, options.now_ns())
    root = options.store_root(args)
    found = reads(root, (args.target, args.op), span, metrics, args.system)
    options.note(found.sentence)
    return found.latency_s, found.load_per_s


def _warn(message: str) -> None:
    options.note(f"iosonde: note: {message}")
