"""iosonde report: a day or a week of a target on one HTML page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde import __version__
from iosonde.cli.shared import options
from iosonde.cli.shared.targets import called, no_samples
from iosonde.model.errors import UsageError
from iosonde.model.frames import SlowdownQuery
from iosonde.model.units import format_seconds, format_time
from iosonde.weather.events.log import Event, read_events
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.weather.report.html import EventRow
    from iosonde.weather.report.report import Report

SEED = 20190620
"""Of the tests of what comes back; the page tells it."""
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

    import numpy as np

    from iosonde.engine.files import write_text
    from iosonde.weather.report.report import reports

    zone, random = options.local_zone(), np.random.default_rng(SEED)
    found = reports(store, query, zone, now_ns=now_ns, random=random)
    if not found:
        raise no_samples(store, "report", args.target)
    write_text(_page(store, query, found, now_ns), args.output)
    options.tell(f"wrote {args.output}")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "A day or a week of a target on one HTML page that needs nothing else."
    parser = options.Parser("report", summary, EXAMPLES)
    add = parser.add_argument
    add("target", nargs="?", help="name or path of a watched target (default: all)")
    add("--host", help="as seen from this host only")
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


def _page(store: Store, query: SlowdownQuery, found: list[Report], now_ns: int) -> str:
    from iosonde.weather.report.figures import pictures
    from iosonde.weather.report.html import Section, page
    from iosonde.weather.report.words import (
        change_words,
        differs,
        recurrence_words,
        report_words,
    )

    events = _events(store, query, now_ns)
    sections = [
        Section(
            report,
            report_words(report),
            _rows(report, events, now_ns),
            recurrence_words(report, _reader()),
            pictures(store, report, number),
            change_words(report),
            [op for op, now in report.climate.items() if differs(now)],
        )
        for number, report in enumerate(found)
    ]
    targets = list(dict.fromkeys(report.place.target for report in found))
    title = f"{', '.join(targets[:3])}{' and more' if len(targets) > 3 else ''}: storage report"
    first, last = found[0].since_ns, found[0].until_ns
    range_ = f"{format_time(first, 0)} to {format_time(last, 0)}, local time"
    made = f"made {format_time(now_ns, 0)} by iosonde {__version__} from {store.root.absolute()}, seed {SEED}"
    return page(title, range_, sections, made)


def _events(store: Store, query: SlowdownQuery, now_ns: int) -> list[tuple[Event, EventRow]]:
    """What the agent noted, in words."""
    from iosonde.weather.events.words import event_words, say_event
    from iosonde.weather.report.html import EventRow

    living = {str(state["run_id"]) for state in store.states() if state["running"]}
    rows = []
    for event in read_events(store.root, query.since_ns, query.until_ns):
        running = event.run_id in living
        began = format_time(event.began_ns, 0)
        lasted = event_words(event, now_ns, running=running).lasted
        rows.append(
            (event, EventRow("hang", began, lasted, say_event(event, now_ns, running=running)))
        )
    return rows


def _rows(report: Report, events: list[tuple[Event, EventRow]], now_ns: int) -> list[EventRow]:
    """The agent's events, slow events and what else was slow in one place, by their beginning.

    What slow events tell is not told again; spans that they do not know, such as those of a busy host, are kept.
    """
    from iosonde.weather.events.words import say_slow_event
    from iosonde.weather.report.html import EventRow
    from iosonde.weather.slowdown.findings import from_span
    from iosonde.weather.slowdown.words import say

    here = [
        (event.began_ns, row)
        for event, row in events
        if event.host == report.place.host
        and event.target in (None, report.place.target)
        and not (
            event.kind == "slow"
            and any(slow.overlaps(event.began_ns, event.ended_ns) for slow in report.events)
        )
    ]
    for slow in report.events:
        lasted = format_seconds(slow.seen_until_ns - slow.start_ns)
        row = EventRow("slow", format_time(slow.start_ns, 0), lasted, say_slow_event(slow, 0))
        here.append((slow.start_ns, row))
    for span in report.spans:
        told = any(slow.overlaps(span.start_ns, span.end_ns) for slow in report.events)
        if told and not span.host_busy:
            continue
        lasted = format_seconds(span.end_ns - span.start_ns)
        kind = "busy" if span.host_busy else "slow"
        began = format_time(span.start_ns, 0)
        here.append((span.start_ns, EventRow(kind, began, lasted, say(from_span(span, now_ns)))))
    return [row for _, row in sorted(here, key=lambda item: item[0])]


def _reader() -> str:
    """What the zone of the reader is called in sentences."""
    name = str(options.local_zone())
    return "UTC" if name.endswith("/UTC") else name
