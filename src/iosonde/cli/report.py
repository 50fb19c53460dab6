"""iosonde report: a day or a week of a target, or a run of a benchmark, on one HTML page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from iosonde.cli.shared import options
from iosonde.cli.shared.target_or_run import run_named
from iosonde.cli.shared.targets import nothing_measured, target_called
from iosonde.model.errors import UsageError
from iosonde.model.frames import SlowdownQuery
from iosonde.weather.digest.answers import mail
from iosonde.weather.report.answers import report

EXAMPLES = """\
  iosonde report                                the last 7 days of all targets
  iosonde report /work --since -7d -o report.html
  iosonde report /work --since yesterday --until today
  iosonde report bandwidth-20261101             a run, by its id or how it begins: the page for a vendor
  iosonde report run:4f2c --topology topology.csv -o run.html
  iosonde report --mail                         a week of all targets beside the week before, as plain text
  iosonde report --mail --until 2026-11-16T00:00
  iosonde report --mail --to storage@example.org | sendmail -t
"""


def main(arguments: Sequence[str]) -> int:
    """Write the page."""
    args = _parse(arguments)
    now_ns = options.now_ns()
    root = options.store_root(args)
    if args.mail:
        until_ns = options.time_range(args, now_ns)[1] or now_ns
        found = mail(root, min(until_ns, now_ns), options.local_zone())
        options.put_text(found.text(args.to), None)
        return 0
    run = run_named(root, args.target)
    if run is not None:
        _write_run(root, run.run_id, args, now_ns)
        return 0
    if args.target is not None and args.target.startswith("run:"):
        raise UsageError(f"there is no run {args.target[4:]!r}", hint="'iosonde runs'")
    if args.topology is not None:
        raise UsageError("--topology is for the page of a run", expected="RUN; see 'iosonde runs'")
    args.target = target_called(root, args.target)
    since, until = options.time_range(args, now_ns)
    query = SlowdownQuery(
        host=args.host, target=args.target, since_ns=since, until_ns=min(until or now_ns, now_ns)
    )

    from iosonde.engine.files import write_text

    page = report(root, query, now_ns, options.local_zone())
    if page is None:
        raise nothing_measured(root, "report", args.target)
    write_text(page, args.output)
    options.note(f"wrote {args.output}")
    return 0


def _write_run(root: Path, run_id: str, args: argparse.Namespace, now_ns: int) -> None:
    from iosonde.bench.report.answers import run_report
    from iosonde.engine.files import write_text

    if args.host is not None or args.until is not None or args.since != _SINCE:
        raise UsageError("--host, --since and --until are for targets", expected="a run alone")
    now = (now_ns, options.local_zone())
    page = run_report(
        root, run_id, args.topology, now, lambda text: options.note(f"iosonde: note: {text}")
    )
    write_text(page, args.output)
    options.note(f"wrote {args.output}")


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = (
        "A day or a week of a target, or a benchmark run, on one HTML page that needs nothing else."
    )
    parser = options.Parser("report", summary, EXAMPLES)
    add = parser.add_argument
    add("target", nargs="?", metavar="TARGET|RUN", help=_TARGET)
    parser.add_host()
    parser.add_range(since=_SINCE)
    add("--topology", type=Path, metavar="FILE", help="topology of a run: child,parent,level")
    default = Path("iosonde-report.html")
    add("-o", "--output", type=Path, default=default, metavar="FILE", help=f"(default: {default})")
    parser.add_store()
    told = "plain text of the last seven days, for a mail, instead of the page"
    add("--mail", action="store_true", help=told)
    told = "with --mail: a message with headers to this address, for 'sendmail -t'"
    add("--to", metavar="ADDRESS", help=told)
    args = parser.parse(arguments)
    if args.mail:
        if args.target is not None or args.host is not None or args.since != _SINCE:
            raise UsageError("--mail is about a week of all targets", expected="--until alone")
        args.since = None
        if args.to is not None and not (args.to.isprintable() and "@" in args.to.strip("@")):
            raise UsageError(f"{args.to!r} is no address", expected="NAME@HOST")
    elif args.to is not None:
        raise UsageError("--to is the address of a mail", hint="--mail --to ADDRESS")
    if args.output.suffix.lower() not in (".html", ".htm"):
        raise UsageError(
            f"a report is a page, not {args.output.suffix or 'a file without an ending'}",
            expected="-o FILE.html",
            hint="'iosonde figure' for pictures, 'iosonde export' for data",
        )
    return args


_SINCE = "-7d"
_TARGET = "name or path of a watched target (default: all), or a benchmark run"
