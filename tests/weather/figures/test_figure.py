from __future__ import annotations

from datetime import UTC

import numpy as np
import pytest

from iosonde.drawing.marks import Cells, Points, Shade
from iosonde.drawing.render_sheet import draw_sheet, save_sheet
from iosonde.drawing.sparkline import levels, sparkline
from iosonde.drawing.style import DARK, LIGHT, RAMP_AT
from iosonde.model.errors import StoreError, UsageError
from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import OP_WORDS
from iosonde.weather import samples_to_draw as scatter_module
from iosonde.weather.samples_to_draw import scatter
from iosonde.weather.slowdown.figure import slowdown_figure
from iosonde.weather.slowdown.slowdown import analyse
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.makers import SECOND, START, row, rows, sealed, simulated


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("figure")
    simulated(
        root,
        2400,
        {"op": "data_read", "after": "900s", "for": "900s", "multiply": 3.0},
        {"op": "md_create", "after": "1000s", "for": "20s", "hang": True},
        {"op": "md_delete", "after": "1100s", "for": "20s", "error": "EIO"},
    )
    sealed(root, "r-9", [row(START + 5 * SECOND, None, op="md_stat", run_id="x")])
    return Store(root)


def figure(store):
    result = analyse(store, SlowdownQuery())
    (one,) = slowdown_figure(result, scatter(store, result))
    return one


def only(pane, kind):
    """The mark of a kind that a pane has at most once."""
    found = [mark for mark in pane.marks if isinstance(mark, kind)]
    assert len(found) <= 1
    return found[0] if found else None


def test_every_sample_is_in_its_panel(store):
    panels = {panel.row: panel for panel in figure(store).panes}
    assert list(panels) == list(OP_WORDS.values())
    for panel in panels.values():
        silent = panel.n - len(only(panel, Points))
        assert ("not drawn" in panel.note) == (silent > 0)
        assert only(panel, Cells) is None
    assert panels["stats"].n == 2401
    assert "not drawn 1" in panels["stats"].note
    kinds = {title: set(only(panel, Points).kind) for title, panel in panels.items()}
    assert kinds["creates"] == {"ok", "skipped"}
    assert kinds["deletes"] == {"ok", "failed"}
    assert [op for op, panel in panels.items() if only(panel, Shade)] == ["reads"]


def test_many_samples_are_counted_not_thinned(store, monkeypatch):
    points = {panel.row: panel for panel in figure(store).panes}
    monkeypatch.setattr(scatter_module, "MANY", 100)
    for panel in figure(store).panes:
        assert panel.n == points[panel.row].n
        other, cells = only(points[panel.row], Points), only(panel, Cells)
        ok = other.kind == "ok"
        assert cells.counts.sum() == np.count_nonzero(ok)
        assert cells.counts.shape[1] <= scatter_module.COLUMNS + 1
        assert cells.value_edges[0] <= other.value[ok].min()
        assert cells.value_edges[-1] >= other.value[ok].max()
        assert set(only(panel, Points).kind) == set(other.kind) - {"ok"}


def test_cells_hold_what_lies_between_their_edges(store, monkeypatch):
    points = only(figure(store).panes[0], Points)
    monkeypatch.setattr(scatter_module, "MANY", 100)
    cells = only(figure(store).panes[0], Cells)
    counted, _, _ = np.histogram2d(
        points.value, points.time_s, (cells.value_edges, cells.time_edges_s)
    )
    assert np.abs(counted - cells.counts).sum() <= 0.01 * len(points)  # rounding at edges


def test_two_hosts_are_two_figures(store, tmp_path):
    sealed(tmp_path, "r-0", rows([1000] * 9) + rows([1000] * 9, host="b"))
    result = analyse(Store(tmp_path), SlowdownQuery())
    figures = slowdown_figure(result, scatter(Store(tmp_path), result))
    assert [f.title for f in figures] == ["/work as seen from b", "/work as seen from login2"]


def test_nothing_is_no_figure(tmp_path):
    assert slowdown_figure(analyse(Store(tmp_path), SlowdownQuery()), {}) == []


@pytest.mark.parametrize("dark", [False, True])
def test_a_picture_shows_what_the_data_says(store, dark):
    canvas = draw_sheet(figure(store), dark=dark, zone=UTC)
    latency, strips = canvas.axes[0::2], canvas.axes[1::2]
    assert len(latency) == len(strips) == 6
    words = [text.get_text() for axes in latency for text in axes.texts]
    assert [word for word in words if word in OP_WORDS.values()] == list(OP_WORDS.values())
    assert any(word.startswith("usual 4.9") and "slow 3.0x" in word for word in words)
    assert any("3.0x" in text.get_text() for text in strips[0].texts)
    assert all(axes.get_yscale() == "log" for axes in latency)
    legend = [text.get_text() for text in canvas.legends[0].get_texts()]
    assert {"usual", "slow", "failed", "skipped"} <= set(legend)
    assert "pending" not in legend


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_pictures_by_ending(store, tmp_path, name):
    save_sheet(figure(store), tmp_path / name, width_in=7, zone=UTC)
    assert (tmp_path / name).stat().st_size > 10_000


def test_pictures_that_cannot_be_written(store, tmp_path):
    with pytest.raises(StoreError, match="cannot write"):
        save_sheet(figure(store), tmp_path / "no" / "a.png")


@pytest.mark.parametrize("name", ["a.doc", "a.gif", "a.jpg", "a", "a.", ".png"])
def test_only_the_endings_that_help_names_are_pictures(store, tmp_path, name):
    with pytest.raises(UsageError, match=r"ends in \.png, \.svg or \.pdf"):
        save_sheet(figure(store), tmp_path / name)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["x.gif", "x"])
def test_the_commands_refuse_other_endings(store, tmp_path, capsys, name):
    path = tmp_path / name
    to = str(path)
    assert run("slowdown", "--since", "2020-01-01", "--plot", to, store=store.root) == 2
    assert run("figure", "points", "--since", "2020-01-01", "-o", to, store=store.root) == 2
    assert capsys.readouterr().err.count("a picture cannot be a") == 2
    assert not path.exists()


def test_a_ramp_has_a_colour_for_each_slowdown():
    assert len(LIGHT.ramp) == len(DARK.ramp) == len(RAMP_AT)


def test_the_height_of_a_sparkline_is_a_slowdown():
    factors = (0.1, 0.6, 1.0, 1.9, 2.9, 4.5, 7.0, 10.5, 100.0)
    heights = levels([f * 1e6 for f in factors], 1e6)
    assert heights == [0, 0, 1, 3, 4, 5, 6, 7, 7]
    assert sparkline([0, 7, None]) == "▁█x"
    assert sparkline([0, 7, None], ascii_only=True) == "_@x"


def test_a_sparkline_without_a_baseline_compares_with_itself():
    assert levels([1e6, 1e6, 8e6, None], None) == [1, 1, 6, None]
    assert levels([None, None], None) == [None, None]
    assert levels([], 1e6) == []
    assert levels([0.0], None) == [0]
