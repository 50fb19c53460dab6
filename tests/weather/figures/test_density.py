"""Densities and sparse timelines: what is drawn follows from the samples, and says how."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.drawing.curves import DECADES
from iosonde.drawing.marks import Curve, Level, Points
from iosonde.drawing.render_sheet import draw_sheet
from iosonde.drawing.sheet import plain
from iosonde.model.errors import UsageError
from iosonde.model.frames import SlowdownQuery
from iosonde.stats.density import LEAST, log_density
from iosonde.weather.figures.densities import PER_DECADE, densities
from iosonde.weather.figures.density import MOST_CURVES, density_sheet
from iosonde.weather.figures.request import ABOVE_NS, SPARSE, FigureRequest, runs_named
from iosonde.weather.figures.sheets import sheet_of
from iosonde.weather.samples.periods import RunRef
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.makers import SECOND, START, row, sealed

N = 4000


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two targets and three runs of known log-normals; 40 stats of /work take 0.2 s, 5 creates fail."""
    root = tmp_path_factory.mktemp("density")
    rng = np.random.default_rng(3)
    for place, (run_id, target, middle) in enumerate(
        [("mdw-i0", "/work", 1e6), ("mdw-i1", "/work", 2e6), ("other", "/home", 5e5)]
    ):
        rows = []
        for op, factor in (("md_stat", 0.1), ("md_create", 1.0)):
            took = middle * factor * np.exp(0.5 * rng.normal(size=N))
            if op == "md_stat" and place == 0:
                took[::100] = 2e8
            for i, ns in enumerate(took.astype(np.int64)):
                due = START + (place * N + i) * SECOND // 1000
                more = {"op": op, "run_id": run_id, "target": target, "period_ns": 0}
                bad = op == "md_create" and place == 0 and i < 5
                more |= {"host": f"h{i % 3}"} | ({"outcome": "EIO"} if bad else {})
                rows.append(row(due, int(ns), **more))
        sealed(root, f"d-{place}", rows)
    return Store(root)


def query(**more):
    return SlowdownQuery(since_ns=START, until_ns=START + 60 * SECOND, **more)


def test_a_density_sums_up_to_one_and_has_the_known_shape():
    rng = np.random.default_rng(1)
    values = 10 ** rng.normal(6, 0.25, 20_000)
    level, n = np.unique(
        np.floor(np.log10(values) * PER_DECADE).astype(np.int64), return_counts=True
    )
    found = log_density(level, n, PER_DECADE)
    assert found.density.sum() / PER_DECADE == pytest.approx(1, abs=1e-9)
    assert found.bandwidth == pytest.approx(0.9 * 0.25 * 20_000**-0.2, rel=0.03)
    assert found.median_log10 == pytest.approx(6, abs=0.01)
    wanted = np.exp(-0.5 * ((found.log10 - 6) / 0.25) ** 2) / (0.25 * np.sqrt(2 * np.pi))
    assert np.abs(found.density - wanted).max() < 0.08


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4000), st.integers(1, 500)), min_size=1, max_size=40))
def test_any_counts_have_a_density_or_none(cells):
    counts = dict(cells)
    level = np.array(sorted(counts))
    found = log_density(level, np.array([counts[x] for x in level]), PER_DECADE)
    if sum(counts.values()) < LEAST:
        assert found is None
        return
    assert (found.density >= 0).all()
    assert found.density.sum() / PER_DECADE == pytest.approx(1, abs=2e-4)
    assert level[0] / PER_DECADE <= found.median_log10 <= (level[-1] + 1) / PER_DECADE


def test_targets_pool_hosts_and_runs_stand_apart(store):
    found = {(one.name, one.op): one for one in densities(store, query())}
    assert {name for name, _ in found} == {"/work", "/home"}
    assert found["/work", "md_create"].n == 2 * N - 5
    apart = densities(store, query(runs=("mdw-i0", "mdw-i1")))
    assert [(one.name, one.op, one.n) for one in apart] == [
        *(("mdw-i0", "md_create", N - 5), ("mdw-i0", "md_stat", N)),
        *(("mdw-i1", "md_create", N), ("mdw-i1", "md_stat", N)),
    ]
    assert 10 ** apart[2].density.median_log10 == pytest.approx(2e6, rel=0.05)


def test_the_sheet_has_a_curve_a_name_and_says_its_bandwidth(store):
    sheet = sheet_of(store, FigureRequest("density", query()))
    assert [pane.row for pane in sheet.panes] == ["creates", "stats"]
    assert [mark.name for mark in sheet.panes[0].marks] == ["/home", "/work"]
    assert all(isinstance(mark, Curve) for pane in sheet.panes for mark in pane.marks)
    assert "0.9 min(s, IQR/1.34) n^(-1/5)" in sheet.caption[1]
    assert "n = 4,000, 7,995" in sheet.panes[0].note
    json.dumps(plain(sheet), allow_nan=False)
    few = densities(store, query(runs=("other",)))
    many = [replace(few[0], name=f"run {i}", n=few[0].n + i) for i in range(MOST_CURVES + 3)]
    sheet = density_sheet(many)
    assert len(sheet.panes[0].marks) == MOST_CURVES
    assert sheet.caption[-1] == "3 curves with fewer operations are not drawn"
    empty = density_sheet([replace(few[0], n=3, density=None)])
    assert "1 of them below 20" in empty.panes[0].note
    draw_sheet(empty, width_in=6)
    assert density_sheet([]) is None


