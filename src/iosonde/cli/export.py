"""iosonde export: samples, windows or runs for other tools."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from iosonde.bench.report.answers import runs_of
from iosonde.cli.shared import options
from iosonde.cli.shared.targets import require_samples, some, target_called
from iosonde.engine.contract import WINDOW_COLUMNS
from iosonde.engine.files import FORMATS, format_of, write_frame, write_samples
from iosonde.engine.reader import SampleFilter
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.units import format_count, parse_duration
from iosonde.weather.stored.answers import target_names, windows

EXAMPLES = """\
  iosonde export samples -o samples.parquet
  iosonde export samples --target /work --op creates --since -1d --format csv | head
  iosonde export windows --window 10m -o windows.json
  iosonde export runs -o runs.parquet

The sealed part of the store is Parquet already: see docs/reading-the-data.md.
"""


def main(arguments: Sequence[str]) -> int:
    """Write a table to a file or to stdout."""
    summary = (
        "Samples (a row an operation), windows (an interval) or runs (of benchmarks) as a file."
    )
    parser = options.Parser("export", summary, EXAMPLES)
    add = parser.add_argument
    add("table", choices=("samples", "windows", "runs"))
    add("--target", help="name or path of a watched target (default: all)")
    parser.add_host()
    parser.add_op()
    parser.add_range()
    window = options.reads(parse_duration)
    add(
        "--window",
        type=window,
        default="60s",
        metavar="TIME",
        help="length of a window (default: 60s)",
    )
    add("-o", "--output", type=Path, metavar="FILE", help="output file (default: stdout)")
    add(
        "--format",
        choices=tuple(FORMATS),
        help="output format (default: the file's ending; csv on stdout)",
    )
    parser.add_store()
    args = parser.parse(arguments)
    format_name = format_of(args.output, args.format)
    if args.output is None and format_name == "parquet":
        raise UsageError("Parquet cannot go to a terminal or pipe", hint="-o FILE")
    since, until = options.time_range(args, options.now_ns())
    _require_rows(args)
    args.target = _called(args)
    scope = SampleFilter(args.host, args.target, tuple(args.op) if args.op else None, since, until)
    with tempfile.TemporaryDirectory() as folder:
        path = args.output or Path(folder) / "out"
        rows = _write(options.store_root(args), args, scope, path, format_name)
        if args.output is None:
            options.copy_to_stdout(path)
        else:
            options.note(f"wrote {format_count(rows)} rows to {path}")
    return 0


def _require_rows(args: options.Arguments) -> None:
    """Check that there are rows to write. Raises NothingMeasuredError."""
    root = options.store_root(args)
    if args.table != "runs":
        require_samples(root)
    elif not runs_of(root).rows:
        raise NothingMeasuredError(
            f"there are no runs in {root}", hint="'iosonde bench', or --store"
        )


def _called(args: options.Arguments) -> str | None:
    """Name of the target; benchmark runs have their directory instead. Raises UsageError for an unknown one."""
    if args.target is None or args.table == "runs":
        return None if args.target is None else args.target.rstrip("/") or "/"
    root = options.store_root(args)
    name, known = target_called(root, args.target), target_names(root)
    if known and name is not None and name not in known:
        raise options.unwatched(name, known, some(known))
    return name


def _write(
    root: Path, args: options.Arguments, scope: SampleFilter, path: Path, format_name: str
) -> int:
    if args.table == "samples":
        return write_samples(root, scope, path, format_name)
    if args.table == "runs":
        if scope.host is not None or scope.ops is not None:
            raise UsageError(
                "runs are exported whole", expected="--target, --since and --until only"
            )
        since, until = scope.since_ns, scope.until_ns
        runs = runs_of(root, target=scope.target, since_ns=since, until_ns=until)
        return write_frame(runs.table(), path, format_name)
    found = windows(
        root,
        args.window,
        target=scope.target,
        host=scope.host,
        ops=scope.ops,
        since_ns=scope.since_ns,
        until_ns=scope.until_ns,
    )
    whole = [name for name in WINDOW_COLUMNS if name.endswith("_ns") and name != "mean_ns"]
    return write_frame(found, path, format_name, whole)
