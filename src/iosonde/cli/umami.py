"""iosonde umami: a job among earlier runs of its kind, metric by metric."""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from iosonde.analysis import job_source
from iosonde.analysis.umami import Umami, umami
from iosonde.analysis.umami_records import as_json, records
from iosonde.cli import options
from iosonde.connectors.source import Settings
from iosonde.model.errors import UsageError
from iosonde.model.jobs import JobTable
from iosonde.store.export import write_text

EXAMPLES = """\
  iosonde umami --job 4711                   of the store
  iosonde umami jobs.csv --job 4711 --mapping site.toml --plot 4711.png
  iosonde umami jobs.csv --job 4711 --step 2 --history all
  iosonde umami jobs.csv --job 4711 --metric cf_bandwidth_ratio --metric mds_cpu_mean_percent
  iosonde umami --job 4711 --last 30 --format json

The history are earlier runs of the same application, file mode and direction on the same file system.
docs/umami.md says how to read the diagram.
"""


def main(arguments: Sequence[str]) -> int:
    """Print the diagram of a job, or its numbers."""
    args = _parse(arguments)
    found = umami(
        _table(args),
        args.job,
        args.step,
        metrics=args.metric,
        last=args.last,
        history=args.history,
    )
    if args.plot is not None:
        _plot(found, args)
    if args.format == "table":
        _print(found)
    else:
        text = json.dumps(as_json(found), indent=2) + "\n" if args.format == "json" else _csv(found)
        if args.output is None:
            sys.stdout.write(text)
        else:
            write_text(text, args.output)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Why was this job slow? Every metric of it within the history of its kind."
    parser = options.Parser("umami", summary, EXAMPLES)
    add = parser.add_argument
    add(
        "table", nargs="?", type=Path, metavar="TABLE", help="CSV, a row a job (default: the store)"
    )
    add("--job", required=True, metavar="ID", help="the job")
    add("--step", metavar="S", help="which of its runs: step, motif, or #2 for the second")
    add(
        "--metric", action="append", metavar="M", help="a row; may be repeated (default: the usual)"
    )
    add("--last", type=int, metavar="N", help="the latest N runs of the history only")
    add("--history", choices=("earlier", "all"), default="earlier", help="(default: earlier)")
    told = "TOML: what the columns of TABLE mean; may be repeated, or a folder"
    add("--mapping", type=Path, action="append", default=[], metavar="FILE", help=told)
    add("--system", metavar="NAME", help="the file system of a TABLE that names none")
    add(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw it: .png, .svg, .pdf, or .json: what is drawn",
    )
    add("--dark", action="store_true", help="a dark picture")
    add("--width", type=float, default=8.0, metavar="INCHES", help="of the picture (default: 8)")
    parser.add_data(("json", "csv"))
    parser.add_store()
    return parser.parse(arguments)


def _table(args: argparse.Namespace) -> JobTable:
    """The jobs asked for: of a file or of the store."""
    if args.table is None:
        if args.mapping or args.system:
            raise UsageError(
                "--mapping is for a TABLE", hint="'iosonde umami TABLE --mapping FILE'"
            )
        return job_source.from_store(options.store_root(args))
    if args.store is not None:
        raise UsageError("both TABLE and --store are given", expected="one of them")
    settings = Settings(system=args.system or "", zone=options.local_zone())
    return job_source.from_file(
        args.table, args.mapping, settings, lambda t: options.tell(f"note: {t}")
    )


def _print(found: Umami) -> None:
    from iosonde.plots.umami_figure import umami_figure
    from iosonde.plots.umami_text import umami_text

    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    lines = umami_text(
        umami_figure(found),
        _columns(),
        coloured=options.colourful(),
        ascii_only=not encoding.startswith("utf"),
    )
    print("\n".join(lines))


def _columns() -> int:
    """Of the terminal; 100 of a pipe."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return 100
    return shutil.get_terminal_size((80, 24)).columns


def _csv(found: Umami) -> str:
    rows = records(found)
    text = io.StringIO()
    names = list(rows[0]) if rows else ["metric"]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "flags": " ".join(row["flags"])})
    return text.getvalue()


def _plot(found: Umami, args: argparse.Namespace) -> None:
    from iosonde.plots.umami_figure import to_json, umami_figure

    figure = umami_figure(found)
    if args.plot.suffix == ".json":
        write_text(json.dumps(to_json(figure), allow_nan=False) + "\n", args.plot)
    else:
        from iosonde.plots.render_umami import save_umami

        zone = options.local_zone()
        save_umami(figure, args.plot, width_in=args.width, dark=args.dark, zone=zone)
    options.tell(f"wrote {args.plot}")
