"""iosonde compare: two periods, targets, hosts or runs; faster, slower, same, or not enough data."""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.cli.shared import options
from iosonde.cli.shared.compared_runs import compare_named_runs, run_sides
from iosonde.cli.shared.text import table
from iosonde.engine.files import write_frame, write_text
from iosonde.engine.left_out import with_left_out
from iosonde.model.errors import UnitError
from iosonde.model.frames import Frame
from iosonde.model.ops import op_word
from iosonde.model.units import format_count, format_duration, format_time
from iosonde.weather import answers
from iosonde.weather.compare.compare import Compared
from iosonde.weather.compare.ratios import level_name, short_ratio
from iosonde.weather.compare.words import MARGIN, OpComparison, say_comparison, say_ratio
from iosonde.weather.samples.periods import Part
from iosonde.weather.selectors import Defaults
from iosonde.weather.store import Store

SCHEMA_VERSION = 1
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
_SHOWN = {0.5: "median", 0.95: "q95", 0.99: "q99"}


def main(arguments: Sequence[str]) -> int:
    """Print the verdict of every operation, or all quantiles as data."""
    args = _parse(arguments)
    now_ns = options.now_ns()
    store = Store(options.store_root(args))
    named = run_sides(store, (args.a, args.b))
    if named is not None:
        return compare_named_runs(store.root, named, args)
    defaults = Defaults(args.target, args.host, *options.time_range(args, now_ns))
    ops, sides = tuple(args.op) if args.op else None, (args.a, args.b)
    compared, found = answers.compare(store, sides, defaults, now_ns, ops=ops, margin=args.margin)
    if args.plot is not None:
        _plot(compared, found, args, now_ns)
    if args.format == "table":
        _print(compared, found, args, now_ns)
    elif args.format == "json":
        _write_json(compared, found, args, now_ns)
    else:
        _write_csv(found, args)
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
        default=MARGIN,
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


def _print(
    compared: Compared, found: list[OpComparison], args: argparse.Namespace, now_ns: int
) -> None:
    print(f"A: {_words(compared.a, now_ns)}\nB: {_words(compared.b, now_ns)}\n")
    for op in found:
        print(say_comparison(op, args.margin))
    names = [name for level, name in _SHOWN.items() if level in compared.levels]
    head = ("", "B is", "geo. mean", *names, "median sees", "n of A", "n of B")
    print("\n" + table(head, [_row(op) for op in found], left=2))
    if args.quantiles:
        print("\n" + table(("", "", "A", "B", "B / A", "sees", "p"), _quantiles(found), left=2))
    for place, (note, ops) in enumerate(_notes(found).items()):
        about = "" if len(ops) == len(found) else f"{', '.join(ops)}: "
        print(("" if place else "\n") + f"note: {about}{note}")
    for name, missing in (("B", compared.only_a), ("A", compared.only_b)):
        if missing:
            options.note(f"{', '.join(map(op_word, missing))}: no samples in {name}, left out")


def _plot(
    compared: Compared, found: list[OpComparison], args: argparse.Namespace, now_ns: int
) -> None:
    from iosonde.drawing.sheet import plain
    from iosonde.weather.compare.sheet import shifts_sheet

    sheet = shifts_sheet(
        compared,
        args.margin,
        {op.op: op.verdict for op in found},
        (_words(compared.a, now_ns), _words(compared.b, now_ns)),
        [say_comparison(op, args.margin) for op in found],
    )
    if args.plot.suffix == ".json":
        write_text(json.dumps(plain(sheet), allow_nan=False) + "\n", args.plot)
    else:
        from iosonde.drawing.render_sheet import save_sheet

        save_sheet(sheet, args.plot, width_in=10.0, dark=args.dark)
    options.note(f"wrote {args.plot}")


def _words(part: Part, now_ns: int) -> str:
    texts = [part.target or "", f"run {part.run_id}" if part.run_id else ""]
    texts.append(f"as seen from {part.host}" if part.host else "")
    if part.since_ns is not None or part.until_ns is not None:
        ends = [
            "now"
            if ns is None and end
            else "the first sample"
            if ns is None
            else format_time(ns, now_ns)
            for end, ns in enumerate((part.since_ns, part.until_ns))
        ]
        texts.append(f"from {ends[0]} to {ends[1]}")
    return ", ".join(text for text in texts if text)


def _row(op: OpComparison) -> tuple[str, ...]:
    by_level = {level.level: level for level in op.levels}
    sees = by_level[0.5].smallest
    return (
        op_word(op.op),
        op.verdict,
        say_ratio(op.whole),
        *(say_ratio(by_level[level]) for level in _SHOWN if level in by_level),
        "n/a" if sees is None else f"x{short_ratio(sees)}",
        format_count(op.a.used),
        format_count(op.b.used),
    )


def _quantiles(found: list[OpComparison]) -> list[tuple[str, ...]]:
    return [
        (
            op_word(op.op),
            level_name(level.level),
            format_duration(level.quantile_a_ns),
            format_duration(level.quantile_b_ns),
            say_ratio(level),
            "n/a" if level.smallest is None else f"x{short_ratio(level.smallest)}",
            "n/a" if level.p_value is None else f"{level.p_value:.2g}",
        )
        for op in found
        for level in op.levels
    ]


def _notes(found: list[OpComparison]) -> dict[str, list[str]]:
    """Each note once, with its operations."""
    notes: dict[str, list[str]] = {}
    for op in found:
        for note in op.notes:
            notes.setdefault(note, []).append(op_word(op.op))
    return notes


def _write_json(
    compared: Compared, found: list[OpComparison], args: argparse.Namespace, now_ns: int
) -> None:
    plain: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "at_ns": now_ns,
        "margin": args.margin,
        "a": vars(compared.a),
        "b": vars(compared.b),
        "ops": [op.to_json() | {"sentence": say_comparison(op, args.margin)} for op in found],
    }
    document = with_left_out(plain, options.store_root(args))
    text = json.dumps(document, indent=2) + "\n"
    options.put_text(text, args.output)


def _write_csv(found: list[OpComparison], args: argparse.Namespace) -> None:
    rows = [
        {"op": op.op, "verdict": op.verdict, **level._asdict(), "n_a": op.a.used, "n_b": op.b.used}
        for op in found
        for level in op.levels
    ]
    columns = {name: _column([row[name] for row in rows]) for name in rows[0]}
    with tempfile.TemporaryDirectory() as folder:
        path = args.output or Path(folder) / "out"
        write_frame(Frame(columns), path, "csv")
        if args.output is None:
            options.copy_to_stdout(path)
        else:
            options.note(f"wrote {args.output}")


def _column(values: list[Any]) -> Any:
    if isinstance(values[0], str):
        return np.array(values, dtype=object)
    if any(value is None for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(values)
