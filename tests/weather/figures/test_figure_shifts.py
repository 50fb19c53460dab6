"""The figure of a comparison: its numbers are those of the table, n/a stays n/a."""

from __future__ import annotations

import json
from datetime import UTC

import numpy as np
import pytest

from iosonde.drawing.canvas import encoded
from iosonde.drawing.marks import RatioMarks
from iosonde.drawing.render_sheet import draw_sheet
from iosonde.drawing.sheet import plain
from iosonde.weather.compare.compare import compare
from iosonde.weather.compare.sheet import shifts_sheet
from iosonde.weather.compare.words import judge
from iosonde.weather.samples.periods import Part
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.makers import SECOND

BEGIN = 1_791_763_200 * SECOND
DAY = 86_400
OPS = ("data_write", "md_stat", "md_delete")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two days of three ops; on the second writes take 1.5 times as long, deletes are few."""
    root = tmp_path_factory.mktemp("shifts")
    rng = np.random.default_rng(3)
    slower = [Trouble("data_write", 0, DAY, 1.5)]
    for day, troubles in enumerate(([], slower)):
        begin = BEGIN + day * DAY * SECOND
        made(root, rng, begin, DAY, troubles, period_s=60, ops=OPS[:2])
        made(root, rng, begin, 600, period_s=61, ops=OPS[2:])
    return root


@pytest.fixture(scope="module")
def compared(root):
    a, b = (
        Part(
            "/work",
            since_ns=BEGIN + day * DAY * SECOND,
            until_ns=BEGIN + (day + 1) * DAY * SECOND,
        )
        for day in (0, 1)
    )
    return compare(Store(root), a, b, zone=UTC)


def sheet_of(compared, margin=1.2):
    found = judge(compared, margin)
    return shifts_sheet(compared, margin, {op.op: op.verdict for op in found}, ("a", "b"), ["say"])


def test_the_numbers_are_those_of_the_table(compared):
    sheet = sheet_of(compared)
    assert [pane.row for pane in sheet.panes] == [
        "writes: slower",
        "stats: same",
        "deletes: not enough data",
    ]
    for pane, op in zip(sheet.panes, judge(compared), strict=True):
        (mark,) = pane.marks
        assert isinstance(mark, RatioMarks)
        assert mark.margin == 1.2
        assert mark.categories == ("q25", "q50", "q75", "q90", "q95", "q99", "mean")
        for name in ("lower", "upper"):
            told = [
                np.nan if (v := getattr(q, name)) is None else v for q in (*op.levels, op.whole)
            ]
            assert getattr(mark, name) == pytest.approx(np.array(told), nan_ok=True)
        assert mark.changed.tolist() == [row.changed for row in (*op.levels, op.whole)]
        known = ~np.isnan(mark.value)
        assert (mark.lower[known] <= mark.value[known]).all()
        assert (mark.value[known] <= mark.upper[known]).all()
    writes, stats, deletes = (pane.marks[0] for pane in sheet.panes)
    assert writes.value[:4] == pytest.approx(1.5, rel=0.1)
    assert writes.changed[:4].all()
    assert writes.value[-1] == pytest.approx(1.5, rel=0.1)
    assert not stats.changed.any()
    assert np.isnan(deletes.value).all()
    assert sheet.caption[:3] == ("A: a", "B: b", "say")
    assert sheet.since_s is None


@pytest.mark.parametrize(("dark", "width"), [(False, 10.0), (True, 3.6)])
def test_light_and_dark_with_the_margin_shaded(compared, dark, width):
    canvas = draw_sheet(sheet_of(compared, 1.5), width_in=width, dark=dark)
    assert len(canvas.axes) == 3
    for axes in canvas.axes:
        assert axes.get_xscale() == "log"
        (band,) = axes.patches
        assert band.get_x() == pytest.approx(1 / 1.5)
        assert band.get_x() + band.get_width() == pytest.approx(1.5)
        low, high = axes.get_xlim()
        assert low < 1 / 1.5 < 1.5 < high
        assert [label.get_text() for label in axes.get_yticklabels()][1] == "q50"
    assert [t.get_text().strip() for t in canvas.axes[2].texts].count("n/a") == 7
    words = [text.get_text() for text in canvas.legends[0].get_texts()]
    assert "the same, within 50%" in words
    assert encoded(canvas, "png").startswith(b"\x89PNG")


def test_command(root, tmp_path, capsys, utc):
    sides = ["2026-10-12", "2026-10-13", "--target", "/work", "--op", "md_stat"]
    out = tmp_path / "shifts.json"
    assert run("compare", *sides, "--plot", str(out), store=root) == 0
    told = capsys.readouterr()
    assert "stats are the same in B as in A" in told.out
    assert f"wrote {out}" in told.err
    body = json.loads(out.read_text())
    assert body == json.loads(json.dumps(plain(body), allow_nan=False))
    assert [mark["mark"] for pane in body["panes"] for mark in pane["marks"]] == ["shifts"]
    picture = tmp_path / "shifts.svg"
    assert run("compare", *sides, "--plot", str(picture), "--dark", store=root) == 0
    assert "<svg" in picture.read_text()
