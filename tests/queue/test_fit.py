"""Fits to reads of which the truth is known, and reads that the model cannot explain.

`python -m benchmarks queue_fit` has the same for 100 seeds a kind.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from iosonde.model.errors import UsageError
from iosonde.queue.fit import fit
from iosonde.queue.fit_words import fit_json, say_fit, say_what_if
from iosonde.queue.measured import GROUPS, LEAST_READS, groups_of
from iosonde.queue.replicate import reads_of
from iosonde.queue.what_if import what_if
from tests.kit.samples.queue_reads import KINDS, known_reads


@pytest.fixture(scope="module")
def known():
    """A truth and the fit to it."""
    truth = known_reads("queue", 7)
    return truth, fit(truth.latency_s, truth.load_per_s)


def test_n_and_m_come_back(known):
    truth, found = known
    assert found.explained
    assert found.full
    assert found.model.family == truth.family
    assert found.model.service_s == pytest.approx(truth.service_s, rel=0.1)
    assert found.model.queue == pytest.approx(truth.queue, rel=0.1)
    other = known_reads("queue", 3)
    again = fit(other.latency_s, other.load_per_s, intervals=False)
    assert again.explained
    assert again.model.service_s == pytest.approx(other.service_s, rel=0.1)
    assert again.model.queue == pytest.approx(other.queue, rel=0.1)


def test_a_shorter_queue_does_what_was_said(known):
    truth, found = known
    answer = what_if(found, 5)
    load = answer.load_per_s * truth.service_s
    reads = truth.base_s + truth.service_s * reads_of(truth.family, load, 5, 20_000, 11)
    for quantile, said in ((0.5, answer.then_median_s), (0.9, answer.then_q90_s)):
        real = float(np.quantile(reads, quantile))
        assert said.lower * 0.97 <= real <= said.upper * 1.03
        assert said.value == pytest.approx(real, rel=0.07)
    assert answer.then_median_s.value < 0.1 * answer.median_s.value
    sentence = say_what_if(answer, found)
    assert sentence.startswith(f"With a queue of 5 instead of {found.model.queue:.0f}, ")
    for line in (*say_fit(found), sentence):
        assert len(line.split()) <= 25, line


@pytest.mark.parametrize("kind", KINDS[1:])
def test_what_the_model_does_not_explain_is_said(kind):
    truth = known_reads(kind, 1)
    found = fit(truth.latency_s, truth.load_per_s, intervals=False)
    assert not found.explained
    lines = say_fit(found)
    assert lines[0].startswith("This model does not explain the reads, because at ")
    assert all(len(line.split()) <= 25 for line in lines)
    assert fit_json(found, None)["explained"] is False
    with pytest.raises(ValueError, match="does not explain"):
        what_if(found, 5)


def test_a_queue_that_was_never_full_has_no_length():
    truth = known_reads("queue", 4)
    low = truth.load_per_s * truth.service_s < 0.9
    found = fit(truth.latency_s[low], truth.load_per_s[low], intervals=False)
    assert found.explained
    assert not found.full
    assert found.model.service_s == pytest.approx(truth.service_s, rel=0.1)
    assert "never met a full queue" in " ".join(say_fit(found))
    assert fit_json(found, None)["queue"] is None


def test_too_few_reads_or_loads_are_said():
    truth = known_reads("queue", 2)
    with pytest.raises(UsageError, match="0 groups"):
        fit(truth.latency_s[:50], truth.load_per_s[:50])
    with pytest.raises(UsageError, match="1 groups"):
        fit(truth.latency_s, np.full(len(truth.latency_s), 10.0))
    with pytest.raises(UsageError, match="0 groups"):
        fit(truth.latency_s * np.nan, truth.load_per_s)


def test_reads_without_a_number_are_left_out(known):
    truth, found = known
    odd = np.arange(len(truth.latency_s)) % 17 == 0
    latency = np.where(odd, np.nan, truth.latency_s)
    again = fit(latency, truth.load_per_s, intervals=False)
    assert again.model.service_s == pytest.approx(found.model.service_s, rel=0.05)
    assert sum(group.reads for group in again.groups) == int((~odd).sum())
    assert dataclasses.asdict(again.model)["base_s"] >= 0


@pytest.mark.parametrize("seed", range(4))
def test_groups_of_many_loads_are_narrow_where_loads_differ(seed):
    """A night of little load and an hour of much: that hour is not one group."""
    rng = np.random.default_rng(seed)
    load = np.concatenate([rng.uniform(5, 20, 4000), 150 * rng.standard_gamma(6.0, 500) / 6.0])
    groups = groups_of(rng.lognormal(0, 0.3, len(load)), load)
    assert len(groups) <= GROUPS
    assert sum(group.reads for group in groups) == len(load)
    assert min(group.reads for group in groups) >= LEAST_READS
    assert sum(group.load_per_s > 40 for group in groups) >= 4
    assert np.all(np.diff([group.load_per_s for group in groups]) > 0)
