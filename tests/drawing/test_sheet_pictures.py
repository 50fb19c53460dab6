"""Sheets as pictures: drawn without a warning (pytest makes them errors), nothing on top of another."""

from __future__ import annotations

import itertools
import re
from datetime import UTC
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from iosonde.drawing.canvas import encoded
from iosonde.drawing.marks import Bars, Cells, Points, Shade, StepMarks
from iosonde.drawing.render_sheet import draw_sheet
from iosonde.drawing.sheet import RATIO, SECONDS, Pane, Sheet
from iosonde.drawing.sheet_layout import layout
from iosonde.drawing.style import DARK, LIGHT
from iosonde.drawing.svg import inline, style_sheet, variables
from iosonde.drawing.time_ticks import time_ticks
from iosonde.model.errors import UsageError

T = 1_790_000_000.0
HOSTILE = "$x_{$ <script>alert(1)</script>&\"'"


def points(n=40):
    kinds = np.array(["ok", "failed", "skipped", "pending"], dtype=object)[np.arange(n) % 4]
    return Points(T + np.arange(n) * 10.0, np.geomspace(1e-4, 1e-1, n), kinds)


def steps(role, n=40):
    value = np.where(np.arange(n) % 7 == 3, np.nan, np.linspace(0.5, 9.0, n))
    start = T + np.arange(n) * 10.0
    return StepMarks(role, start, start + 10.0, value, value * 0.9, value * 1.1)


def bars(names):
    n = len(names)
    value = np.geomspace(1e-3, 1e-1, n)
    value[-1] = np.nan
    outliers = np.array([1e-5, 2.0, 3.0])
    return Bars(
        tuple(names),
        np.full(n, 9),
        value * 0.8,
        value,
        value * 1.3,
        value * 0.5,
        value * 2,
        outliers,
        np.array([0, 0, n - 1]),
        np.array([1, 500, 1]),
    )


def sheets():
    cells = Cells(
        T + np.arange(41) * 10.0, np.geomspace(1e-4, 1e-1, 6), np.eye(5, 40, dtype=np.int64)
    )
    shades = (Shade("phase", T, T + 100, "IOREasy"), Shade("phase", T + 100, T + 105, HOSTILE))
    slow = Shade("slow", T + 50, T + 90)
    time = [
        Pane("reads", "/work", SECONDS, (*shades, cells, points()), 80, "n = 80"),
        Pane("reads", HOSTILE, SECONDS, (*shades, points()), 40, "n = 40, 3 intervals missing"),
        Pane("reads", "slowdown", RATIO, (slow, steps("slowdown"), steps("q95")), 40),
        Pane("stats", "/work", RATIO, (), 0, "no reference"),
    ]
    columns = ("/work", HOSTILE, "slowdown")
    yield Sheet(
        "points", f"Every operation: {HOSTILE}", columns, tuple(time), T, T + 400, ("a", "b")
    )
    boxes = [
        Pane(row, "/work", SECONDS, (bars(["node1", HOSTILE * 3, "n3"]),), 27, "n = 27")
        for row in "abcde"
    ]
    yield Sheet("hosts", "Hosts: /work", ("/work",), tuple(boxes), None, None, ("boxes " * 60,))


