"""The figure of bursts: what is drawn is what was found, and it shows why the median misses it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC

import numpy as np
import pytest

from iosonde.drawing.canvas import encoded
from iosonde.drawing.marks import Cells, Level, Points, Shade, StepMarks
from iosonde.drawing.render_sheet import draw_sheet
from iosonde.drawing.sheet import RATIO, SECONDS, plain
from iosonde.drawing.sheet_layout import layout
from iosonde.model.frames import SlowdownQuery
from iosonde.weather.bursts import sheet as module
from iosonde.weather.bursts.bursts import bursts
from iosonde.weather.bursts.search import FACTOR_AT
from iosonde.weather.bursts.sheet import bursts_sheet
from iosonde.weather.bursts.words import say_runs
from iosonde.weather.figures.request import FigureRequest
from iosonde.weather.figures.sheets import sheet_of
from iosonde.weather.samples.periods import Part
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.latencies import (
    COOLEY,
    MEASURING,
    MISTRAL,
    closed_loop,
    gathered,
    import_runs,
)
from tests.kit.samples.makers import SECOND, START

STALL = (3.0, 0.8)
DAY = 86_400 * SECOND


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A run of 5 s in which all ranks wait 0.8 s, and a calm one an hour later."""
    root = tmp_path_factory.mktemp("figure-bursts")
    rng = np.random.default_rng(5)
    for place, (name, stalls) in enumerate((("stalls", [STALL]), ("calm", []))):
        rows = closed_loop(rng, 5.0, stalls=stalls, slow_share=0.0, ranks=6)
        begin_ns = START + place * 3600 * SECOND
        import_runs(root, [gathered(root / f"{name}.csv", rows)], started_ns=begin_ns)
    return Store(root)


def asked(target=None, **changes):
    query = SlowdownQuery(
        target=target, since_ns=START - SECOND, until_ns=START + DAY, statistic="median"
    )
    return FigureRequest("bursts", query, **changes)


def say(runs):
    return say_runs(runs, START, UTC)


def of_kind(pane, kind):
    return [mark for mark in pane.marks if isinstance(mark, kind)]


def test_a_planted_burst_exceeds_the_limit_and_its_median_does_not(store):
    sheet = sheet_of(store, asked("stalls"), say)
    (found,) = bursts(store, Part(target="stalls"))
    (burst,) = found.bursts
    above, below = sheet.panes[0::2], sheet.panes[1::2]
    assert [pane.row for pane in above] == [pane.row for pane in below]
    assert {pane.unit for pane in above} == {SECONDS}
    exceeded = set()
    for pane in below:
        assert pane.unit == RATIO
        (shade,) = of_kind(pane, Shade)
        assert shade.kind == "burst"
        assert shade.start_s - START / 1e9 == pytest.approx(STALL[0], abs=0.02)
        assert shade.end_s - shade.start_s == pytest.approx(STALL[1], abs=0.05)
        assert [level.value for level in of_kind(pane, Level)] == [FACTOR_AT]
        lines = {mark.role: mark for mark in of_kind(pane, StepMarks)}
        assert list(lines) == ["mean", "q95", "q99", "median"]
        for role, line in lines.items():
            inside = (line.start_s < shade.end_s) & (line.end_s > shade.start_s)
            assert not (line.value[~inside] > FACTOR_AT).any(), "nothing happens elsewhere"
            if (line.value[inside] > FACTOR_AT).any():
                exceeded.add(role)
    assert exceeded >= {"mean", "q99"}
    assert "median" not in exceeded
    assert not burst.median_sees
    assert any("the median does not show it" in text for text in sheet.caption)
    assert sheet.caption[0].startswith("stalls-i0: 1 burst on stalls, ")


def test_every_operation_is_drawn_and_nothing_across_a_gap(store, monkeypatch):
    (found,) = bursts(store, Part(target="stalls"), everything=True)
    sheet = sheet_of(store, asked("stalls"))
    for pane, op in zip(sheet.panes[0::2], found.searched, strict=True):
        points = of_kind(pane, Points)
        assert sum(map(len, points)) == pane.n == len(op.began_ns)
        drawn = np.sort(np.concatenate([mark.value for mark in points]))
        assert drawn == pytest.approx(np.sort(op.waited_ns) / 1e9)
    (line,) = [mark for mark in of_kind(sheet.panes[1], StepMarks) if mark.role == "mean"]
    still = (line.start_s > START / 1e9 + 3.2) & (line.end_s < START / 1e9 + 3.7)
    assert np.isnan(line.value[(line.end_s - line.start_s) > 0.3]).all()
    assert np.isnan(line.value[still]).all()
    monkeypatch.setattr(module, "MANY_IN_ALL", 100)
    grid = sheet_of(store, asked("stalls"))
    for pane in grid.panes[0::2]:
        (cells,) = of_kind(pane, Cells)
        assert cells.counts.sum() == pane.n
        assert cells.counts.shape[1] <= 600
    assert "counted on a grid, none left out" in grid.caption[0]


