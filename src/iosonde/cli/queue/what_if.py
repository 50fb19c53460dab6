"""iosonde what-if: fit a storage queue to measured reads, and say what another queue would change."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from iosonde.cli.shared import options
from iosonde.cli.shared.text import table
from iosonde.engine.files import write_text
from iosonde.model.errors import UsageError
from iosonde.queue import answers
from iosonde.queue.fit_words import HEAD, fit_json, fit_rows, say_fit, say_what_if

EXAMPLES = """\
  iosonde what-if reads.csv                 N, M and how well the model fits
  iosonde what-if reads.csv --queue 5       and what reads would take with a queue of 5
  iosonde what-if reads.parquet --queue 5 --load 800 --format json

The table has a row a read: latency_s (or latency_ns) and load_per_s, the operations that all clients asked for in a
second while it was under way. The exit code is 1 where the model does not explain the reads. See docs/simulate.md.
"""


def main(arguments: Sequence[str]) -> int:
    """Print the fit, and what follows from it."""
    args = _parse(arguments)
    found, answer = answers.fitted(args.file, args.queue, args.load, args.seed, _warn)
    if args.format == "json":
        document = {"schema_version": answers.SCHEMA_VERSION, **fit_json(found, answer)}
        text = json.dumps(document, indent=2, allow_nan=False) + "\n"
        if args.output is None:
            sys.stdout.write(text)
        else:
            write_text(text, args.output)
    else:
        print("\n".join(say_fit(found)))
        if answer is not None:
            print(say_what_if(answer, found))
        print("\n" + table(HEAD, fit_rows(found)))
    return 0 if found.explained else 1


def _warn(message: str) -> None:
    options.note(f"iosonde: note: {message}")


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Service time N and queue M of a storage system from measured reads, and what a change would do."
    parser = options.Parser("what-if", summary, EXAMPLES)
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="reads with loads: CSV, Parquet or JSON lines")
    add("--queue", type=int, metavar="M", help="another length of the queue, operations")
    told = "load of the answer, operations per second (default: the highest)"
    add("--load", type=float, metavar="RATE", help=told)
    add("--seed", type=int, default=1, metavar="N", help="random seed of the simulations (1)")
    parser.add_data(("json",))
    args = parser.parse(arguments)
    if args.queue is not None and args.queue < 1:
        raise UsageError(f"--queue {args.queue}", expected="a number of operations from 1 on")
    if args.load is not None and not 0 < args.load < float("inf"):
        raise UsageError(f"--load {args.load}", expected="operations per second above 0")
    return args
