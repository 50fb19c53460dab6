"""iosonde climate: lasting changes with dates and sizes, and simultaneous changes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.cli.shared import job_options, options
from iosonde.cli.shared.job_choice import Note
from iosonde.cli.shared.text import table, wrapped
from iosonde.engine.files import csv_text
from iosonde.jobs import answers
from iosonde.jobs.climate import words
from iosonde.jobs.climate import worth_words as worth
from iosonde.jobs.climate.data import change_rows, climate_data, motif_rows, motifs_data
from iosonde.model import parameters
from iosonde.model.errors import UsageError
from iosonde.model.text import clean_text
from iosonde.model.units import day, format_count

if TYPE_CHECKING:
    from iosonde.jobs.answers import ClimateAnswer
    from iosonde.jobs.climate.climate import Climate, OnDate
    from iosonde.jobs.climate.motifs import Motifs
    from iosonde.jobs.climate.validation import Validated
    from iosonde.model.jobs import JobTable

EXAMPLES = """\
  iosonde climate                                jobs of the store
  iosonde climate year.csv.gz                    a table; pytokio's summarize_job is known
  iosonde climate jobs.csv --mapping site.toml --file-system work --since 2026-01-01
  iosonde climate year.csv.gz --on 2017-08-04    what changed on that date, and what did not
  iosonde climate year.csv.gz --plot year.png
  iosonde climate jobs.csv --validate            what a prediction from metrics would be worth
  iosonde climate jobs.csv --motifs              which jobs do the same, from what they did

Dates are UTC. docs/methods/climate.md says how changes are found, and what was measured.
"""
_HEAD = ("date", "between", "file system", "motif", "before", "after", "ratio", "n", "q")


def main(arguments: Sequence[str]) -> int:
    """Print changes, events and climates, or write them as data."""
    args = _parse(arguments)
    with job_options.notes_last() as note:
        return _answer(args, note)


def _answer(args: argparse.Namespace, note: Note) -> int:
    rows = job_options.table_of(args, note)
    found = on = None
    valid: tuple[Validated, ...] = ()
    motifs: Motifs | None = None
    if args.motifs:
        motifs = answers.motifs(rows)
    else:
        found, on, valid = _climate(rows, args)
        if args.plot is not None:
            _plot(found, args)
    if args.format == "json":
        data = climate_data(found, on, valid) if found else {}
        data = motifs_data(motifs, rows) if motifs else data
        job_options.write(json.dumps(data, indent=2) + "\n", args.output)
    elif args.format == "csv":
        names, lines = change_rows((on or found).changes if found else ())
        if motifs is not None:
            lines = motif_rows(motifs, rows)
            names = tuple(lines[0]) if lines else ()
        job_options.write(csv_text(lines, names), args.output)
    else:
        _print(found, on, valid, motifs)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "What changed for good: when, how much, what else changed with it, and what did not."
    parser = options.Parser("climate", summary, EXAMPLES)
    add = parser.add_argument
    job_options.add_tables(parser)
    add("--file-system", metavar="NAME", help=parameters.ONE_FILE_SYSTEM)
    add("--motif", metavar="NAME", help=parameters.ONE_MOTIF)
    add("--on", metavar="DATE", help="changes around this date (UTC)")
    parser.add_range()
    add("--validate", action="store_true", help="print the value of a prediction from metrics")
    add("--motifs", action="store_true", help="clusters of jobs instead, from what they did")
    told = "draw it: .png, .svg, .pdf, or .json: what is drawn"
    add("--plot", type=Path, metavar="FILE", help=told)
    add("--dark", action="store_true", help="a dark picture")
    add(
        "--width",
        type=float,
        default=12.0,
        metavar="INCHES",
        help="width of the picture (default: 12)",
    )
    parser.add_data(("json", "csv"))
    args = parser.parse(arguments)
    if args.motifs and (args.on or args.validate or args.plot):
        raise UsageError("--motifs does not go with --on, --validate or --plot")
    return args


def _climate(rows: JobTable, args: argparse.Namespace) -> ClimateAnswer:
    from iosonde.model.units import parse_time

    now_ns = options.now_ns()
    span = options.time_range(args, now_ns)
    # A day of the answer is one in UTC, whatever the zone of this machine.
    day_ns = parse_time(args.on, now_ns, UTC) if args.on else None
    return answers.climate(
        rows, args.file_system, args.motif, span, day_ns=day_ns, validate=args.validate
    )


def _print(
    found: Climate | None, on: OnDate | None, valid: Sequence[Validated], motifs: Motifs | None
) -> None:
    lines: list[str] = []
    if motifs is not None:
        lines += _motif_lines(motifs)
    if on is not None:
        lines += [line for text in words.say_on_date(on) for line in _told(text)]
        along = [text for event in on.events for text in words.say_along(event)]
        lines += [line for text in along for line in _told(text, "  - ")]
    elif found is not None:
        lines += _climate_lines(found)
    for one in valid:
        lines += ["", *(line for text in worth.say_validation(one) for line in _told(text))]
    print("\n".join(clean_text(line) for text in lines for line in text.split("\n")))


def _told(text: str, first: str = "") -> list[str]:
    """A sentence as lines; from the second on they are indented below its first word, or more."""
    return wrapped(clean_text(text), first, " " * (len(first) + 2 * (not first.strip())))


def _climate_lines(found: Climate) -> list[str]:
    lines = _told(words.say_climate(found))
    changes = [
        (
            day(c.at_ns),
            words.interval(c.earliest_ns, c.latest_ns),
            *(clean_text(name) for name in (c.file_system, c.motif)),
            f"{c.before:.2f}",
            f"{c.after:.2f}",
            f"{c.ratio:.2f}x",
            f"{c.n_before} + {c.n_after}",
            words.small(c.q) + " ~" * c.gradual + " *" * bool(c.own),
        )
        for c in found.changes
    ]
    if changes:
        lines += ["", table(_HEAD, changes, left=4)]
        lines += ["", "Together:"]
        for event in found.events:
            lines += _told(words.say_event(event), "- ")
            lines += [line for text in words.say_along(event) for line in _told(text, "    ")]
    if any(c.gradual for c in found.changes):
        lines += [
            "",
            "~ perhaps gradually, without a date: a straight line does as well as the step",
        ]
    if any(c.own for c in found.changes):
        lines += ["", "* the jobs themselves did something else afterwards"]
    lines += ["", "Climates:"]
    for one in (one for one in found.regimes if one.regimes):
        lines += _told(words.say_climates(one), "- ")
        several = one.regimes if len(one.regimes) > 1 else ()
        for regime in several:
            lines += _told(words.say_regime(regime, ""), "    ")
    for text in words.say_without_climates(found.regimes):
        lines += _told(text, "- ")
    return lines


def _motif_lines(found: Motifs) -> list[str]:
    head = ("cluster", "taken for", "jobs")
    rows = [
        (str(number), clean_text(worth.say_cluster(one)), format_count(one.n))
        for number, one in enumerate(found.clusters, 1)
    ]
    return [*_told(worth.say_motifs(found)), "", table(head, rows, left=2)]


def _plot(found: Climate, args: argparse.Namespace) -> None:
    from iosonde.engine.files import write_text
    from iosonde.jobs.climate.figure import climate_figure, to_json

    figure = climate_figure(found, words.say_largest(found))
    if args.plot.suffix == ".json":
        write_text(json.dumps(to_json(figure), allow_nan=False) + "\n", args.plot)
    else:
        from iosonde.jobs.climate.render import save_climate

        save_climate(figure, args.plot, width_in=args.width, dark=args.dark, zone=UTC)
    options.note(f"wrote {args.plot}")
