"""A view of a load says what attribution says of the same time, at any level of detail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from iosonde.jobs.attribution.loads import loads
from iosonde.jobs.attribution.shares import shares
from iosonde.jobs.load.at import JobLoads, jobs_at
from iosonde.jobs.load.history import LoadHistory, gathered, node_groups
from iosonde.jobs.load.view import Asked, load_view
from iosonde.jobs.load.words import say
from tests.kit.jobs import load_made
from tests.kit.jobs.load_made import HOG, HOG_JOB, HOG_NS, HOG_PER_S
from tests.kit.samples.stores import HOUR, SECOND

JOINED = load_made.made()
GRID = JOINED.recorded.grid


@pytest.fixture(scope="module")
def history() -> LoadHistory:
    return gathered([JOINED])


def whole(column: str, **more: object) -> Asked:
    return Asked(column, GRID.begin_ns, GRID.end_ns, 1024, 200)._replace(**more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("column", "by"), [("user", "user"), ("account", "account"), ("job", "job_id")]
)
def test_operations_are_those_of_shares(history: LoadHistory, column: str, by: str) -> None:
    view = load_view(history, whole(column))
    truth = {one.who: one.ops for one in shares(JOINED, by=by).ranked}  # type: ignore[arg-type]
    assert [part.ops for part in view.parts] == sorted(
        (part.ops for part in view.parts), reverse=True
    )
    for part in view.parts:
        assert part.ops == pytest.approx(truth[part.name], rel=1e-3, abs=10.0)
    assert view.ops == pytest.approx(float(JOINED.recorded.ops.sum(dtype=np.float64)), rel=1e-6)


def test_cells_are_those_of_loads(history: LoadHistory) -> None:
    begin = GRID.begin_ns + 6 * HOUR
    truth = loads(JOINED, begin, begin + 6 * HOUR, GRID.step_ns, "user")
    view = load_view(history, whole("user", begin_ns=begin, end_ns=begin + 6 * HOUR))
    assert (view.axis.begin_ns, view.axis.step_ns, view.axis.cells) == (begin, 30 * SECOND, 720)
    for row, part in enumerate(view.parts):
        # Slots of 30 s alone keep the noise of the background that runs as a whole do not have.
        of = truth.ops[truth.names.index(part.name)] / 30
        here = view.of.ops[row]
        assert here.sum() <= of.sum() * 1.001
        if part.ops > 0.01 * view.ops:
            assert np.corrcoef(here, of)[0, 1] > 0.99


@pytest.mark.parametrize("cells", [1, 7, 100, 700, 4096])
@pytest.mark.parametrize("column", ["user", "nodes"])
def test_fewer_cells_lose_no_operation_and_no_peak(
    history: LoadHistory, column: str, cells: int
) -> None:
    view = load_view(history, whole(column, cells=cells))
    fine = load_view(history, whole(column, cells=10**6))
    assert view.axis.cells <= cells
    assert view.axis.step_ns % GRID.step_ns == 0
    names = [part.name for part in view.parts]
    assert sorted(names) == sorted(part.name for part in fine.parts)
    for row, part in enumerate(fine.parts):
        here = names.index(part.name)
        most = view.of.most[here].max()
        assert most == pytest.approx(fine.of.most[row].max(), rel=1e-5)
        assert view.parts[here].ops == pytest.approx(part.ops, rel=1e-4)
    assert view.total.most.max() == pytest.approx(fine.total.most.max())
    assert view.rates.seconds.sum() == pytest.approx(GRID.cells * 30)


def test_the_band_names_who_made_more_than_half_then(history: LoadHistory) -> None:
    view = load_view(history, whole("user", band=(HOG_PER_S, 5 * HOG_PER_S)))
    band = view.band
    assert band is not None
    assert (band.seconds, band.half, band.ranked[0].name) == (3600.0, 1, HOG)
    assert view.inside.sum() * view.axis.step_ns / 1e9 == pytest.approx(3600)
    assert say(view) == (
        "The total was within 20,000 to 100,000 operations/s in 2.1% of the time; "
        "user u59 made more than 99% of the operations then."
    )
    low = load_view(history, whole("user", band=(0.0, HOG_PER_S)))
    assert low.band is not None
    assert low.band.seconds + band.seconds == GRID.cells * 30
    assert HOG not in [part.name for part in low.band.ranked if part.ops > 1]
    never = load_view(history, whole("user", band=(1e9, 2e9)))
    assert say(never) == "The total was never within 1,000,000,000 to 2,000,000,000 operations/s."


def test_a_margin_has_cells_and_no_say(history: LoadHistory) -> None:
    begin = HOG_NS[1] + HOUR
    bare = load_view(history, whole("user", begin_ns=begin, end_ns=GRID.end_ns))
    wide = load_view(history, whole("user", begin_ns=begin, end_ns=GRID.end_ns, margin=2.0))
    assert [part.name for part in wide.parts] == [part.name for part in bare.parts]
    assert (wide.ops, wide.rates.seconds.sum()) == (bare.ops, bare.rates.seconds.sum())
    assert wide.axis.begin_ns < HOG_NS[1] < bare.axis.begin_ns
    assert wide.total.most.max() > HOG_PER_S > bare.total.most.max()


def test_jobs_behind_a_place(history: LoadHistory) -> None:
    found = jobs_at(history, "user", HOG, HOG_NS, 5)
    largest = found.jobs[0]
    assert (largest.job_id, largest.nodes, largest.name) == (HOG_JOB, 2, "hog")
    assert largest.mean_per_s == pytest.approx(2 * HOG_PER_S, rel=1e-3)
    assert jobs_at(history, "user", "nobody", HOG_NS, 5) == JobLoads(0, ())
    assert jobs_at(history, "user", HOG, (0, SECOND), 5).jobs == ()


def test_times_read_one_after_the_other_are_one(history: LoadHistory) -> None:
    middle = GRID.begin_ns + 2000 * GRID.step_ns
    parts = [
        replace(JOINED, recorded=JOINED.recorded.between(begin, end))
        for begin, end in ((GRID.begin_ns, middle), (middle, GRID.end_ns))
    ]
    whole_view = load_view(history, whole("job"))
    again = load_view(gathered(parts), whole("job"))
    assert {part.name: round(part.ops, -1) for part in again.parts} == pytest.approx(
        {part.name: round(part.ops, -1) for part in whole_view.parts}, rel=1e-2, abs=20
    )
    assert np.allclose(again.total.ops, whole_view.total.ops)
    gap = gathered(
        [
            parts[0],
            replace(parts[1], recorded=parts[1].recorded.between(middle + HOUR, GRID.end_ns)),
        ]
    )
    assert load_view(gap, whole("job", cells=10**6)).covered.min() == 0
    with pytest.raises(ValueError, match="overlap"):
        gathered([parts[1], parts[0]])


def test_where_nothing_was_recorded_there_are_no_cells(history: LoadHistory) -> None:
    view = load_view(history, whole("user", begin_ns=0, end_ns=SECOND))
    assert (view.axis.cells, view.parts, view.ops) == (0, (), 0.0)
    assert say(view) == "No node recorded operations in this range."


def test_groups_of_nodes() -> None:
    many = [f"r{rack:02d}n{node:02d}.site" for rack in range(12) for node in range(40)]
    assert set(node_groups(many).values()) == {f"r{rack:02d}n*" for rack in range(12)}
    assert node_groups(["login1", "login2"]) == {"login1": "login1", "login2": "login2"}
