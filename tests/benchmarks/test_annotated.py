"""Scores of lasting changes against those that people annotated."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.truth.jobs import annotated
from benchmarks.truth.jobs.annotated import found_changes, score, series_of
from tests.kit.samples.latencies import real


def test_what_people_say_is_a_score_of_one_and_no_change_has_a_closed_form() -> None:
    assert score([50, 80], [[50, 80], [50, 80]], 100) == (1.0, 1.0)
    none = score([], [[50], []], 100)
    assert none.f1 == pytest.approx(2 * 0.75 / 1.75), "precision 1, recall the mean of 1/2 and 1"
    assert none.cover == pytest.approx((0.5 + 1.0) / 2)


def test_a_change_counts_within_the_margin_and_once() -> None:
    assert score([55], [[50]], 100).f1 == 1.0
    assert score([56], [[50]], 100).f1 == 0.5
    assert score([49, 51], [[50]], 100).f1 == pytest.approx(2 * (2 / 3) / (2 / 3 + 1))


def test_a_step_is_found_where_it_is_and_gaps_move_nothing() -> None:
    values = 10 + np.random.default_rng(1).standard_normal(200)
    values[120:] += 8
    values[30:40] = np.nan
    (at,) = found_changes(values)
    assert abs(at - 120) <= 1
    assert found_changes(values - 12) == [at], "values of 0 and below are shifted"


def test_real_series_score_above_no_change() -> None:
    folder = real("labelled/change_points")
    people = json.loads((folder / "annotations.json").read_text())
    mine, none = [], []
    for name in ("quality_control_1", "quality_control_3", "quality_control_5", "jfk_passengers"):
        values, some = series_of(folder / f"{name}.json"), list(people[name].values())
        mine.append(score(found_changes(values), some, len(values)))
        none.append(score([], some, len(values)))
    assert np.all(np.mean(mine, axis=0) > np.mean(none, axis=0))
    assert annotated.FOLDER.name == folder.name
