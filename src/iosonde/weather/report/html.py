"""A report as one self-contained HTML page: no network, no script, light and dark, screen and paper.

Everything that comes from outside (names, sentences) goes through ``drawing.html_text.escape``; figures are SVG
whose text is drawn as shapes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.drawing.html_page import Picture, html_page, list_html, picture_html
from iosonde.drawing.html_text import escape
from iosonde.model.ops import op_word
from iosonde.model.units import format_count, format_duration, format_factor, format_percent
from iosonde.weather.report.heat import heat_legend, heat_table
from iosonde.weather.report.style import STYLE
from iosonde.weather.report.worst import slow_events

if TYPE_CHECKING:
    from iosonde.model.frames import Usual
    from iosonde.weather.report.report import OpTotals, Report

MOST_EVENTS = 60
"""Most events listed one by one; the others are counted."""


@dataclass(frozen=True)
class EventRow:
    """Event in words: start, duration, sentence; ``kind`` slow, busy or hang."""

    kind: str
    began: str
    lasted: str
    sentence: str


@dataclass(frozen=True)
class Section:
    """Section on one place. ``recurrence``: sentences; None if not searched.

    ``changes``: sentences about lasting changes of what is usual; ``moved``: ops whose usual at first was another.
    """

    report: Report
    words: Mapping[str, str]
    events: Sequence[EventRow]
    recurrence: Sequence[str] | None
    pictures: Sequence[Picture]
    changes: Sequence[str] = ()
    moved: Collection[str] = ()
    not_judged: Sequence[str] = ()


def page(title: str, subtitle: str, sections: Sequence[Section], made: str) -> str:
    """Render the page. ``title``, ``subtitle`` and ``made`` (time and program) are plain text."""
    body = "\n".join(_section(section, len(sections) > 1) for section in sections)
    return html_page((title, subtitle), body, made, STYLE)


def _section(section: Section, several: bool) -> str:
    report, words = section.report, section.words
    place = f"{report.place.target} as seen from {report.place.host}"
    slow = bool(slow_events(report))
    head = f"<h2>{escape(place)}</h2>" if several else ""
    headline = _capital(words["headline"], report.place.target)
    parts = [
        f'<section class="place">{head}',
        f'<p class="headline {"slow" if slow else "usual"}">{escape(headline)}</p>',
        f'<p class="watched">{escape(words["watched"])}</p>',
        _usual_table(report, section.moved),
        list_html(section.changes),
        _events(section.events, section.not_judged),
        _recurrence(section.recurrence),
        _heats(report),
        _cost(section),
        *(picture_html(picture) for picture in section.pictures),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _capital(sentence: str, target: str) -> str:
    """The sentence with a capital, unless it starts with the target's name."""
    return sentence if sentence.startswith(target) else sentence[:1].upper() + sentence[1:]


def _usual_table(report: Report, moved: Collection[str]) -> str:
    """Table of usual latencies, with the first ones if they differed."""
    tallies = {tally.op: tally for tally in report.tallies}
    climate = report.climate if moved else None
    rows = "".join(_usual_row(usual, tallies.get(usual.key.op), climate) for usual in report.usual)
    names = ["operation", "usual", "slowest 10 min", "slow windows", "ended ok", "lost"]
    if moved:
        names.insert(2, "usual now / at first")
    head = "".join(f"<th scope=col>{name}</th>" for name in names)
    return f'<div class="scroll"><table class="ops"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _usual_row(usual: Usual, tally: OpTotals | None, climate: Mapping[str, float] | None) -> str:
    lost = "n/a" if tally is None or not tally.n_due else format_percent(tally.n_lost / tally.n_due)
    now = None if climate is None else climate.get(usual.key.op)
    since = "n/a" if now is None else f"{format_factor(now)}x"
    cells = (
        format_duration(usual.baseline_ns) if usual.baseline_ns else "learning",
        *(() if climate is None else (since,)),
        "n/a" if usual.peak is None else f"{format_factor(usual.peak)}x",
        f"{usual.slow_windows} of {usual.windows}",
        format_count(usual.n),
        lost,
    )
    data = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f"<tr><th scope=row>{escape(op_word(usual.key.op))}</th>{data}</tr>"


def _events(events: Sequence[EventRow], not_judged: Sequence[str]) -> str:
    missing = list_html(not_judged)
    if not events:
        none = "None in what was judged." if not_judged else "None."
        return f"<h3>Events</h3><p>{none}</p>{missing}"
    rows = "".join(
        f'<tr class="{escape(event.kind, quote=True)}"><td>{escape(event.began)}</td>'
        f"<td>{escape(event.lasted)}</td><td>{escape(event.sentence)}</td></tr>"
        for event in events[:MOST_EVENTS]
    )
    more = len(events) - MOST_EVENTS
    rest = f"<p>and {more} more that are not listed here</p>" if more > 0 else ""
    head = "<thead><tr><th scope=col>began</th><th scope=col>lasted</th><th scope=col>what</th></tr></thead>"
    return (
        f'<h3>Events</h3><table class="events">{head}<tbody>{rows}</tbody></table>{rest}{missing}'
    )


def _recurrence(sentences: Sequence[str] | None) -> str:
    if sentences is None:
        return ""
    return "<h3>Recurrence</h3>" + (list_html(sentences) or "<p>Nothing comes back regularly.</p>")


def _heats(report: Report) -> str:
    if not report.heats:
        return ""
    by = {
        "minute": "by hour and ten minutes",
        "date": "by day and hour",
        "weekday": "by weekday and hour",
    }
    title = f"<h3>Slowdown {by[report.heats[0].by]}</h3>"
    if not any(heat.windows.any() for heat in report.heats):
        young = any(heat.learning.any() for heat in report.heats)
        why = "Still learning the baseline." if young else "No data."
        return f"{title}<p>{why}</p>"
    maps = "".join(f"<figure>{heat_table(heat)}</figure>" for heat in report.heats)
    return f'{title}{heat_legend()}<div class="heats">{maps}</div>'


def _cost(section: Section) -> str:
    lines = [section.words[name] for name in ("lost", "cache", "cost") if name in section.words]
    return "<h3>Losses and cost</h3>" + list_html(lines)
