"""iosonde import: what benchmarks, monitors, schedulers and jobs left behind becomes samples, runs, series and jobs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from iosonde.cli.shared import import_records, options
from iosonde.cli.shared.import_files import told
from iosonde.cli.shared.left_out import left_out_lines
from iosonde.connectors.benchmarks.recognise import KINDS, LATENCIES, OPS
from iosonde.ingest.files import Done, import_files
from iosonde.ingest.io_probing import Probed
from iosonde.ingest.latencies import SIZE_BYTES, LatencyImport, Naming
from iosonde.ingest.samples import SamplesImport
from iosonde.model.errors import InputFileError, UsageError
from iosonde.model.text import clean_text
from iosonde.model.units import (
    format_count,
    format_option,
    format_time,
    parse_duration,
    parse_size,
    parse_time,
)

EXAMPLES = """\
  iosonde import mdw-lat-0.00-*.csv --target /work --host mistral --started 2017-07-09T01:14:06
  iosonde import lustre02.csv.gz --target lustre02
  iosonde import mdw.txt mdtest.txt    what they printed
  iosonde import ior.txt ior-op-0-*.csv results/    IOR, and the folder of an IO500 run
  iosonde import samples.csv --target /work --host n1    a row an operation: time, op, latency_us
  iosonde runs                         what they amount to
  iosonde import logs/ lmt.sqlite sacct.txt --zone Europe/Berlin    jobs, and what servers did meanwhile
  iosonde import jobs.csv --mapping site.toml      a table with a row a job
  iosonde import http://HOST:9090 --since -7d      what a Prometheus server has