def test_runs_have_their_own_time_and_pairs_stay_together(store):
    sheet = sheet_of(store, asked(), say)
    spans = {pane.span_s for pane in sheet.panes}
    assert [round(begin - START / 1e9) for begin, _ in sorted(spans)] == [0, 3600]
    assert any("no burst in" in text for text in sheet.caption)
    for width in (4.0, 8.0, 12.0, 20.0):
        plan = layout(sheet, width)
        assert len(sheet.panes) % plan.stack == 0
        for number in range(0, len(sheet.panes), 2):
            upper, lower = plan.box(number), plan.box(number + 1)
            assert upper[0] == lower[0]
            assert 0 <= lower[1] + lower[3] < upper[1] < 1
            assert not plan.lowest(number)
            assert plan.lowest(number + 1)
    body = json.loads(json.dumps(plain(sheet), allow_nan=False))
    assert {"level", "shade", "steps", "points"} == {
        mark["mark"] for pane in body["panes"] for mark in pane["marks"]
    }


def test_too_few_operations_are_told_and_many_runs_are_not_all_drawn(store, monkeypatch):
    short = replace(asked("stalls").query, until_ns=START + SECOND // 50)
    sheet = sheet_of(store, FigureRequest("bursts", short))
    assert {pane.note for pane in sheet.panes[1::2]} == {"too few operations to look for bursts"}
    monkeypatch.setattr(module, "MOST_RUNS", 1)
    one = bursts_sheet(bursts(store, Part(ops=("md_create", "md_read")), everything=True))
    assert {pane.column for pane in one.panes[0::2]} == {"stalls-i0"}, "the one with a burst"
    assert "1 more run is not drawn" in one.caption[-1]
    assert bursts_sheet(bursts(store, Part(target="calm", ops=("md_stat",)))) is None, (
        "without the operations"
    )
    assert sheet_of(store, asked("nowhere")) is None


@pytest.mark.parametrize(("dark", "width"), [(False, 12.0), (True, 4.2)])
def test_light_and_dark(store, dark, width):
    whole = asked("stalls")
    some = replace(whole, query=replace(whole.query, ops=("md_create", "md_read")))
    sheet = sheet_of(store, some, say)
    canvas = draw_sheet(sheet, width_in=width, dark=dark, zone=UTC)
    assert len(canvas.axes) == len(sheet.panes)
    words = [text.get_text() for text in canvas.legends[0].get_texts()]
    assert {"one operation", "mean", "q99", "median", "2x, the limit", "burst"} <= set(words)
    assert encoded(canvas, "png").startswith(b"\x89PNG")


def test_command(store, tmp_path, capsys, utc):
    out = tmp_path / "b.json"
    span = ["--since", f"@{START // SECOND - 1}", "--until", f"@{START // SECOND + 60}"]
    more = ["--op", "md_stat", "--window", "500ms", "-o", str(out)]
    assert run("figure", "bursts", "stalls", *span, *more, store=store.root) == 0
    assert "on stalls" in capsys.readouterr().err
    panes = json.loads(out.read_text())["panes"]
    assert [pane["column"] for pane in panes] == ["stalls-i0", "factors of 500ms"]


@pytest.mark.skipif(
    not MEASURING.is_dir(), reason=f"real latency files are not in {MEASURING} (IOSONDE_DATA)"
)
def test_real_runs(tmp_path):
    """In each: a burst that mean or q99 exceeds the limit in, and no median that is called slow."""
    for path, target in ((MISTRAL, "lustre02"), (COOLEY, "cooley")):
        import_runs(tmp_path, [MEASURING / path], target=target, started_ns=START)
        sheet = sheet_of(Store(tmp_path), asked(target), say)
        assert len(sheet.panes) == (3 if target == "lustre02" else 1) * 4 * 2
        hidden = 0
        for pane in sheet.panes[1::2]:
            lines = {mark.role: mark for mark in of_kind(pane, StepMarks)}
            for shade in of_kind(pane, Shade):
                median = _within(lines["median"], shade)
                assert not ((median.value >= 2) & (median.lower >= 1.5)).any()
                rose = [_within(lines[role], shade).value for role in ("mean", "q99")]
                hidden += any((value > FACTOR_AT).any() for value in rose)
        assert hidden >= 3
        assert "the median alone shows 0" in sheet.caption[0]


def _within(line, shade):
    inside = (line.start_s < shade.end_s) & (line.end_s > shade.start_s)
    lower = None if line.lower is None else line.lower[inside]
    return StepMarks(line.role, line.start_s[inside], line.end_s[inside], line.value[inside], lower)