@pytest.mark.parametrize("width", [3, 6, 14])
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_drawn_with_logarithmic_heights(store, width, dark):
    sheet = sheet_of(store, FigureRequest("density", query()))
    figure = draw_sheet(sheet, width_in=width, dark=dark)
    assert len(figure.axes) == 2
    for axes, pane in zip(figure.axes, sheet.panes, strict=True):
        low, high = axes.get_ylim()
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        highest = max(mark.density.max() for mark in pane.marks)
        assert high > highest
        assert low == pytest.approx(highest / 10**DECADES)
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["/home", "/work"]
    colours = {line.get_color() for line in figure.axes[0].lines[:2]}
    assert len(colours) == 2


def test_sparse_points_keep_every_slow_one_and_every_failure(store):
    asked = FigureRequest("points", query(runs=("mdw-i0",)), sparse=500)
    sheet = sheet_of(store, asked)
    panes = {pane.row: pane for pane in sheet.panes}
    assert list(panes) == ["creates", "stats"]
    limit, points = panes["stats"].marks
    assert isinstance(limit, Level)
    assert isinstance(points, Points)
    assert np.count_nonzero(points.value > 0.1) == 40
    assert 380 < np.count_nonzero(points.value <= 0.1) < 620
    assert list(panes["creates"].marks[1].kind).count("failed") == 5
    assert f"all {40} above 100 ms" in sheet.caption[0]
    assert "seed 1" in sheet.caption[0]
    again = sheet_of(store, asked)
    assert (again.panes[1].marks[1].time_s == points.time_s).all()
    draw_sheet(sheet, width_in=6)
    alone = sheet_of(store, replace(asked, sparse=0))
    assert [len(pane.marks[1]) for pane in alone.panes] == [5, 40]


def test_a_sparse_part_is_spread_like_the_whole(store):
    """The lot depends neither on the time nor on the latency."""
    sheet = sheet_of(store, FigureRequest("points", query(runs=("mdw-i1",)), sparse=1000))
    (creates,) = [pane.marks[1] for pane in sheet.panes if pane.row == "creates"]
    middle = (START / 1e9) + 1.5 * N / 1000
    assert abs(np.mean(creates.time_s < middle) - 0.5) < 0.06
    assert np.median(creates.value) == pytest.approx(2e-3, rel=0.08)


REFS = [RunRef(name, "h", "/t", 10, 20, 5) for name in ("mdw-i0", "mdw-i1", "mdwx", "4f2c91aa")]


def test_runs_by_name_by_beginning_and_unknown():
    assert runs_named(["mdw"], REFS).run_ids == ("mdw-i0", "mdw-i1")
    assert runs_named(["mdwx", "4f2c"], REFS) == (("mdwx", "4f2c91aa"), 10, 21)
    with pytest.raises(UsageError, match="no run with samples is called 'zzz'"):
        runs_named(["zzz"], REFS)


def test_the_command(store, tmp_path, capsys, utc, now):
    out = tmp_path / "f.json"
    assert run("figure", "density", "--run", "mdw", "-o", str(out), store=store.root) == 0
    panes = json.loads(out.read_text())["panes"]
    assert [mark["name"] for mark in panes[0]["marks"]] == ["mdw-i0", "mdw-i1"]
    picture = tmp_path / "f.png"
    assert (
        run("figure", "points", "--run", "mdw-i0", "--sparse", "-o", str(picture), store=store.root)
        == 0
    )
    assert picture.stat().st_size > 10_000
    assert (
        run(
            "figure",
            "points",
            "--above",
            "150ms",
            "-o",
            str(out),
            "--since",
            "@1790000000",
            store=store.root,
        )
        == 1
    )
    until = ("--since", f"@{START // SECOND}", "--until", f"@{START // SECOND + 60}")
    assert (
        run("figure", "points", "--above", "150ms", "-o", str(out), *until, store=store.root) == 0
    )
    assert "above 150 ms" in capsys.readouterr().err
    assert run("figure", "bursts", "--run", "mdw-i0", "-o", str(out), store=store.root) == 0
    for wrong in (
        ["timeline", "--run", "mdw"],
        ["density", "--sparse"],
        ["points", "--sparse", "-3"],
    ):
        assert run("figure", *wrong, store=store.root) == 2


def test_the_page_says_what_the_code_does():
    page = " ".join((Path(__file__).parents[3] / "docs" / "figures.md").read_text().split())
    assert f"about {SPARSE} of an op" in page
    assert f"every one above {ABOVE_NS / 1e9:g} s" in page
    assert f"cells of 1/{PER_DECADE} of a decade" in page
    assert f"Fewer than {LEAST} operations" in page
    assert MOST_CURVES == 8
    assert "than eight curves" in page
