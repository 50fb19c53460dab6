"""The climate of a recorded year: three file systems, eight motifs, 7,500 runs; nothing is told where to look."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from iosonde.connectors.source import Settings
from iosonde.jobs.climate.climate import Climate, changed_on, climate
from iosonde.jobs.climate.motifs import motifs
from iosonde.jobs.climate.words import say_event
from iosonde.jobs.table.source import from_files
from iosonde.model.jobs import JobTable
from tests.kit.samples.latencies import DATA

YEAR = DATA / "umami" / "tables" / "year_edison.csv.gz"
pytestmark = pytest.mark.skipif(not YEAR.exists(), reason=f"no recorded year in {YEAR.parent}")
SHARED_READ = "ior shared read"


@pytest.fixture(scope="module")
def year() -> JobTable:
    return from_files([YEAR], [], Settings(), lambda _: None)


@pytest.fixture(scope="module")
def found(year: JobTable) -> Climate:
    return climate(year)


def on(ns: int) -> date:
    return datetime.fromtimestamp(ns / 1e9, UTC).date()


def test_shared_reads_changed_on_all_three_in_august_2017(found: Climate):
    changes = [c for c in found.changes if c.motif == SHARED_READ]
    assert sorted(c.file_system for c in changes) == ["scratch1", "scratch2", "scratch3"]
    for change in changes:
        assert date(2017, 8, 4) <= on(change.at_ns) <= date(2017, 8, 5)
        # The last runs before are of the middle of July: nothing ran in between.
        assert date(2017, 7, 14) <= on(change.earliest_ns) <= date(2017, 7, 17)
        assert date(2017, 8, 4) <= on(change.latest_ns) <= date(2017, 8, 7)
        assert change.before > 0.8
        assert change.after < 0.13
        assert change.q < 1e-20
        assert not change.own, "the jobs moved the same, in as many operations"


def test_it_is_one_event_with_what_did_not_change(found: Climate):
    (event,) = [e for e in found.events if any(c.motif == SHARED_READ for c in e.changes)]
    said = say_event(event)
    assert said.startswith("in August 2017 ior shared read fell to 0.1")
    assert "on all 3 file systems" in said
    assert event.asked == 24
    assert len(event.steady) == 24 - len(event.changes) > 10
    assert {m.metric for m in event.metrics} >= {"overloaded_oss"}
    day = changed_on(found, event.at_ns)
    assert event in day.events
    assert sum(c.motif == SHARED_READ for c in day.changes) >= 2


def test_the_bad_spring_of_the_fullest_file_system_is_found_in_its_series(found: Climate):
    """23 February to 10 March 2017: writes of shared files at a quarter of what they were."""
    for motif in ("ior shared write", "vpicio_uni shared write"):
        (one,) = [s for s in found.series if (s.file_system, s.motif) == ("scratch3", motif)]
        bad = one.segments[1]
        assert date(2017, 2, 22) <= on(bad.start_ns) <= date(2017, 2, 25)
        assert date(2017, 3, 8) <= on(bad.end_ns) <= date(2017, 3, 11)
        assert bad.median < 0.3
        assert min(one.segments[0].median, one.segments[2].median) > 0.7


def test_the_bad_climate_is_found_over_all_benchmarks(year: JobTable):
    """Median ln fraction of peak -.86, its neighbours -.40 and -.27 (methods 4.5)."""
    bare = JobTable(
        **{
            **vars(year),
            "metrics": {"fraction_of_peak_ratio": year.metrics["fraction_of_peak_ratio"]},
        }
    )
    (place,) = climate(bare, file_system="scratch3").regimes
    before, bad, after = place.regimes[:3]
    assert abs((on(bad.start_ns) - date(2017, 2, 23)).days) <= 2
    assert abs((on(bad.end_ns) - date(2017, 3, 11)).days) <= 2
    assert bad.ln_performance < -0.8
    assert -0.5 < before.ln_performance < -0.3
    assert -0.4 < after.ln_performance < -0.2


def test_motifs_are_found_from_counters_alone(year: JobTable):
    made = motifs(year)
    assert made.agreement_all >= 0.99
    assert made.unclustered <= 0.01
    assert len(made.clusters) == 8