Files are recognised by what they hold. Give all latency files of a run at once. What is in the store
already is left out. See docs/importing.md.
"""

_STARTED = "begin of the first phase, or of times that count from 0 (default: the newest file ends the last phase)"
_PERIOD = "schedule of a table of samples (default: the regular step of its column due, else none)"
_LATEST_NS = 7_258_118_400_000_000_000
_MOST_RUNS, _MOST_TARGETS, _MOST_LINES = 20, 4, 200


def main(arguments: Sequence[str]) -> int:
    """Import files; 1 if a line of them could not be read (what could be is in the store)."""
    args = _parse(arguments)
    now_ns = options.now_ns()
    settings = import_records.settings_of(args)
    started = None if args.started is None else parse_time(args.started, now_ns)
    if started is not None and not 0 <= started < _LATEST_NS:
        raise UsageError(
            f"--started {args.started} is not possible", expected="a time from 1970 to 2200"
        )
    given = import_records.given_of(args, now_ns)
    paths = given.others
    naming = Naming(args.target, args.host, args.run, started, args.size, args.period)
    with told(len(given.records) + len(paths)) as kept:
        code, records = import_records.run(
            options.store_folder(args), given, settings, now_ns, kept
        )
        ends = list(left_out_lines(given.unknown, records))
        if not paths:
            _print_lines(ends)
            return code
        read = 0

        def report(path: Path, kind: str, rows: int) -> None:
            nonlocal read
            read += 1
            if kind not in (LATENCIES, OPS):  # those are written when all of them are read
                kept.files, read = kept.files + read, 0
            options.note(f"{path}: {KINDS[kind]}, {format_count(rows)} rows")

        try:
            done = import_files(
                options.store_folder(args), paths, naming, now_ns, report=report, zone=settings.zone
            )
        except InputFileError:
            _print_lines(ends)
            raise
    _print(done, now_ns)
    for error in done.broken:
        options.note(f"iosonde: {error}; what could be read was imported")
    _print_lines(ends)
    return 1 if done.broken else code


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Import what benchmarks (IOR, IO500, mdtest ...), Darshan, monitors and schedulers wrote; also .gz."
    parser = options.Parser("import", summary, EXAMPLES)
    add = parser.add_argument
    told = "files of these tools, tables of samples, folders, http://HOST:9090 of Prometheus"
    add("file", nargs="+", metavar="FILE", help=told)
    add("--target", help="target of the samples (default: the name of the run's files)")
    add(
        "--host",
        default=import_records.UNNAMED,
        help="host of the samples (default: import; a rank is HOST.rank0007); node of records that name none",
    )
    add("--run", help="begin of the run ids (default: the name of the run's files)")
    add(
        "--started",
        metavar="TIME",
        help=_STARTED,
    )
    size = options.reads(parse_size)
    add(
        "--size",
        type=size,
        default=SIZE_BYTES,
        metavar="BYTES",
        help="size of the small files (default: 3901)",
    )
    period = options.reads(parse_duration)
    add("--period", type=period, metavar="TIME", help=_PERIOD)
    import_records.add_options(parser)
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


def _print(done: Done, now_ns: int) -> None:
    if done.latencies is not None:
        _print_latencies(done.latencies, now_ns)
    for log in done.probed:
        _print_log(log)
    for table in done.samples:
        _print_samples(table, now_ns)
    if done.bandwidth is not None:
        _print_lines(done.bandwidth.lines())
    new = [run for run in done.runs if run.new]
    for run in new[:_MOST_RUNS]:
        print(
            f"run {clean_text(run.run_id)} of {clean_text(run.target)}: {format_count(run.rows)} rows"
        )
    if len(new) > _MOST_RUNS:
        print(f"and {format_count(len(new) - _MOST_RUNS)} more runs ('iosonde runs')")
    if known := len(done.runs) - len(new):
        print(f"the store already had {format_count(known)} runs")


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines[:_MOST_LINES]:
        print(clean_text(line))
    if len(lines) > _MOST_LINES:
        print(f"and {format_count(len(lines) - _MOST_LINES)} more lines")


def _print_latencies(done: LatencyImport, now_ns: int) -> None:
    written = done.written
    if written.rows:
        began = format_time(done.started_ns, now_ns, seconds=True)
        print(f"imported {format_count(written.rows)} samples of {done.target}, from {began} on")
        print("sample runs: " + ", ".join(done.run_ids))
    if written.known_rows:
        print(f"{format_count(written.known_rows)} samples were already in the store")


def _print_samples(table: SamplesImport, now_ns: int) -> None:
    written = table.written
    if written.rows:
        begin, end = (format_time(ns, now_ns, seconds=True) for ns in table.span_ns)
        of = ", ".join(map(clean_text, table.targets[:_MOST_TARGETS]))
        more = ", ..." if len(table.targets) > _MOST_TARGETS else ""
        print(f"imported {format_count(written.rows)} samples of {of}{more}, {begin} to {end}")
        for period_ns, series in sorted(table.schedules.regular.items()):
            print(
                f"due every {format_option(period_ns)} in {format_count(series)} series: their period"
            )
        if n := table.schedules.irregular:
            print(
                f"{format_count(n)} series have due times without a regular step: due is when they began; "
                "--period TIME keeps them"
            )
    if written.known_rows:
        print(f"{format_count(written.known_rows)} samples were already in the store")
    if table.unread:
        print(f"columns that are not read: {', '.join(map(clean_text, table.unread))}")
    for remark in table.remarks:
        print(remark)


def _print_log(log: Probed) -> None:
    if log.written.rows:
        every = format_option(log.period_ns)
        print(
            f"imported {format_count(log.written.rows)} samples of {clean_text(log.target)}: "
            f"{format_count(log.rounds)} rounds, every {every} by their stamps of whole seconds"
        )
    if log.written.known_rows:
        print(f"{format_count(log.written.known_rows)} samples were already in the store")
    if log.uninitialised:
        print(
            f"{format_count(log.uninitialised)} quantiles of one operation are uninitialised, left out"
        )
    if log.several:
        print(
            f"{format_count(log.several)} rounds have several operations an op: their median counts"
        )
    if log.ranks > 1:
        print(f"reads and writes are sums over {log.ranks} ranks: imported as their mean")
