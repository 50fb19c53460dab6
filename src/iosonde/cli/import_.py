"""iosonde import: files of benchmarks, monitors, schedulers and jobs become samples, runs, series and jobs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from iosonde.cli.shared import options
from iosonde.cli.shared.progress import working
from iosonde.connectors.source import SIZE_BYTES, UNNAMED, FileRead, Settings
from iosonde.engine.stopping import interruptible
from iosonde.ingest.answers import (
    FileImport,
    Imported,
    QueryRange,
    Question,
    counted,
    file_lines,
    import_files,
    is_address,
    lines_of,
)
from iosonde.jobs.table.answers import mappings
from iosonde.model.errors import UsageError
from iosonde.model.text import clean_text
from iosonde.model.units import format_count, parse_duration, parse_size, parse_time

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
_SINCE, _EVERY = "-1d", "1m"
_TOLD = 5
"""Most unreadable files reported by name."""


def main(arguments: Sequence[str]) -> int:
    """Import files; 1 if a line of them could not be read (readable ones are stored)."""
    args = _parse(arguments)
    now_ns = options.now_ns()
    question = _question(args, now_ns)
    seen = Imported()

    def report(one: FileImport | FileRead, done: Imported) -> None:
        nonlocal seen
        seen = done
        if isinstance(one, FileImport):
            _print(file_lines(one, now_ns))
        else:
            options.note(f"{one.path}: {one.kind}, {counted(one.rows, 'row')}")

    try:
        with interruptible():
            done = import_files(options.store_folder(args), question, now_ns, working, report)
    except KeyboardInterrupt:
        of = f"{format_count(seen.stored)} of {counted(seen.found or len(args.file), 'file')}"
        options.note(
            f"iosonde: interrupted: {of} are in the store whole; the same command goes on, and leaves out "
            "what is there already"
        )
        raise
    if beyond := done.logs_beyond:
        stored = "of so many logs at once only the jobs are stored"
        options.note(f"{stored}: 'iosonde locate' knows none of these {format_count(beyond)}")
    _print(lines_of(done, now_ns))
    for error in done.unopened[:_TOLD]:
        options.note(f"iosonde: {error}")
    if (more := len(done.unopened) - _TOLD) > 0:
        options.note(f"iosonde: {format_count(more)} more cannot be opened")
    for error in done.errors[done.nothing :]:
        options.note(f"iosonde: {error}; what could be read was imported")
    if done.nothing and done.errors:
        raise done.errors[0]
    return 1 if done.errors or done.unopened else 0


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(clean_text(line))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Import what benchmarks (IOR, IO500, mdtest ...), Darshan, monitors and schedulers wrote; also .gz."
    parser = options.Parser("import", summary, EXAMPLES)
    add = parser.add_argument
    told = "files of these tools, tables of samples, folders, http://HOST:9090 of Prometheus"
    add("file", nargs="+", metavar="FILE", help=told)
    add("--target", help="target of the samples (default: the name of the run's files)")
    add(
        "--host",
        default=UNNAMED,
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
    _add_record_options(parser)
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


def _add_record_options(parser: argparse.ArgumentParser) -> None:
    """Add options for values that records do not contain."""
    add = parser.add_argument
    add("--system", default="", metavar="NAME", help="file system of records that name none")
    add("--zone", metavar="ZONE", help="zone of clock times without one: Europe/Berlin, UTC")
    told = "TOML: what the columns of a table of jobs mean; a folder of them; repeatable"
    add("--mapping", type=Path, action="append", default=[], metavar="FILE", help=told)
    told = f"from a server: -7d, 2026-07-01T12:00 (default: {_SINCE})"
    add("--since", metavar="TIME", help=told)
    add("--until", metavar="TIME", help="the same (default: now)")
    told = f"length of a server's steps (default: {_EVERY})"
    add("--every", metavar="TIME", help=told)


def _question(args: argparse.Namespace, now_ns: int) -> Question:
    """What the arguments ask. Raises UsageError: no such time zone, a range without a server, a bad mapping."""
    started = None if args.started is None else parse_time(args.started, now_ns)
    if started is not None and not 0 <= started < _LATEST_NS:
        what = f"--started {args.started} is not possible"
        raise UsageError(what, expected="a time from 1970 to 2200")
    try:
        zone = None if args.zone is None else ZoneInfo(args.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        what = f"--zone {args.zone!r} is no time zone"
        raise UsageError(what, expected="one such as Europe/Berlin or UTC") from error
    settings = Settings(
        system=args.system,
        node="" if args.host == UNNAMED else args.host,
        zone=zone,
        target=args.target,
        host=args.host,
        run=args.run,
        started_ns=started,
        size_bytes=args.size,
        period_ns=args.period,
    )
    urls = [text for text in args.file if is_address(text)]
    paths = [Path(text) for text in args.file if not is_address(text)]
    span = _range(args, now_ns, bool(urls))
    return Question(paths, settings, mappings(args.mapping), urls, span)


def _range(args: argparse.Namespace, now_ns: int, wanted: bool) -> QueryRange | None:
    if not wanted:
        for name in ("since", "until", "every"):
            if getattr(args, name) is not None:
                raise UsageError(
                    f"--{name} is for the address of a server", hint="http://HOST:9090"
                )
        return None
    args.since = args.since or _SINCE
    since, until = options.time_range(args, now_ns)
    until = now_ns if until is None else until
    if since is None or not 0 <= since < until:
        raise UsageError(f"--since {args.since} is not before the end", expected="an earlier time")
    every = parse_duration(args.every or _EVERY)
    if every < 1_000_000 or every % 1_000_000:
        raise UsageError(f"--every {args.every} is not possible", expected="1ms or more, whole ms")
    return QueryRange(since, until, every)
