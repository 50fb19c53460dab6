"""Motifs from features, and what a prediction is worth: on jobs whose motif and whose climate were made."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.jobs.climate.motifs import features_of, motifs
from iosonde.jobs.climate.validation import validated
from iosonde.jobs.climate.worth_words import say_cluster, say_motifs, say_validation
from iosonde.model.errors import UsageError
from iosonde.model.jobs import JobTable
from tests.kit.jobs.jobs_made import table

KINDS = {
    "big write": (0.0, 1e12, 0.0, 1e4, 2e3),
    "big read": (1e12, 0.0, 1e4, 0.0, 2e3),
    "small write": (0.0, 1e12, 0.0, 1e8, 2.0),
}
NAMES = ("own_read_bytes", "own_written_bytes", "own_reads", "own_writes", "own_opens")


def jobs(each: int = 40, stray: int = 0, named: bool = True, seed: int = 1) -> JobTable:
    rng = np.random.default_rng(seed)
    rows = [values for values in KINDS.values() for _ in range(each)]
    amounts = np.array(rows) * np.exp(0.1 * rng.standard_normal((len(rows), 5)))
    amounts = np.vstack([amounts, 10 ** rng.uniform(0, 15, (stray, 5))])
    motif = [kind for kind in KINDS for _ in range(each)] + ["odd"] * stray
    columns = dict(zip(NAMES, amounts.T, strict=True))
    return table(columns, motif=motif if named else "")


def test_jobs_of_a_kind_are_one_cluster():
    found = motifs(jobs())
    assert [(one.n, one.motif, one.share) for one in found.clusters] == [
        (40, kind, 1.0) for kind in [one.motif for one in found.clusters]
    ]
    assert {one.motif for one in found.clusters} == set(KINDS)
    assert found.agreement == found.agreement_all == 1.0
    assert found.unclustered == 0
    assert "adjusted Rand index with known motifs 1.00 over 120 jobs" in say_motifs(found)


def test_strays_stay_unclustered_and_count():
    found = motifs(jobs(stray=12), smallest=15)  # a stray may lie beside a cluster
    assert 6 / 132 <= found.unclustered <= 14 / 132
    assert found.agreement > 0.85
    assert set(found.suggested[found.label < 0]) <= {""}


def test_a_job_without_a_name_gets_that_of_its_like():
    made = jobs()
    unnamed = np.arange(0, 120, 3)
    made.motif[unnamed] = ""
    found = motifs(made)
    kinds = np.array([kind for kind in KINDS for _ in range(40)], dtype=object)
    assert (found.suggested[unnamed] == kinds[unnamed]).all()
    assert found.unnamed == 120


def test_without_any_name_there_is_no_agreement():
    found = motifs(jobs(named=False))
    assert len(found.clusters) == 3
    assert np.isnan(found.agreement)
    assert np.isnan(found.agreement_all)
    assert "Rand" not in say_motifs(found)
    assert {say_cluster(one) for one in found.clusters} == {"nobody named any of them"}


def test_given_features_are_taken_as_they_are():
    rng = np.random.default_rng(2)
    given = np.repeat([0.0, 5.0], 30) + 0.1 * rng.standard_normal(60)
    made = table({"feature_size": given, "own_reads": rng.uniform(0, 1e9, 60)}, motif="x")
    names, features = features_of(made)
    assert names == ("feature_size",)
    np.testing.assert_array_equal(features[:, 0], given)
    assert len(motifs(made).clusters) == 2


def test_missing_features():
    made = jobs()
    made.metrics["own_opens"][:5] = np.nan
    assert (motifs(made).label[:5] == -1).all()
    made.metrics["own_opens"][:70] = np.nan
    names, _ = features_of(made)
    assert not any("opens" in name for name in names)
    assert (motifs(made).label >= 0).all()


@pytest.mark.parametrize(
    "metrics",
    [{"fullest_ost_percent": [1.0, 2.0]}, {"own_reads": [3.0, 3.0]}, {"own_reads": [np.nan] * 2}],
)
def test_nothing_to_cluster_is_said(metrics: dict[str, list[float]]):
    with pytest.raises(UsageError, match=r"to cluster.*own_read_bytes"):
        motifs(table(metrics))


def drifting(n: int = 400, seed: int = 4) -> JobTable:
    """A performance that follows a slow climate, a metric that says it, and one that only tells the date."""
    rng = np.random.default_rng(seed)
    slow = np.cumsum(rng.standard_normal(n)) / 20
    burden = rng.standard_normal(n)
    f = 0.5 + 0.1 * np.tanh(slow) - 0.08 * (burden > 1) + 0.01 * rng.standard_normal(n)
    return table(
        {
            "fraction_of_peak_ratio": f,
            "cf_bandwidth_ratio": 1 - 0.3 * (burden > 1),
            "fullest_ost_percent": np.linspace(10, 90, n),
        },
        file_system="work",
    )


def test_a_prediction_is_judged_on_later_runs_and_random_folds_are_warned_of():
    (one,) = validated(drifting())
    assert one.found is not None
    assert (one.file_system, one.runs) == ("work", 400)
    assert one.found.useful
    assert one.found.leaks
    assert one.found.both.mae < one.found.climate.mae
    said = say_validation(one)
    assert said[0].startswith("work: metrics add to the recent median: on 200 later runs")
    assert "not to be believed, they remember the climate" in said[1]


def test_metrics_that_know_nothing_add_nothing():
    made = drifting()
    rng = np.random.default_rng(8)
    noise = {"cf_bandwidth_ratio": rng.random(400), "fullest_ost_percent": rng.random(400)}
    (one,) = validated(made.with_metrics(noise))
    assert one.found is not None
    assert not one.found.useful
    assert "metrics add nothing to" in say_validation(one)[0]


def test_few_runs_are_not_validated():
    (one,) = validated(drifting(30))
    assert one.found is None
    assert say_validation(one) == ["work: 30 runs are too few to validate a prediction"]
