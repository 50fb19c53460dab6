"""iosonde import: latency files of md-workbench become samples of the store."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from iosonde.analysis.importing import SIZE_BYTES, Imported, Naming, import_latencies
from iosonde.cli import options
from iosonde.cli.text import count
from iosonde.model.errors import UsageError
from iosonde.model.units import format_time, parse_size, parse_time

EXAMPLES = """\
  iosonde import mdw-lat-0.00-*.csv --target /work --host mistral --started 2017-07-09T01:14:06
  iosonde import lustre02.csv.gz --target lustre02
  iosonde bursts lustre02             what happened in them

Give all files of a run at once. What is in the store already is left out. See docs/importing.md.
"""

_LATEST_NS = 7_258_118_400_000_000_000


def main(arguments: Sequence[str]) -> int:
    """Import files; 1 if one of them broke off (its rows before that place are in the store)."""
    args = _parse(arguments)
    now_ns = options.now_ns()
    started = None if args.started is None else parse_time(args.started, now_ns)
    if started is not None and not 0 <= started < _LATEST_NS:
        raise UsageError(
            f"--started {args.started} is not possible", expected="a time from 1970 to 2200"
        )
    naming = Naming(args.target, args.host, args.run, started, args.size)
    done = import_latencies(
        options.store_root(args),
        args.file,
        naming,
        lambda path, rows: options.tell(f"{path}: {count(rows)} rows"),
    )
    _print(done, now_ns)
    for error in done.broken:
        options.tell(f"iosonde: {error}; the rows before were imported")
    return 1 if done.broken else 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = (
        "Import latency files of md-workbench (stand-alone, IOR tree, 2017, gathered; also .gz)."
    )
    parser = options.Parser("import", summary, EXAMPLES)
    add = parser.add_argument
    add("file", nargs="+", type=Path, metavar="FILE", help="latency files of one benchmark run")
    add("--target", help="what was measured (default: the name of the run's files)")
    add("--host", default="import", help="where; a rank is HOST.rank0007 (default: import)")
    add("--run", help="begin of the run ids (default: the name of the run's files)")
    add(
        "--started",
        metavar="TIME",
        help="of the first phase (default: so that it ends when the newest file was written)",
    )
    size = options.reads(parse_size)
    add(
        "--size",
        type=size,
        default=SIZE_BYTES,
        metavar="BYTES",
        help="of the small files (default: 3901)",
    )
    parser.add_store()
    args = parser.parse(arguments)
    for name in ("target", "host", "run"):
        value = getattr(args, name)
        if value is not None and (not value.strip() or not value.isprintable() or len(value) > 200):
            raise UsageError(
                f"--{name} {value!r} is no name", expected="1 to 200 printable characters"
            )
    if not 0 <= args.size < 2**31:
        raise UsageError(f"--size {args.size} is not possible", expected="a size below 2 GiB")
    return args


def _print(done: Imported, now_ns: int) -> None:
    written = done.written
    if written.rows:
        began = format_time(done.started_ns, now_ns, seconds=True)
        print(f"imported {count(written.rows)} samples of {done.target}, from {began} on")
        print("runs: " + ", ".join(done.run_ids))
    if written.known_rows:
        print(f"{count(written.known_rows)} samples were in the store already")
