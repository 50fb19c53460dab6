"""Every figure as data: what would be drawn is what is stored."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from iosonde.drawing.marks import Bars, Cells, Points, Shade, StepMarks
from iosonde.drawing.sheet import plain
from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import OF_WINDOW, OP_WORDS, OPS
from iosonde.model.phases import Phase
from iosonde.weather import samples_to_draw as scatter_module
from iosonde.weather.figures.phases import phased
from iosonde.weather.figures.request import KINDS, FigureRequest
from iosonde.weather.figures.sheets import sheet_of
from iosonde.weather.samples import boxes as boxes_module
from iosonde.weather.store import Store
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.makers import SECOND, START, row, sealed

HOUR = 3600
BEGIN = START // (4 * HOUR * SECOND) * 4 * HOUR * SECOND
LENGTH = 40 * HOUR
SILENT = (8 * HOUR, 16 * HOUR)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """40 h of two targets at 0.1 Hz; 8 h of /work missing, its creates 6x slower for 3 h at the end."""
    root = tmp_path_factory.mktemp("sheets")
    rng = np.random.default_rng(5)
    slow = [Trouble("md_create", 36 * HOUR, 39 * HOUR, 6.0)]
    made(root, rng, BEGIN, LENGTH, slow, period_s=10, silent=[SILENT], failed=0.002)
    made(root, rng, BEGIN, LENGTH, period_s=10, target="/home", sigma=0.6)
    made(root, rng, BEGIN, HOUR, period_s=10, host="login3", ops=OPS[:2])
    return Store(root)


def asked(kind, since=0, until=LENGTH, **changes):
    span = {"since_ns": BEGIN + int(since * SECOND), "until_ns": BEGIN + int(until * SECOND)}
    query = SlowdownQuery(
        host=changes.pop("host", "login2"), **span, window_ns=4 * HOUR * SECOND, statistic="median"
    )
    inner = {
        name: changes.pop(name)
        for name in ("target", "window_ns", "statistic", "ops")
        if name in changes
    }
    return FigureRequest(kind, replace(query, **inner), **changes)


def pane(sheet, row, column):
    (one,) = [p for p in sheet.panes if (p.row, p.column) == (row, column)]
    return one


def marks(one, kind):
    return [mark for mark in one.marks if isinstance(mark, kind)]


def latencies(store, question, op, target="/work", host="login2"):
    query = question.query
    got = store.samples(
        ("due_ns", "service_ns", "outcome"),
        target=target,
        host=host,
        ops=(op,),
        since_ns=query.since_ns,
        until_ns=query.until_ns,
    )
    return got["due_ns"], got["service_ns"], got["outcome"] == "ok"


def nearest(values, q):
    return np.sort(values)[int(np.ceil(q * len(values))) - 1]


@pytest.mark.parametrize("many", [False, True])
def test_every_operation_of_every_series_is_drawn_or_counted(store, monkeypatch, many):
    if many:
        monkeypatch.setattr(scatter_module, "MANY_IN_ALL", 100)
    question = asked("points", 0, 2 * HOUR, host=None)
    sheet = sheet_of(store, question)
    assert [p.row for p in sheet.panes if p.column == "/work from login2"] == list(
        OP_WORDS.values()
    )
    assert sheet.columns == ("/home from login2", "/work from login2", "/work from login3")
    span = {"since_ns": question.query.since_ns, "until_ns": question.query.until_ns}
    assert sum(p.n for p in sheet.panes) == store.count(**span) == 10_800 - 1440
    for one in sheet.panes:
        (points,) = marks(one, Points)
        counted = sum(int(cells.counts.sum()) for cells in marks(one, Cells))
        assert counted + len(points) == one.n
        assert bool(marks(one, Cells)) == many
    assert ("counted on a grid, none left out" in sheet.caption[0]) == many
    assert "9,360 operations" in sheet.caption[0] or not many


@pytest.mark.parametrize("many", [False, True])
def test_what_did_not_end_well_is_there_and_what_was_shed_is_not(tmp_path, monkeypatch, many):
    if many:
        monkeypatch.setattr(scatter_module, "MANY_IN_ALL", 1)
    odd = {"began_ns": None, "outcome": "skipped"}, {"outcome": "EIO"}
    rows = [row(BEGIN + i * SECOND, 40_000) for i in range(5)]
    rows += [row(BEGIN + (5 + i) * SECOND, 90_000, **more) for i, more in enumerate(odd)]
    rows += [
        row(BEGIN + 8 * SECOND, None),
        row(BEGIN + 9 * SECOND, None, began_ns=None, outcome="shed"),
    ]
    sealed(tmp_path, "r-0", rows, BEGIN)
    sheet = sheet_of(Store(tmp_path), asked("points", 0, 60))
    (one,) = sheet.panes
    (points,) = marks(one, Points)
    assert one.n == 8
    assert sorted(points.kind) == ["failed", *(["ok"] * 5 if not many else []), "skipped"]
    assert "; 1 had not ended and have no height" in sheet.caption[0]
    assert sheet.caption[0].startswith("7 operations")


def test_coarser_cells_hold_the_same_operations():
    counts = np.arange(35).reshape(5, 7)
    cells = Cells(np.arange(8.0), 10.0 ** np.arange(6), counts)
    for most in (1, 2, 3, 6, 7, 100):
        coarse = cells.coarser(most)
        assert coarse.counts.shape[1] <= most
        assert (coarse.counts.sum(axis=1) == counts.sum(axis=1)).all()
        assert (coarse.time_edges_s[0], coarse.time_edges_s[-1]) == (0.0, 7.0)
        assert len(coarse.time_edges_s) == coarse.counts.shape[1] + 1


@pytest.mark.parametrize("many", [boxes_module.MANY, 3])
def test_boxes_of_hosts_are_nearest_ranks_and_hide_nothing(store, monkeypatch, many):
    monkeypatch.setattr(boxes_module, "MANY", many)
    question = asked("hosts", 0, HOUR, host=None)
    sheet = sheet_of(store, question)
    one = pane(sheet, "reads", "/work")
    (bars,) = marks(one, Bars)
    assert bars.categories == ("login2", "login3")
    for place, host in enumerate(bars.categories):
        _, service, ok = latencies(store, question, "data_read", host=host)
        values = service[ok] / 1e9
        for name, q in (("q25", 0.25), ("q50", 0.5), ("q75", 0.75)):
            assert getattr(bars, name)[place] == nearest(values, q)
        reach = (bars.q75[place] / bars.q25[place]) ** 1.5
        inside = (values >= bars.q25[place] / reach) & (values <= bars.q75[place] * reach)
        assert bars.low[place] == values[inside].min()
        assert bars.high[place] == values[inside].max()
        mine = bars.outlier_category == place
        assert bars.outlier_n[mine].sum() == np.count_nonzero(~inside)
        if many > 3:
            assert np.array_equal(bars.outlier_value[mine], np.sort(values[~inside]))
        assert bars.n[place] == len(values)
    lost = sum(
        np.count_nonzero(~latencies(store, question, "data_read", host=h)[2])
        for h in bars.categories
    )
    assert f"{lost} not ok" in one.note or not lost
    assert ("counted on a grid" in sheet.caption[1]) == (many == 3)
    assert [p.row for p in sheet.panes if p.column == "/home"] == list(OP_WORDS.values())


def test_too_few_operations_are_dots_not_boxes(store):
    sheet = sheet_of(store, asked("hosts", 0, 40, target="/home"))
    (bars,) = marks(pane(sheet, "stats", "/home"), Bars)
    assert np.isnan(bars.q50).all()
    assert len(bars.outlier_value) == bars.n[0] == 4


def test_phases_are_compared_with_what_was_usual_before_them(store):
    since, until = 35 * HOUR, 39.5 * HOUR
    phase = Phase("creates", BEGIN + 36 * HOUR * SECOND, BEGIN + 39 * HOUR * SECOND)
    question = asked(
        "phases",
        since,
        until,
        target="/work",
        window_ns=600 * SECOND,
        statistic="mean",
        phases=(phase,),
    )
    sheet = sheet_of(store, question)
    assert sheet.columns == ("latency", "slowdown, mean of 10 min")
    latency, mean = (pane(sheet, "creates", column) for column in sheet.columns)
    (points,), (steps,) = marks(latency, Points), marks(mean, StepMarks)
    times = question.query.since_ns, question.query.until_ns
    (one,) = [o for k, o in phased(store, question.query, *times).items() if k.op == "md_create"]
    expected_s = one.expected_ns / 1e9
    assert expected_s == pytest.approx(1e-3, rel=0.1)
    due, service, ok = latencies(store, question, "md_create")
    assert np.array_equal(np.sort(points.value[points.kind == "ok"]), np.sort(service[ok] / 1e9))
    place = (37 - 35) * 6
    inside = ok & (due >= steps.start_s[place] * 1e9) & (due < steps.end_s[place] * 1e9)
    assert steps.value[place] == pytest.approx(service[inside].mean() / 1e9 / expected_s)
    assert 5.5 < steps.value[place] < 7.5
    assert {mark.name for p in sheet.panes for mark in marks(p, Shade)} == {"creates"}
    assert latency.n == len(points)


def test_without_a_baseline_nothing_is_compared(store):
    question = asked("phases", 0, 240, target="/work", window_ns=60 * SECOND)
    sheet = sheet_of(store, question)
    compared = [p for p in sheet.panes if p.column != "latency"]
    assert all(p.n == 0 and not marks(p, Points) and not marks(p, StepMarks) for p in compared)
    median = sheet_of(store, replace(question, expected="median"))
    (steps,) = marks(pane(median, "stats", median.columns[1]), StepMarks)
    assert np.nanmedian(steps.value) == pytest.approx(1.0, rel=0.2)


def test_statistics_of_intervals_as_boxes_and_as_lines(store):
    boxes = sheet_of(store, asked("statistics"))
    lines = sheet_of(store, asked("timeline"))
    (bars,) = marks(pane(boxes, "creates", "/work"), Bars)
    steps = {mark.role: mark for mark in marks(pane(lines, "creates", "/work"), StepMarks)}
    assert bars.categories == tuple(steps) == OF_WINDOW
    due, service, ok = latencies(store, asked("timeline"), "md_create")
    four = due // (4 * HOUR * SECOND)
    place = 9
    values = service[ok & (four == four.min() + place)] / 1e9
    assert steps["mean"].value[place] == pytest.approx(values.mean())
    assert steps["max"].value[place] == values.max()
    for name, q in (
        ("q25", 0.25),
        ("median", 0.5),
        ("q75", 0.75),
        ("q90", 0.9),
        ("q95", 0.95),
        ("q99", 0.99),
    ):
        assert steps[name].value[place] == nearest(values, q)
        known = steps[name].value[~np.isnan(steps[name].value)]
        row = bars.categories.index(name)
        assert bars.n[row] == len(known) == 8
        assert bars.q50[row] == pytest.approx(nearest(known, 0.5))
        assert bars.q25[row] == pytest.approx(nearest(known, 0.25))


def test_missing_intervals_are_missing(store):
    sheet = sheet_of(store, asked("timeline"))
    for target, missing in (("/work", [2, 3]), ("/home", [])):
        one = pane(sheet, "stats", target)
        for mark in marks(one, StepMarks):
            assert len(mark.value) == 10
            assert np.flatnonzero(np.isnan(mark.value)).tolist() == missing
        assert ("2 intervals missing" in one.note) == bool(missing)


def test_slowdown_at_two_scales_with_the_slow_time_shaded(store):
    sheet = sheet_of(store, asked("slowdown", target="/work"))
    assert sheet.columns == ("windows of 10 min", "windows of 4 h")
    short, long = (pane(sheet, "creates", column) for column in sheet.columns)
    (fine,) = marks(short, StepMarks)
    (shade,) = marks(short, Shade)
    begin = BEGIN / 1e9 + 36 * HOUR
    assert shade.start_s == pytest.approx(begin, abs=60)
    slow = fine.value[(fine.start_s >= begin) & (fine.end_s <= begin + 3 * HOUR)]
    assert np.median(slow) == pytest.approx(6.0, rel=0.05)
    assert len(slow) == 18
    gap = (fine.start_s >= BEGIN / 1e9 + SILENT[0]) & (fine.end_s <= BEGIN / 1e9 + SILENT[1])
    assert np.isnan(fine.value[gap]).all()
    assert np.count_nonzero(gap) == 48
    assert (fine.lower[~np.isnan(fine.value)] <= fine.value[~np.isnan(fine.value)]).all()
    (coarse,) = marks(long, StepMarks)
    assert 4.5 < np.nanmax(coarse.value) < 6.5, "slow for three of its four hours"
    assert {pane.row for pane in sheet.panes} == {"creates"}, "what was as usual needs no pane"
    assert "as usual throughout" in sheet.caption[-1]
    assert "stats" in sheet.caption[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_sheet_is_json_and_nothing_is_none(store, kind, tmp_path):
    sheet = sheet_of(store, asked(kind, 30 * HOUR, 32 * HOUR))
    body = json.loads(json.dumps(plain(sheet), allow_nan=False))
    assert body["kind"] == kind
    assert len(body["panes"]) == len(sheet.panes)
    assert {mark["mark"] for p in body["panes"] for mark in p["marks"]} <= {
        *("points", "cells", "steps", "bars", "shade", "level", "curve")
    }
    assert sheet_of(Store(tmp_path), asked(kind)) is None
