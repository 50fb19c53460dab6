"""Ten sentences that were wrong about real jobs, on made histories of the same kind."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.truth.jobs.year_sentences import read, tell
from iosonde.jobs.explain.explain import Explanation, explain
from iosonde.jobs.explain.loss_share import LossShare
from iosonde.jobs.explain.reason_words import say_share
from iosonde.jobs.explain.shortened import MOST_WORDS
from iosonde.jobs.explain.words import JobVerdict, judge
from tests.kit.jobs.jobs_made import table
from tests.kit.samples.latencies import real

GIB = 2.0**30


def rates(n: int, seed: int = 1) -> np.ndarray:
    """Around 40 GiB/s, 5 % apart."""
    return 40 * GIB * np.exp(0.05 * np.random.default_rng(seed).normal(size=n))


def around(level: float, n: int, seed: int = 2) -> np.ndarray:
    return level * np.exp(0.1 * np.random.default_rng(seed).normal(size=n))


def told(**columns: np.ndarray) -> tuple[Explanation, JobVerdict]:
    """Of the last run."""
    made = table(
        {name.replace("rate", "performance_bytes_per_s"): v for name, v in columns.items()}
    )
    found = explain(made, str(len(made)))
    verdict = judge(found)
    assert len(verdict.sentence.split()) <= MOST_WORDS, verdict.sentence
    return found, verdict


def fallen(last: float, n: int = 100) -> dict[str, np.ndarray]:
    """Four times slower for good since run 60, with four times the CPU; the last at ``last`` times that."""
    rate, cpu = rates(n), around(12, n)
    rate[60:] /= 4
    cpu[60:] *= 4
    rate[-1] = 10 * GIB * last
    return {"rate": rate, "oss_cpu_max_percent": cpu}


def test_1_as_fast_as_usual_since_a_change():
    _, verdict = told(**fallen(1.05))
    assert verdict.verdict == "as usual"
    assert re.search(
        r"as fast as usual since 2026-12-10.*: 10\.\d GiB/s.*; before then 40\.", verdict.sentence
    )


def test_2_a_run_has_one_verdict():
    _, verdict = told(**fallen(1.4))
    assert verdict.verdict == "fast"
    assert "faster than usual since 2026-12-10" in verdict.sentence
    assert "slower" not in verdict.sentence


def test_3_what_changed_with_the_change_is_not_blamed():
    _, verdict = told(**fallen(0.98))
    assert "CPU" not in " ".join((verdict.sentence, *verdict.evidence))
    _, verdict = told(**fallen(0.5))
    assert verdict.verdict == "slow"
    assert verdict.data()["backed"] == []


def shared(seed: int = 3) -> dict[str, np.ndarray]:
    """Ten runs of sixty in which others move most of the bytes are half as fast, as is the last one."""
    rate, own = (
        rates(60, seed),
        np.clip(0.95 + 0.02 * np.random.default_rng(seed).normal(size=60), 0, 1),
    )
    often = [*range(3, 58, 6), 59]
    rate[often] *= 0.5
    own[often] = np.random.default_rng(seed).uniform(0.15, 0.25, len(often))
    return {"rate": rate, "cf_bandwidth_ratio": own}


def test_4_the_share_of_others_is_a_noun_in_a_sentence():
    _, verdict = told(**shared())
    assert re.search(
        r"; others' share of traffic 8\d% .*could explain \d+-100% of the loss$", verdict.sentence
    )
    assert "was that of others" not in " ".join((verdict.sentence, *verdict.evidence))


def test_5_a_reason_of_nothing_is_none():
    found, verdict = told(**shared())
    (name,) = verdict.data()["backed"]  # type: ignore[misc]
    nothing = judge(replace(found, shares={name: LossShare(0.0, 0.0, 0.74, 59)}))
    assert nothing.told == ()
    assert "no metric stood out" in nothing.sentence


def test_6_of_an_unknown_share_nothing_but_that_it_goes_with_slow_runs_is_said():
    found, verdict = told(**shared())
    (name,) = verdict.data()["backed"]  # type: ignore[misc]
    unknown = judge(replace(found, shares={name: LossShare(0.5, 0.0, 0.95, 59)}))
    assert unknown.sentence.endswith("goes with slow runs")
    assert "unknown" not in unknown.sentence


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (LossShare(1.0, 0.98, 1.0, 90), "could explain all of the loss"),
        (LossShare(0.7, 0.5, 0.9, 90), "could explain 50-90% of the loss"),
        (LossShare(0.3, 0.001, 0.6, 90), "could explain up to 60% of the loss"),
        (LossShare(0.19, 0.1, 0.28, 90), "could explain only 10-28% of the loss"),
        (None, "goes with slow runs"),
    ],
)
def test_7_and_8_a_correlation_could_explain_a_share_at_most(share, words):
    assert say_share(share) == words


def test_9_the_third_slow_run_in_four_days():
    rate = rates(40)
    rate[[36, 37, 39]] *= 0.2
    _, verdict = told(rate=rate, own_bytes=np.where(np.arange(40) == 39, 0.58, 1.0) * 1.5e12)
    assert verdict.sentence.startswith("job 40 itself had 0.58x the bytes")
    assert verdict.sentence.endswith("; the third slow run in 4 days")
    assert "slow runs shortly before it: 2026-11-16, 2026-11-17" in verdict.evidence


def test_9_of_a_program_that_is_often_slow_it_is_not_said():
    rate = rates(40)
    rate[::3] *= 0.2
    rate[[36, 37, 39]] = 8 * GIB
    found, _ = told(rate=rate)
    assert found.streak is None


def test_10_a_record_of_what_creeps_up_does_not_lead():
    rate = rates(60)
    rate[-1] *= 0.6
    creeping = 60 + 0.15 * np.arange(60.0)
    found, verdict = told(
        rate=rate, fullest_ost_percent=creeping, mean_fullness_percent=creeping - 5
    )
    assert found.unseen
    assert "never seen" not in verdict.sentence
    assert "coverage factor" not in judge(explain(table({"performance_bytes_per_s": rate, "cf_bandwidth_ratio": np.where(np.arange(60) == 59, 0.09, 0.95)}), "60")).sentence  # fmt: skip  # noqa: E501


def test_a_new_value_says_how_many_chance_makes_new():
    rate, cpu = rates(60), around(12, 60)
    rate[-1], cpu[-1] = 20 * GIB, 97.0
    _, verdict = told(rate=rate, mds_cpu_max_percent=cpu, concurrent_jobs=around(50, 60))
    assert verdict.sentence.endswith("max MDS CPU 97%, never seen in 59 runs (chance: 0.03 of 2)")


def test_sentences_of_a_real_year_carry_no_more_than_their_evidence():
    made = read(real("umami/tables/year_edison.csv.gz"))
    rows = np.random.default_rng(13).choice(len(made), 120, replace=False).tolist()
    every = [one.sentence for one in tell(made, rows)]
    assert max(len(one.split()) for one in every) <= MOST_WORDS
    wrong = re.compile(
        r"accounts? for|an unknown share|\b0% of the loss|was that of others|otherwise than"
    )
    assert not [one for one in every if wrong.search(one)]
    assert not [one for one in every if "slower" in one and "faster than its kind" in one]
