"""Figures of a report, as SVG in two widths: wide for screens and paper, narrow for phones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from iosonde.drawing.html_page import Picture, picture_of
from iosonde.drawing.sheet import Sheet
from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import SECOND_NS
from iosonde.model.units import DAY_NS
from iosonde.weather.figures.request import FigureRequest
from iosonde.weather.figures.sheets import sheet_of
from iosonde.weather.report.report import Report
from iosonde.weather.slowdown.baseline import LearntBaselines
from iosonde.weather.store import Store

_HOUR = 3600 * SECOND_NS
_TITLES = {
    "slowdown": "Slowdown",
    "points": "Every operation",
    "timeline": "Statistics over time",
    "statistics": "Statistics as boxes",
}


class Drawable(NamedTuple):
    """A sheet, its heading, and the prefix of its ids on the page."""

    title: str
    sheet: Sheet
    name: str


def sheets(
    store: Store, report: Report, number: int, known: LearntBaselines | None = None
) -> Iterator[Drawable]:
    """Slowdown at two scales, every operation, statistics over time and as boxes.

    ``number`` tells the places of a page apart. Intervals are 4 h long, in a report of up to two
    days 1 h. A figure without anything in it, as slowdown while it is learnt what is usual, is left out.
    ``known``: what is usual, if that is at hand.
    """
    place = report.place
    long = _HOUR if report.until_ns - report.since_ns <= 2 * DAY_NS else 4 * _HOUR
    query = SlowdownQuery(
        *(place.host, place.target, None, report.since_ns, report.until_ns),
        window_ns=long,
        rolled=True,
    )
    for kind, title in _TITLES.items():
        asked = FigureRequest(kind, query, windows_ns=(600 * SECOND_NS, long), known=known)
        sheet = sheet_of(store, asked)
        if sheet is not None and any(pane.n for pane in sheet.panes):
            yield Drawable(title, sheet, f"f{number}{kind}")


def load() -> None:
    """Import the plotting library, meanwhile samples can be read."""
    from matplotlib.backends import backend_svg  # noqa: F401


def picture(of: Drawable) -> Picture:
    """A sheet in two widths. Raises MissingPartError (no matplotlib)."""
    return picture_of(of.sheet, of.title, of.name)