@pytest.mark.parametrize("number", [0, 1])
def test_light_and_dark_narrow_and_wide(number):
    sheet = list(sheets())[number]
    pictures = {}
    for width, dark in ((3.4, False), (12.0, True)):
        canvas = draw_sheet(sheet, width_in=width, dark=dark, zone=UTC)
        assert len(canvas.axes) == len(sheet.panes)
        assert canvas.get_size_inches()[0] == width
        pictures[dark] = encoded(canvas, "png")
        ground = (DARK if dark else LIGHT).ground
        assert canvas.get_facecolor()[:3] == pytest.approx(
            [int(ground[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        )
        touching = _touching(canvas)
        assert touching == [], f"texts on top of each other at {width} in"
    assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())


def _touching(canvas):
    """Pairs of headings whose boxes overlap."""
    canvas.draw_without_rendering()
    texts = [
        t for axes in canvas.axes for t in axes.texts if t.get_text() and t.get_fontsize() != 7.5
    ]
    texts += [t for axes in canvas.axes for t in axes.texts if t.get_text().startswith("n =")]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts + list(canvas.texts)]
    return [(a, b) for (a, x), (b, y) in itertools.combinations(boxes, 2) if x.overlaps(y)]


@pytest.mark.parametrize("width", [3.0, 4.2, 6.0, 12.0, 40.0])
def test_panes_stand_side_by_side_inside_the_picture(width):
    for sheet in sheets():
        plan = layout(sheet, width)
        boxes = [plan.box(number) for number in range(len(sheet.panes))]
        for left, bottom, wide, high in boxes:
            assert left >= 0
            assert bottom >= 0
            assert left + wide <= 1
            assert bottom + high <= 1
        for a, b in itertools.combinations(boxes, 2):
            apart = (
                a[0] + a[2] <= b[0]
                or b[0] + b[2] <= a[0]
                or a[1] + a[3] <= b[1]
                or b[1] + b[3] <= a[1]
            )
            assert apart
        assert plan.lowest(len(boxes) - 1)


@pytest.mark.parametrize("width", [0.0, 2.9, 1000.0, float("nan")])
def test_a_width_that_nothing_fits_in(width):
    with pytest.raises(UsageError, match="cannot be drawn"):
        draw_sheet(next(sheets()), width_in=width)


def test_svg_for_a_page_takes_its_colours_from_the_page():
    texts = [
        inline(draw_sheet(sheet, width_in=6, zone=UTC), f"f{n}", HOSTILE)
        for n, sheet in enumerate(sheets())
    ]
    for text in texts:
        assert text.startswith('<svg role="img" aria-label="$x_{$ &lt;script&gt;')
        assert "<script" not in text
        assert not set(re.findall(r"#[0-9a-f]{6}\b", text)) & set(variables(LIGHT).values())
        assert "var(--io-ink)" in text
        assert "width=" not in text[: text.index(">")]
        ids = re.findall(r'\bid="([^"]*)"', text)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'(?:url\(|href=")#([^")]*)', text)) <= set(ids)
    one, other = (set(re.findall(r'\bid="([^"]*)"', text)) for text in texts)
    assert not one & other
    css = style_sheet()
    assert all(css.count(f"{name}:") == 2 for name in variables(LIGHT))
    assert len(set(variables(LIGHT).values())) == len(variables(LIGHT)), "no colour twice"


@pytest.mark.parametrize("zone", [UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kathmandu"), None])
@pytest.mark.parametrize(
    "length", [3, 50, 600, 7200, 86_400, 5 * 86_400, 40 * 86_400, 900 * 86_400]
)
def test_time_ticks_are_round_and_never_too_many(zone, length):
    begin = 1_792_000_000.5  # three weeks before summer time ends
    for most in (3, 5, 9):
        found = time_ticks(begin, begin + length, zone, most)
        assert len(found) <= most
        assert found == sorted(set(found))
        assert all(begin <= at <= begin + length for at in found)
        assert len(found) >= (2 if most == 9 else 1)


def test_ticks_of_days_are_local_midnights():
    from datetime import datetime

    berlin = ZoneInfo("Europe/Berlin")
    found = time_ticks(1_792_000_000, 1_792_000_000 + 40 * 86_400, berlin, 9)
    moments = [datetime.fromtimestamp(at, berlin) for at in found]
    assert {(m.hour, m.minute) for m in moments} == {(0, 0)}
    assert {m.weekday() for m in moments} == {0}
    assert len({m.utcoffset() for m in moments}) == 2, "before and after the end of summer time"


@pytest.mark.parametrize("length", [1.9, 1.0, 0.3, 0.02, 0.001, 0.00003])
@pytest.mark.parametrize("most", [3, 9])
def test_time_ticks_of_a_moment_are_round_parts_of_a_second(length, most):
    begin = 1_792_000_005.578
    found = time_ticks(begin, begin + length, None, most)
    assert 1 <= len(found) <= most
    assert all(begin - 1e-6 <= tick <= begin + length + 1e-6 for tick in found)
    steps = {round((b - a) * 1e6) for a, b in itertools.pairwise(found)}
    assert len(steps) <= 1
    assert all(str(step).rstrip("0") in ("1", "2", "5") for step in steps)
