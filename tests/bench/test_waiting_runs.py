"""From rows of an adaptive run to sentences and a picture."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from iosonde.bench.adaptive.adaptive import adaptive
from iosonde.bench.adaptive.rates import LEVELS
from iosonde.bench.adaptive.sheet import CLIENTS, FIT, MEAN, MOST_DOTS, SERVERS, waiting_sheet
from iosonde.bench.adaptive.verdict import RateTrend
from iosonde.bench.adaptive.words import say_waiting, verdict_line, waiting_json
from iosonde.drawing.canvas import encoded
from iosonde.drawing.marks import Dots, LevelLine
from iosonde.drawing.render_sheet import draw_sheet
from iosonde.drawing.sheet import plain
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.runs import RunRow
from iosonde.model.units import format_waiting_factor
from iosonde.queue.closed_network import Network
from tests.bench.test_waiting import DIPS

T = np.array(LEVELS)
SERVERS_LIMIT = Network(100, 1 / 5_640, 68 / 5_640 - 1 / 5_640)
CLIENTS_LIMIT = Network(20, 1e-4, 0.03)


def rows(per_s, ranks, measurements=5, noise=0.02, seed=1, each=True, **more):
    """Rows of all ranks and of each, for rates (levels,) of all clients together."""
    random, made = np.random.default_rng(seed), []
    for measurement in range(measurements):
        for factor, mean in zip(T.tolist(), per_s, strict=True):
            rate = float(mean * np.exp(noise * random.standard_normal()))
            op_ns = round(1_000 * ranks / rate * 1e9)
            whole = RunRow(
                run_id="r1",
                source="iosonde",
                host="login2",
                target="/work",
                backend="posix",
                pattern="cycle",
                phase="benchmark",
                waiting_factor=factor,
                measurement=measurement,
                ranks=ranks,
                ops=1_000 * ranks,
                failed=0,
                corrected_per_s=rate,
                op_time_ns=op_ns,
                wait_time_ns=round(op_ns * factor),
            )
            made += [replace(whole, **more), replace(whole, op="md_stat", corrected_per_s=1e9)]
            if each:
                share = rate / ranks * (1 + 0.2 * np.linspace(-1, 1, ranks))
                made += [
                    replace(
                        whole,
                        rank=rank,
                        ops=1_000,
                        corrected_per_s=float(own),
                        op_time_ns=op_ns // ranks,
                        wait_time_ns=round(op_ns * factor) // ranks,
                    )
                    for rank, own in enumerate(share)
                ]
    return made


@pytest.fixture(scope="module")
def busy_servers():
    return rows(SERVERS_LIMIT.corrected_per_s(T), 100)


def test_servers_are_the_limit(busy_servers):
    found = adaptive(busy_servers)
    assert found.verdict.trend is RateTrend.INCREASES
    first, *rest = say_waiting(found)
    assert first.startswith("servers are the limit: 5,6")
    assert "clients saturate them" in first
    assert len(first.split()) <= 25
    assert any("68 clients (6" in line or "67 clients (6" in line for line in rest)
    assert any(line.startswith("elasticity 0.") for line in rest)
    assert found.capacity.max_per_s.value == pytest.approx(5_640, rel=0.03)
    assert found.capacity.unloaded_s.value == pytest.approx(SERVERS_LIMIT.unloaded_s, rel=0.05)


def test_clients_are_the_limit_with_bounds_instead_of_numbers():
    found = adaptive(rows(CLIENTS_LIMIT.corrected_per_s(T), 20))
    assert found.verdict.trend is RateTrend.SIMILAR
    told = " / ".join(say_waiting(found))
    assert told.startswith(
        "clients are the limit: operations take as long with waits as without (x"
    )
    assert "capacity: at least 6" in told
    assert "more than 20 clients" in told
    assert waiting_json(found)["max_per_s"]["value"] is None


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (
            {"cpu_queue_share": 0.3, "cpu_pressure": 0.9},
            "its ranks waited for a CPU 30% of the time",
        ),
        ({"cpu_share": 0.97}, "its ranks used 97% of its CPUs"),
        ({"cpu_pressure": 0.8}, "tasks waited for its CPUs 80% of the time (PSI)"),
        ({"host_cpu_share": 0.95}, "95% of its CPUs were busy"),
    ],
)
def test_a_pressed_client_is_the_limit_whatever_the_rates_say(machine, said):
    for shape, ranks in ((SERVERS_LIMIT.corrected_per_s(T), 100), (7_191 * np.exp(DIPS), 10)):
        found = adaptive(rows(shape, ranks, each=False, machine=machine))
        assert (
            verdict_line(found)
            == f"this client is the limit: {said}; nothing follows for the servers"
        )
        assert found.capacity is None
        assert waiting_json(found)["client_limited"]


def test_a_client_that_computes_through_its_operations_is_the_limit():
    made = rows(SERVERS_LIMIT.corrected_per_s(T), 100, each=False)
    busy = [replace(row, cpu_time_ns=round(0.9 * row.op_time_ns)) for row in made]
    assert "90% of an operation is computing on this host" in verdict_line(adaptive(busy))
    idle = [replace(row, cpu_time_ns=round(0.1 * row.op_time_ns)) for row in made]
    assert verdict_line(adaptive(idle)).startswith("servers are the limit")


def test_a_pressed_host_whose_ranks_did_not_wait_changes_nothing():
    """Other work on the host, but the ranks slept in their operations and came back at once."""
    machine = {"cpu_queue_share": 0.02, "cpu_pressure": 0.9, "host_cpu_share": 1.0}
    found = adaptive(rows(SERVERS_LIMIT.corrected_per_s(T), 100, each=False, machine=machine))
    first, *rest = say_waiting(found)
    assert first.startswith("servers are the limit")
    assert any("some task waited (PSI) 90%" in line for line in rest)
    no_psi = adaptive(
        rows(SERVERS_LIMIT.corrected_per_s(T), 100, each=False, machine={"cpu_queue_share": 0.02})
    )
    assert any("this kernel has no PSI" in line for line in say_waiting(no_psi))


def test_waits_that_do_not_relieve_the_client_are_said():
    quiet = rows(CLIENTS_LIMIT.corrected_per_s(T), 20, machine={"cpu_share": 0.5})
    assert not any("CPU" in line for line in say_waiting(adaptive(quiet)))
    spinning = adaptive([replace(row, machine={"cpu_share": 0.97}) for row in quiet])
    assert any(line.startswith("even where they wait longest") for line in say_waiting(spinning))


def test_background_work_has_no_capacity():
    found = adaptive(rows(7_191 * np.exp(DIPS), 10))
    assert found.verdict.trend is RateTrend.DECREASES
    assert found.capacity is None
    first = verdict_line(found)
    assert first.startswith(
        "background work is the limit: the servers slow down when clients leave"
    )
    assert "the rate at T = 1/4; x0.8" in first
    assert not any("saturate" in line for line in say_waiting(found))


def test_not_enough_is_said_with_what_it_would_take():
    few = verdict_line(adaptive(rows(SERVERS_LIMIT.corrected_per_s(T), 100, measurements=1)))
    assert "after 1 measurement; it takes at least 5; so far it looks as if servers are" in few
    noisy = [
        verdict_line(adaptive(rows(CLIENTS_LIMIT.corrected_per_s(T), 20, noise=0.09, seed=seed)))
        for seed in range(12)
    ]
    open_ones = [line for line in noisy if line.startswith("not decided: x")]
    assert any("more measurement" in line and "would probably decide" in line for line in open_ones)


def test_waits_that_were_not_those_asked_for_are_said():
    coarse = [
        replace(row, wait_time_ns=row.wait_time_ns * 3)
        for row in rows(CLIENTS_LIMIT.corrected_per_s(T), 20)
    ]
    told = [line for line in say_waiting(adaptive(coarse)) if "times as long as operations" in line]
    assert told[0].startswith("at T = 1/16 clients waited 0.19 times")
    assert len(told) == 7


def test_rates_that_waits_cannot_explain_give_no_capacity():
    found = adaptive(rows(1_000 * (1 + T) ** 1.3, 10))
    assert found.capacity is None
    assert any("the most that waits can explain" in line for line in say_waiting(found))


def test_failed_operations_are_said():
    some = [
        replace(row, failed=row.ops // 20) for row in rows(CLIENTS_LIMIT.corrected_per_s(T), 20)
    ]
    assert "5.0% of the operations failed" in say_waiting(adaptive(some))


def test_rows_of_ranks_are_added_up_where_no_total_is(busy_servers):
    parts = [row for row in busy_servers if row.rank is not None]
    whole, summed = adaptive(busy_servers), adaptive(parts)
    assert summed.rates.corrected_per_s == pytest.approx(whole.rates.corrected_per_s)
    assert summed.rates.measured == pytest.approx(whole.rates.measured, rel=1e-6)
    # a rank that died in one measurement leaves that measurement out
    less = [r for r in parts if (r.waiting_factor, r.measurement, r.rank) != (4.0, 2, 7)]
    assert np.isnan(adaptive(less).rates.corrected_per_s[2, -1])
    assert adaptive(less).rates.measurements == 4


def test_what_cannot_be_judged(busy_servers):
    with pytest.raises(NothingMeasuredError, match="with and without waits"):
        adaptive([row for row in busy_servers if row.waiting_factor == 0])
    with pytest.raises(NothingMeasuredError):
        adaptive([])
    with pytest.raises(NothingMeasuredError, match="clients did not wait"):
        adaptive([replace(row, wait_time_ns=0) for row in busy_servers])
    with pytest.raises(UsageError, match="one run, not of 2"):
        adaptive([*busy_servers, replace(busy_servers[0], run_id="r2")])


def test_json_is_json(busy_servers):
    body = json.loads(json.dumps(waiting_json(adaptive(busy_servers)), allow_nan=False))
    assert body["verdict"] == "increases"
    assert body["saturating_clients"]["lower"] < 68 < body["saturating_clients"]["upper"]


def test_waiting_factors_in_words():
    words = [format_waiting_factor(level) for level in (*LEVELS, 0.3, 2.5)]
    assert words == ["0", "1/16", "1/8", "1/4", "1/2", "1", "2", "4", "0.3", "2.5"]


def test_the_picture_has_every_process_the_fit_and_its_bounds(busy_servers):
    found = adaptive(busy_servers)
    sheet = waiting_sheet([(busy_servers, found)], ["said"])
    (pane,) = sheet.panes
    assert sheet.levels == ("0", "1/16", "1/8", "1/4", "1/2", "1", "2", "4")
    dots, *curves = pane.marks
    assert isinstance(dots, Dots)
    assert len(dots.value) == 100 * 5 * 8 <= MOST_DOTS
    assert np.abs(dots.place - np.round(dots.place)).max() < 0.4
    named = {curve.name: curve for curve in curves if isinstance(curve, LevelLine)}
    assert list(named) == [MEAN, FIT, SERVERS, CLIENTS]
    assert named[MEAN].value == pytest.approx(SERVERS_LIMIT.corrected_per_s(T), rel=0.03)
    assert (named[MEAN].lower < named[MEAN].value).all()
    assert (named[FIT].value <= named[CLIENTS].value * 1.001).all()
    bound = named[SERVERS].value
    assert (named[FIT].value[: len(bound)] <= bound * 1.001).all()
    assert bound[-1] <= 1.1 * np.nanmax(found.rates.corrected_per_s)
    body = plain(sheet)
    assert body == json.loads(json.dumps(body, allow_nan=False))
    assert [mark["mark"] for mark in body["panes"][0]["marks"]] == ["dots", *["levelline"] * 4]


@pytest.mark.parametrize(("dark", "width"), [(False, 12.0), (True, 3.4)])
def test_light_and_dark_wide_and_narrow(busy_servers, dark, width):
    idle = rows(7_191 * np.exp(DIPS), 10)
    sheet = waiting_sheet([(made, adaptive(made)) for made in (busy_servers, idle)])
    canvas = draw_sheet(sheet, width_in=width, dark=dark)
    left, right = canvas.axes
    for axes in (left, right):
        assert axes.get_yscale() == "log"
        assert [label.get_text() for label in axes.get_xticklabels()] == list(sheet.levels)
        assert axes.get_xlabel() == "waiting factor T"
    assert len(left.lines) == 4
    assert len(right.lines) == 1
    low, high = right.get_ylim()
    assert low < 4_660
    assert high > 7_190
    words = [text.get_text() for text in canvas.legends[0].get_texts()]
    assert set(words) == {"one process in one measurement", MEAN, FIT, SERVERS, CLIENTS}
    assert encoded(canvas, "png").startswith(b"\x89PNG")
    renderer = FigureCanvasAgg(canvas).get_renderer()
    boxes = [label.get_window_extent(renderer) for label in left.get_xticklabels()]
    assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))


def test_rows_without_single_processes_still_have_a_picture():
    made = rows(CLIENTS_LIMIT.corrected_per_s(T), 20, each=False)
    less = [row for row in made if (row.waiting_factor, row.measurement) != (2.0, 1)]
    canvas = draw_sheet(waiting_sheet([(less, adaptive(less))]))
    assert len(canvas.axes[0].lines) == 2
    words = [text.get_text() for text in canvas.legends[0].get_texts()]
    assert words == [MEAN, CLIENTS]


def test_many_processes_are_thinned_out_evenly():
    crowd = rows(np.full(len(T), 90_000.0), 900, measurements=2)
    sheet = waiting_sheet([(crowd, adaptive(crowd))])
    (pane,) = sheet.panes
    assert 0.6 * MOST_DOTS < len(pane.marks[0].value) <= MOST_DOTS
    assert "of 14,400 drawn" in pane.note
    with pytest.raises(ValueError, match="no run"):
        waiting_sheet([])
