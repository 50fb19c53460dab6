"""iosonde compare: two periods, targets, hosts or runs; faster, slower, same, or not enough data."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.cli.shared.compared_runs import compare_named_runs, run_sides
from iosonde.cli.shared.render import draw, show
from iosonde.model.errors import UnitError
from iosonde.weather.compare import answers

EXAMPLES = """\
  iosonde compare /work@2026-11-01..2026-11-07 /work@2026-11-08..2026-11-14
  iosonde compare yesterday today --target /work
  iosonde compare @2026-W44 @2026-W45 --target /work --op reads
  iosonde compare /work /scratch --since -1d
  iosonde compare login1 login2 --target /work --since -4h
  iosonde compare mdw-i0 mdw-i1              two runs, by id or how it begins
  iosonde compare run:4f2c91 /work@yesterday
  iosonde compare metadata-20261101 metadata-20261108       two benchmark runs, as 'iosonde runs' lists them
  iosonde compare A1,A2,A3 B1,B2,B3          several runs a side, measured in turn: what an acceptance test needs
  iosonde compare yesterday today --target /work --plot shifts.png

A side is a target (by name or path), host or run, a period, or both joined by @.
A day as the end of FROM..TO counts whole.
The verdict is about B as seen from A; docs/methods/compare.md and compare-runs.md say how it is found.
"""
_FORMATS = ("json", "csv")


def main(arguments: Sequence[str]) -> int:
    """Print the verdict of every operation, or all quantiles as data."""
    args = _parse(arguments)
    now_ns, root = options.now_ns(), options.store_root(args)
    named = run_sides(root, (args.a, args.b))
    if named is not None:
        return compare_named_runs(root, named, args)
    found = answers.compare(
        root,
        (args.a, args.b),
        now_ns,
        target=args.target,
        host=args.host,
        span_ns=options.time_range(args, now_ns),
        ops=tuple(args.op) if args.op else None,
        margin=args.margin,
        every_quantile=args.quantiles,
    )
    if args.plot is not None:
        draw(found.picture(), args, width_in=10.0)
    show(found, args)
    if args.format == "table":
        for text in found.notes():
            options.note(text)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Is B faster than A, slower, the same, or can the samples not tell?"
    parser = options.Parser("compare", summary, EXAMPLES)
    add = parser.add_argument
    add("a", metavar="A", help="reference side")
    add("b", metavar="B", help="side to judge")
    add("--target", help="target of a side that names none")
    parser.add_host()
    parser.add_op()
    parser.add_range()
    margin = options.reads(_margin)
    add(
        "--margin",
        type=margin,
        default=answers.MARGIN,
        metavar="SHARE",
        help="largest ratio that counts as same (20%%)",
    )
    add("--quantiles", action="store_true", help="every quantile of every operation")
    parser.add_picture("draw all quantiles: .png, .svg, .pdf or .json")
    parser.add_data(_FORMATS)
    parser.add_store()
    return parser.parse(arguments)


def _margin(text: str) -> float:
    """Parse ``20%`` or ``1.2`` to 1.2."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", text.strip())
    value = float(match[1]) if match else 0.0
    margin = 1 + value / 100 if match and match[2] else value
    if not 1 < margin <= 10:
        raise UnitError(f"cannot read the margin {text!r}", expected="10% or 1.1; at most 10")
    return margin
