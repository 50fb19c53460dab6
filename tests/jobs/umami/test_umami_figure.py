"""The diagram as a figure: data, terminal, picture."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.jobs.umami.diagram import umami
from iosonde.jobs.umami.figure import UmamiFigure, to_json, umami_figure
from iosonde.jobs.umami.quartile import Standing
from iosonde.jobs.umami.render import draw_umami, save_umami
from iosonde.jobs.umami.shown import Shown, gaps, repeats
from iosonde.jobs.umami.style import ANSI, DARK, LIGHT, ink_on, role_colour
from iosonde.jobs.umami.text import umami_text
from iosonde.model.amounts import amount, digits, linear_ticks, scale_of, tick_text
from iosonde.model.errors import UsageError
from iosonde.model.job_metrics import About
from iosonde.model.jobs import JobTable
from tests.kit.jobs.jobs_made import simulated, table

CPU = "mds_cpu_mean_percent"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def figure(jobs: JobTable, job: str, **more) -> UmamiFigure:
    return umami_figure(umami(jobs, job, **more), Shown(runs=None))


def odd() -> JobTable:
    """Gaps, a job without a value, a metric that nothing is known of, a constant one, one that leaps."""
    jobs = simulated()
    gaps = jobs.metrics["cf_bandwidth_ratio"].copy()
    gaps[::4] = np.nan
    silent = jobs.metrics[CPU].copy()
    silent[-1] = np.nan
    metrics = {
        "cf_bandwidth_ratio": gaps,
        CPU: silent,
        "cf_opens_ratio": np.full(30, np.nan),
        "radius_max_hops": np.full(30, 7.0),
        "server_readdirs": np.array([0.0] * 29 + [803.0]),
        "own_bytes": np.full(30, 2.2e12),
    }
    return replace(jobs, metrics=metrics, flags={(29, "own_bytes"): ("estimated",)})


def test_a_row_holds_all_that_is_drawn() -> None:
    found = figure(simulated(), "30")
    row = next(row for row in found.rows if row.metric == CPU)
    assert (row.role, row.sign, row.value_text, row.rank) == (
        "bad",
        "--",
        "11.5%",
        "highest of 30",
    )
    assert row.low < np.nanmin(row.values) <= np.nanmax(row.values) < row.high
    assert row.box is not None
    assert row.low < row.box.low <= row.box.q25 <= row.box.q50 <= row.box.q75 <= row.box.high
    assert found.since_s < found.times_s[0] <= found.times_s[-1] < found.until_s
    assert json.loads(json.dumps(to_json(found), allow_nan=False))["rows"][0]["box"]["q50"]


def test_odd_rows_are_shown_as_what_they_are() -> None:
    found = figure(odd(), "30", metrics=list(odd().metrics))
    rows = {row.metric: row for row in found.rows}
    assert (rows[CPU].value_text, rows[CPU].role, rows[CPU].rank) == ("missing", "missing", "")
    assert rows["cf_opens_ratio"].ticks == ()
    assert rows["cf_opens_ratio"].box is None
    assert rows["radius_max_hops"].tick_texts == ("7",)
    assert rows["radius_max_hops"].rank == "the same in all 30"
    assert rows["radius_max_hops"].role == "ok", "what never changes is neither good nor bad"
    assert rows["own_bytes"].role == "neutral"
    assert any("estimated" in line and "for want" in line for line in found.caption)


@pytest.mark.parametrize(
    ("n", "words"), [(1, "no history"), (2, "1 earlier run of"), (5, "4 earlier")]
)
def test_few_runs_have_no_class_and_no_box(n: int, words: str) -> None:
    found = figure(simulated(), str(n))
    assert words in found.subtitle
    assert {row.role for row in found.rows} == {"too little history"}
    assert all(row.box is None and len(row.outliers) == n - 1 for row in found.rows)
    assert {row.role for row in figure(simulated(), "6").rows} <= {"bad", "poor", "ok", "good"}


def test_a_hostile_label_stays_one_line_of_text() -> None:
    about = {CPU: About("percent", "x" * 300 + "\x1b[31m\n$\\frac{1}{0", "low")}
    found = figure(table({CPU: [1.0] * 7}, abouts=about), "7")
    lines = umami_text(found, 80)
    assert "\x1b" not in "".join(lines)
    assert max(map(len, lines)) <= 80
    draw_umami(found)


@pytest.mark.parametrize("columns", [80, 140, 72])
@pytest.mark.parametrize("job", ["30", "12", "3", "1"])
def test_the_terminal_form_fits_and_says_classes_in_words(columns: int, job: str) -> None:
    found = figure(simulated(), job, history="all" if job == "12" else "earlier")
    lines = umami_text(found, columns)
    assert max(map(len, lines)) <= columns
    for row, line in zip(found.rows, lines[2:], strict=False):
        assert re.search(rf"{re.escape(row.sign)} +{row.role}", line), line
        assert row.value_text in line
    plain = umami_text(found, columns, ascii_only=True)
    assert "".join(plain).isascii()
    coloured = umami_text(found, columns, coloured=True)
    assert [ESCAPE.sub("", line) for line in coloured] == lines
    assert any(f"\x1b[{ANSI[Standing(found.rows[0].role)]}m" in line for line in coloured)


def test_the_terminal_shows_the_latest_of_many_runs_and_says_so() -> None:
    lines = umami_text(figure(simulated(300), "300"), 80)
    assert re.search(r"line: \d+ of 300 runs", lines[1])
    middle = umami_text(figure(simulated(300), "100", history="all"), 80)
    assert all("[" in line for line in middle[2:11]), "the job among later runs stands in brackets"


@pytest.mark.parametrize("form", ["svg", "png"])
def test_equal_data_give_equal_bytes(tmp_path: Path, form: str) -> None:
    found = figure(odd(), "30", metrics=list(odd().metrics))
    paths = [tmp_path / f"{i}.{form}" for i in range(2)]
    for path in paths:
        save_umami(found, path, width_in=6)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("width", [3.0, 5.2, 14.0])
def test_a_picture_has_what_it_should(width: float) -> None:
    found = figure(odd(), "30", metrics=list(odd().metrics))
    canvas = draw_umami(found, width_in=width, dark=width > 6)
    assert len(canvas.axes) == 2 * len(found.rows)
    places = [axes.get_position() for axes in canvas.axes]
    assert places[0].width / places[1].width == pytest.approx(4)
    assert places[0].x1 == pytest.approx(places[1].x0), "no gap"
    if width > 5:
        assert places[0].y0 == pytest.approx(places[2].y1)
    texts = [text.get_text() for text in canvas.texts]
    assert sum("-- bad" in text for text in texts) == 2
    for runs, box in zip(canvas.axes[::2], canvas.axes[1::2], strict=True):
        assert runs.get_ylim() == box.get_ylim()
    for text in canvas.texts:
        extent = text.get_window_extent()
        assert extent.x0 >= -1, text
        assert extent.x1 <= canvas.bbox.x1 + 1, text
    with pytest.raises(UsageError, match="cannot be drawn"):
        draw_umami(found, width_in=1)


def test_a_diagram_without_rows_is_drawn_and_says_why(tmp_path: Path) -> None:
    found = figure(table({"other": [1.0, 2.0]}), "2")
    assert found.rows == ()
    assert "none of the usual metrics" in " ".join(umami_text(found, 80))
    save_umami(found, tmp_path / "x.png")


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def _contrast(one: str, other: str) -> float:
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize(("colours", "ground"), [(LIGHT, "#ffffff"), (DARK, "#11161d")])
def test_colours_can_be_read(colours: dict[Standing, str], ground: str) -> None:
    for role, colour in colours.items():
        assert role_colour(role, dark=colours is DARK) == colour
        assert _contrast(colour, ink_on(colour)) >= 4.5, role
        assert _contrast(colour, ground) >= (2.5 if role is Standing.POOR else 3.0), role


def test_the_page_has_the_same_colours() -> None:
    css = (Path(__file__).parents[3] / "web/styles/jobs/umami.css").read_text()
    for role in (Standing.BAD, Standing.POOR, Standing.OK, Standing.GOOD):
        assert f"--class-{role}: light-dark({LIGHT[role]}, {DARK[role]});" in css


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (14.8 * 2**30, "bytes/s", "14.8 GiB/s"),
        (0.809, "ratio", "0.809"),
        (12.5, "percent", "12.5%"),
        (1_580_000, "operations", "1.58 M"),
        (803, "operations", "803"),
        (7.6, "hops", "7.60 hops"),
        (1, "servers", "1 server"),
        (0.0, "OSTs", "0 OSTs"),
        (90.0, "s", "90 s"),
        (7200.0, "s", "120 min"),
        (0.0021, "s", "2.10 ms"),
        (float("nan"), "percent", "n/a"),
        (1e300, "bytes", "1.00e+300 B"),
    ],
)
def test_amounts_have_a_unit_that_fits(value: float, unit: str, shown: str) -> None:
    assert amount(value, scale_of(unit, [value])) == shown


FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@settings(max_examples=80, deadline=None)
@given(a=FINITE, b=FINITE)
def test_ticks_are_few_inside_and_told_apart(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    ticks = linear_ticks(low, high)
    assert len(ticks) <= 4
    if high - low > 1e-6 * max(abs(low), abs(high)) and high - low > 1e-250:
        assert ticks, (low, high)
        assert all(low <= tick <= high for tick in ticks)
    assert all(tick_text(tick, ticks) for tick in ticks)
    assert digits(a)


@settings(max_examples=25, deadline=None)
@given(
    values=st.lists(
        st.one_of(FINITE, st.just(float("nan")), st.just(1.7e308), st.just(-1.7e308)),
        min_size=1,
        max_size=9,
    )
)
def test_any_values_can_be_shown(values: list[float]) -> None:
    found = figure(table({CPU: values}), str(len(values)), metrics=[CPU])
    json.dumps(to_json(found), allow_nan=False)
    assert max(map(len, umami_text(found, 80))) <= 80


def test_a_long_history_is_drawn_in_part_and_judged_whole() -> None:
    diagram = umami(simulated(300), "300")
    drawn, whole = umami_figure(diagram), umami_figure(diagram, Shown(runs=None))
    assert len(drawn.times_s) == 30
    assert drawn.times_s[drawn.place] == whole.times_s[whole.place] == whole.times_s[-1]
    assert "30 of 300 runs drawn" in drawn.subtitle
    for part, every in zip(drawn.rows, whole.rows, strict=True):
        assert (part.role, part.rank, part.box, part.n) == (
            every.role,
            every.rank,
            every.box,
            every.n,
        )
        assert np.array_equal(part.values, every.values[-30:], equal_nan=True)


@pytest.mark.parametrize("job", ["1", "10", "150", "300"])
def test_the_job_is_among_the_runs_drawn(job: str) -> None:
    diagram = umami(simulated(300), job, history="all")
    drawn = umami_figure(diagram)
    assert len(drawn.times_s) == 30
    assert drawn.times_s[drawn.place] == diagram.times_s[diagram.place]


def test_rows_that_say_the_same_are_drawn_once_and_all_that_are_asked_for() -> None:
    rng = np.random.default_rng(5)
    cf = rng.uniform(0.1, 1.0, 20)
    other = rng.uniform(0, 1, 20)
    rows = {"cf_opens_ratio": cf, "contention_opens_ratio": 1 - cf, CPU: other}
    diagram = umami(table(rows), "20", metrics=list(rows))
    assert [row.metric for row in umami_figure(diagram).rows] == ["cf_opens_ratio", CPU]
    assert len(umami_figure(diagram, Shown(rows=None)).rows) == 3
    assert len(umami_figure(diagram, Shown(rows=1)).rows) == 1


def test_noise_and_missing_values_make_two_rows() -> None:
    values = np.arange(20.0)
    swapped = values.copy()
    swapped[[3, 4]] = swapped[[4, 3]]
    missing = values.copy()
    missing[0] = np.nan
    assert repeats(values, 5 - 2 * values)
    assert not repeats(values, swapped)
    assert not repeats(values, missing)
    assert not repeats(np.zeros(20), np.ones(20)), "constant rows are of different things"


def test_no_line_crosses_weeks_without_a_run() -> None:
    day = 86_400.0
    times = day * np.array([0, 1, 2, 3, 24, 25, 26, 27.0])
    assert gaps(times) == (4,)
    assert gaps(14 * day * np.arange(8.0)) == (), "a run every fortnight is no gap"
    assert gaps(day * np.array([0, 0.1, 0.2, 3.0])) == (), "less than a week"


def test_contention_below_zero_is_drawn_as_none() -> None:
    values = [0.5, 0.6, -26.0, 0.4, 0.7, 0.5, -3.0]
    found = figure(table({"contention_opens_ratio": values}), "7")
    row = found.rows[0]
    assert (row.value, row.value_text) == (0.0, "0")
    assert np.nanmin(row.values) == 0.0
    assert row.low > -0.2
    assert row.box is not None
    assert row.box.low >= 0.0
    assert any("drawn as 0" in line for line in found.caption)


def test_the_picture_has_date_unit_and_sentence() -> None:
    diagram = umami(simulated(), "30")
    found = umami_figure(diagram, sentence="The metadata server was busy with others.")
    assert found.title.startswith("Job 30, 2026-11-09 00:00 UTC: ")
    texts = " ".join(text.get_text() for text in draw_umami(found, width_in=12).texts)
    assert "The metadata server was busy with others." in texts
    assert "(%)" in texts
