"""iosonde report: a day or a week of a target on one HTML page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from iosonde.cli.shared import options
from iosonde.cli.shared.targets import called, no_samples
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.frames import SlowdownQuery
from iosonde.model.names import host_of_rank
from iosonde.weather import answers
from iosonde.weather.store import Store

EXAMPLES = """\
  iosonde report                                the last 7 days of all targets
  iosonde report /work --since -7d -o report.html
  iosonde report /work --since yesterday --until today
"""


def main(arguments: Sequence[str]) -> int:
    """Write the page."""
    args = _parse(arguments)
    now_ns = options.now_ns()
    store = Store(options.store_root(args))
    args.target = called(store, args.target)
    since, until = options.time_range(args, now_ns)
    query = SlowdownQuery(
        host=args.host, target=args.target, since_ns=since, until_ns=min(until or now_ns, now_ns)
    )

    from iosonde.engine.files import write_text

    page = answers.report(store, query, now_ns, options.local_zone())
    if page is None:
        asked = [ref.host for ref in store.targets() if args.target in (None, ref.target)]
        if asked and all(map(host_of_rank, asked)):
            raise NothingMeasuredError(
                f"all samples in {store.root} are of ranks of benchmarks, of which nothing is usual",
                hint="'iosonde runs', or 'iosonde figure statistics --run RUN'",
            )
        raise no_samples(store, "report", args.target)
    write_text(page, args.output)
    options.note(f"wrote {args.output}")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "A day or a week of a target on one HTML page that needs nothing else."
    parser = options.Parser("report", summary, EXAMPLES)
    add = parser.add_argument
    add("target", nargs="?", help="name or path of a watched target (default: all)")
    add("--host", help="samples of one host only")
    parser.add_range(since="-7d")
    default = Path("iosonde-report.html")
    add("-o", "--output", type=Path, default=default, metavar="FILE", help=f"(default: {default})")
    parser.add_store()
    args = parser.parse(arguments)
    if args.output.suffix.lower() not in (".html", ".htm"):
        raise UsageError(
            f"a report is a page, not {args.output.suffix or 'a file without an ending'}",
            expected="-o FILE.html",
            hint="'iosonde figure' for pictures, 'iosonde export' for data",
        )
    return args
