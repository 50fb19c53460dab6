"""iosonde bursts: seconds in which operations waited, relative to the rest of the same run."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.cli.shared import options
from iosonde.cli.shared.text import table
from iosonde.engine.files import write_frame
from iosonde.engine.left_out import with_left_out
from iosonde.model.errors import UsageError
from iosonde.model.frames import Frame
from iosonde.model.ops import op_word
from iosonde.model.units import (
    format_count,
    format_duration,
    format_factor,
    format_option,
    format_time,
    parse_duration,
)
from iosonde.weather import answers
from iosonde.weather.bursts.bursts import RunBurst, RunBursts
from iosonde.weather.bursts.words import say_burst, say_bursts, say_limit, say_who
from iosonde.weather.store import Store

SCHEMA_VERSION = 1
EXAMPLES = """\
  iosonde bursts                      every run of the last day
  iosonde bursts lustre02 --since 2017-07-09 --until 2017-07-10
  iosonde bursts mdw-i0 --window 500ms
  iosonde bursts mdw                  all runs whose ids begin so
  iosonde bursts /work@yesterday --format json

The side is a target (by name or path), run, host or period as 'iosonde compare' takes it. See docs/methods/bursts.md.
"""
_FORMATS = ("json", "csv")
_HEAD = ("mean", "q95", "q99", "median")


def main(arguments: Sequence[str]) -> int:
    """Print the bursts of every requested run."""
    args = _parse(arguments)
    now_ns = options.now_ns()
    store = Store(options.store_root(args))
    span, ops = options.time_range(args, now_ns), tuple(args.op) if args.op else None
    found = answers.bursts(store, args.what, span, now_ns, ops=ops, window_ns=args.window)
    if args.format == "table":
        _print(found, now_ns)
    elif args.format == "json":
        _write_json(found, args, now_ns)
    else:
        _write_csv(found, args)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Short spans in which operations waited: start, length, factor, share, what the median says."
    parser = options.Parser("bursts", summary, EXAMPLES)
    add = parser.add_argument
    add("what", nargs="?", help="a target, run, host or period (default: all)")
    parser.add_op()
    parser.add_range()
    window = options.reads(parse_duration)
    add(
        "--window",
        type=window,
        metavar="TIME",
        help="length of a window (default: the shortest that the operations allow, from 100ms)",
    )
    parser.add_data(_FORMATS)
    parser.add_store()
    args = parser.parse(arguments)
    if args.window == 0:
        raise UsageError("a window of 0 is not possible", expected="a window above 0")
    return args


def _print(found: list[RunBursts], now_ns: int) -> None:
    for place, run in enumerate(found):
        print(("\n" if place else "") + f"run {run.run_id}: {say_bursts(run)}")
        if run.too_few:
            words = ", ".join(map(op_word, run.too_few))
            print(f"{words}: too few operations to look for bursts")
        print(say_limit(run))
        if not run.bursts:
            continue
        window = format_option(min(burst.window_ns for burst in run.bursts))
        head = (
            "began",
            "into the run",
            "lasted",
            "found in",
            "ranks",
            "lost",
            "took long",
            "of",
            *_HEAD,
        )
        print(
            f"factors are those of the slowest {window} of any operation; a median in brackets would not"
        )
        print("have been called slow: below 2x, or too few operations to be sure of 1.5x\n")
        print(table(head, [_row(run, burst, now_ns) for burst in run.bursts], left=4))


def _row(run: RunBursts, burst: RunBurst, now_ns: int) -> tuple[str, ...]:
    median = format_factor(burst.peak("q50")) + "x"
    return (
        format_time(burst.start_ns, now_ns, seconds=True),
        format_duration(burst.start_ns - run.first_ns),
        format_duration(burst.end_ns - burst.start_ns),
        say_who(burst),
        f"{burst.ranks} of {burst.of_ranks}",
        format_duration(round(burst.lost_ns)),
        f"{burst.share:.1%}",
        format_count(burst.n),
        *(f"{format_factor(burst.peak(name))}x" for name in ("mean", "q95", "q99")),
        median if burst.median_sees else f"({median})",
    )


def _write_json(found: list[RunBursts], args: argparse.Namespace, now_ns: int) -> None:
    plain = {
        "schema_version": SCHEMA_VERSION,
        "runs": [
            {
                "run_id": run.run_id,
                "target": run.target,
                "first_ns": run.first_ns,
                "last_ns": run.last_ns,
                "n": run.n,
                "ops": list(run.ops),
                "too_few": list(run.too_few),
                "ranks": run.ranks,
                "fewest_ranks": run.fewest_ranks,
                "sentence": say_bursts(run),
                "limit": say_limit(run),
                "bursts": [_plain(burst, now_ns) for burst in run.bursts],
            }
            for run in found
        ],
    }
    document = with_left_out(plain, options.store_root(args))
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    options.put_text(text, args.output)


def _plain(burst: RunBurst, now_ns: int) -> dict[str, Any]:
    return {
        "start_ns": burst.start_ns,
        "end_ns": burst.end_ns,
        "window_ns": burst.window_ns,
        "seen_by": list(burst.seen_by),
        "median_sees": burst.median_sees,
        "chance": burst.chance,
        "n": burst.n,
        "share": burst.share,
        "ranks": burst.ranks,
        "lost_ns": burst.lost_ns,
        "ops": [vars(op) for op in burst.ops],
        "sentence": say_burst(burst, now_ns),
    }


def _write_csv(found: list[RunBursts], args: argparse.Namespace) -> None:
    rows = [(run, burst) for run in found for burst in run.bursts]
    columns: dict[str, Any] = {
        "run_id": np.array([run.run_id for run, _ in rows], dtype=object),
        "target": np.array([run.target for run, _ in rows], dtype=object),
        "start_ns": np.array([b.start_ns for _, b in rows], dtype=np.int64),
        "end_ns": np.array([b.end_ns for _, b in rows], dtype=np.int64),
        "n": np.array([b.n for _, b in rows], dtype=np.int64),
        "share": np.array([b.share for _, b in rows], dtype=np.float64),
        "ranks": np.array([b.ranks for _, b in rows], dtype=np.int64),
        "lost_ns": np.array([b.lost_ns for _, b in rows], dtype=np.float64),
        "median_sees": np.array([b.median_sees for _, b in rows], dtype=np.bool_),
    }
    columns |= {
        name: np.array([b.peak(name) for _, b in rows], dtype=np.float64)
        for name in ("mean", "q50", "q95", "q99")
    }
    with tempfile.TemporaryDirectory() as folder:
        path = args.output or Path(folder) / "out"
        write_frame(Frame(columns), path, "csv")
        if args.output is None:
            options.copy_to_stdout(path)
        else:
            options.note(f"wrote {args.output}")
