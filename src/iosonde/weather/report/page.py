"""The page of a report: every place with its sentences, events and pictures."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import tzinfo
from typing import TYPE_CHECKING

import numpy as np

from iosonde import __version__
from iosonde.model.units import format_seconds, format_time
from iosonde.weather.events.log import EventLog
from iosonde.weather.events.noted import told_once
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.unjudged_words import say_not_judged
from iosonde.weather.events.words import event_words, say_event
from iosonde.weather.report.figures import load, picture, sheets
from iosonde.weather.report.html import EventRow, Section, page
from iosonde.weather.report.report import Report, reports
from iosonde.weather.report.words import change_words, differs, recurrence_words, report_words
from iosonde.weather.slowdown.findings import from_span
from iosonde.weather.slowdown.slowdown import learned
from iosonde.weather.slowdown.words import say

if TYPE_CHECKING:
    from iosonde.model.frames import SlowdownQuery
    from iosonde.weather.store import Store

SEED = 20190620
"""Seed of the tests of recurrence; the page states it."""


def report_page(
    store: Store, query: SlowdownQuery, log: EventLog, now_ns: int, zone: tzinfo | None
) -> str | None:
    """The page as HTML, times in ``zone``; None: there are no samples. Raises StoreError."""
    random = np.random.default_rng(SEED)
    # Drawing waits for Python, reading for the engine: one thread draws while the other reads.
    with ThreadPoolExecutor(1) as drawing:
        drawing.submit(load)
        store = store.with_rollups(query.host, query.target, query.ops)
        known = learned(store, query)
        found = reports(store, query, zone, now_ns=now_ns, random=random, known=known)
        drawn = [
            [drawing.submit(picture, one) for one in sheets(store, report, number, known)]
            for number, report in enumerate(found)
        ]
    if not found:
        return None
    sections = [
        Section(
            report,
            report_words(report),
            _rows(report, log, now_ns),
            recurrence_words(report, _zone_name(zone)),
            [one.result() for one in pictures],
            change_words(report),
            [op for op, now in report.climate.items() if differs(now)],
            say_not_judged(report.not_judged, report.until_ns),
        )
        for report, pictures in zip(found, drawn, strict=True)
    ]
    targets = list(dict.fromkeys(report.place.target for report in found))
    title = f"{', '.join(targets[:3])}{' and more' if len(targets) > 3 else ''}: storage report"
    first, last = found[0].since_ns, found[0].until_ns
    range_ = f"{format_time(first, 0)} to {format_time(last, 0)}, local time"
    made = f"made {format_time(now_ns, 0)} by iosonde {__version__} from {store.root.absolute()}, seed {SEED}"
    return page(title, range_, sections, made)


def _rows(report: Report, log: EventLog, now_ns: int) -> list[EventRow]:
    """Rows of the agent's events, slow events and spans that the probing host explains, by start."""
    place = report.place
    logged = [
        event
        for event in log.events
        if event.host == place.host
        and event.target in (None, place.target)
        and not (event.from_samples and report.known_ns)
    ]
    rows = []
    logged, slow_events = told_once(logged, report.events)
    for event in logged:
        running = event.run_id in log.running
        lasted = event_words(event, now_ns, running=running).lasted
        said = say_event(event, now_ns, running=running)
        rows.append(
            (event.began_ns, EventRow("hang", format_time(event.began_ns, 0), lasted, said))
        )
    for slow in slow_events:
        lasted = format_seconds(slow.seen_until_ns - slow.start_ns)
        kind = "hang" if slow.kind == "hang" else "slow"
        row = EventRow(kind, format_time(slow.start_ns, 0), lasted, say_slow_event(slow, 0))
        rows.append((slow.start_ns, row))
    for span in report.spans:
        if span.host_busy:
            lasted = format_seconds(span.end_ns - span.start_ns)
            said = say(from_span(span, now_ns))
            row = EventRow("busy", format_time(span.start_ns, 0), lasted, said)
            rows.append((span.start_ns, row))
    return [row for _, row in sorted(rows, key=lambda item: item[0])]


def _zone_name(zone: tzinfo | None) -> str:
    """Name of the reader's zone in sentences."""
    name = str(zone)
    return "UTC" if name.endswith("/UTC") else name
