"""iosonde simulate: a storage queue and its clients, from a scenario file."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iosonde.cli.queue.fitted import FROM_EXAMPLES, add_fitted, fit_reads
from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.progress import working
from iosonde.cli.shared.render import draw, show
from iosonde.model.errors import UsageError
from iosonde.queue import answers

EXAMPLES = """\
  iosonde simulate examples/queue/figure-5.toml --plot figure-5.png
  iosonde simulate figure-5.toml --set storage.queue=5
  iosonde simulate figure-5.toml --sweep storage.queue=1,5,50,500 --seeds 20
  iosonde simulate figure-5.toml --sweep               the sweep of the file
  iosonde simulate figure-5.toml --rows reads -o reads.parquet

Ctrl-C ends with what was simulated until then. docs/simulate.md describes the scenario file.

"""
ROWS = ("clients", "traces", "reads", "phases")


def main(arguments: Sequence[str]) -> int:
    """Simulate, and print the result."""
    args = _parse(arguments)
    if args.source is not None:
        return fit_reads(args)
    settings = [_setting(text) for text in args.set]
    settings += [("seed", args.seed)] if args.seed is not None else []
    settings += [("ticks", args.ticks)] if args.ticks is not None else []
    with Interrupt() as interrupt, working("simulating") as report:

        def going(done: int, total: int) -> bool:
            report(done, total)
            return not interrupt.wanted

        if args.sweep is not None:
            chosen = _sweep(args.sweep) if args.sweep else None
            swept = answers.swept(args.scenario, settings, chosen, args.seeds, going)
            stopped = interrupt.wanted
        else:
            found = answers.simulated(args.scenario, settings, going)
            stopped = found.found.ticks < found.found.scenario.ticks
    answer: answers.SimulatedAnswer | answers.SweepAnswer
    if args.sweep is not None:
        answer = swept
        if stopped:
            options.note("note: stopped: rows of runs that ended")
    else:
        answer = found._replace(rows=args.rows)
    if args.plot is not None:
        draw(answer.picture(), args, said=False)
    show(answer, args)
    return 130 if stopped else 0


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--set {text}", expected="FIELD=VALUE, such as storage.queue=5")
    return name.strip(), _value(value)


def _value(text: str) -> Any:
    """Parse a TOML value; anything else is text."""
    try:
        return tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return text


def _sweep(text: str) -> tuple[str, tuple[Any, ...]]:
    name, values = _setting(text)
    if isinstance(values, str) and not text.partition("=")[2].startswith("["):
        values = [_value(part) for part in text.partition("=")[2].split(",")]
    return name, tuple(values) if isinstance(values, list) else (values,)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = (
        "The queue in front of a storage system, and who waits in it: simulated from a scenario."
    )
    parser = options.Parser("simulate", summary, EXAMPLES + FROM_EXAMPLES)
    add = parser.add_argument
    add("scenario", type=Path, nargs="?", metavar="SCENARIO.toml", help="scenario file")
    told = "replace a field of the file; repeatable"
    add("--set", action="append", default=[], metavar="FIELD=VALUE", help=told)
    add("--ticks", type=int, metavar="N", help="length of the simulation")
    add("--seed", type=int, metavar="N", help="random seed")
    told = "simulate several values of a field (default: the sweep of the file)"
    add("--sweep", nargs="?", const="", metavar="FIELD=V,V", help=told)
    add("--seeds", type=int, metavar="N", help="seeds per value of a sweep")
    add("--rows", choices=ROWS, default="traces", help="rows of CSV and Parquet (traces)")
    add("--plot", type=Path, metavar="FILE", help="picture: PNG, SVG or PDF")
    add("--width", type=float, default=12.0, metavar="INCHES", help="width of the picture (12)")
    add("--dark", action="store_true", help="dark picture")
    parser.add_data()
    add_fitted(parser)
    parser.add_store()
    args = parser.parse(arguments)
    if args.scenario is None and args.source is None:
        raise UsageError("there is no scenario", expected="SCENARIO.toml, or --from for reads")
    if args.seeds is not None and args.seeds < 1:
        raise UsageError("--seeds is below 1", expected="a number from 1 on")
    return args
