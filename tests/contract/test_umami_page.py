"""docs/methods/umami.md against the constants and names of the statistics it describes."""

import re
from pathlib import Path

import numpy as np

from iosonde.jobs.climate import clusters, prediction
from iosonde.jobs.correlate import simpson
from iosonde.jobs.explain import (
    loss_share,
    own_doing,
    reason_words,
    suspects,
    twins,
    unseen,
    verdict,
)
from iosonde.jobs.explain import neighbour_loss as local_loss
from iosonde.jobs.explain import words as explanation
from iosonde.jobs.table import leakage, monitors
from iosonde.jobs.umami import quartile as standing
from iosonde.stats import association, segments, size_classes
from iosonde.stats import change_points as shifts
from iosonde.stats import regime_search as regimes
from iosonde.stats import selection as forward

PAGE = " ".join((Path(__file__).resolve().parents[2] / "docs/methods/umami.md").read_text().split())


def test_standing_and_loss_in_prose_are_those_in_code() -> None:
    low, high = standing.WHISKERS
    assert f"whiskers at the {low:g}th and {high:g}th percentile" in PAGE
    assert f"Fewer than {standing.ENOUGH} earlier values" in PAGE
    losses = local_loss
    assert f"<= {losses.REACH:g}}}) / M * m / (m + {losses.SHRINK})" in PAGE
    assert f"the lowest and the highest {losses.TRIMMED:g} of these runs" in PAGE
    assert f"fewer than {losses.FEWEST_MATCHES} of them say nothing" in PAGE


def test_suspects_in_prose_are_those_in_code() -> None:
    is_ = suspects
    assert f"{is_.SMALLEST_SCALE:g} |median|" in PAGE
    assert f"(m l_j + {is_.SHRINK:g} * {is_.PRIOR:g}) / (m + {is_.SHRINK:g})" in PAGE
    assert f"({is_.FADE:g} / ({is_.FADE:g} + m))" in PAGE
    assert f"correlation above {leakage.LEAKS:g})" in PAGE
    assert f"Below {explanation.SLOW_FROM:.0%} of loss" in PAGE
    assert explanation.MOST_TOLD == 3
    low, high = leakage._PROPORTIONAL
    assert f"({low:g} to {high:g})" in PAGE
    assert f"rank correlation is above {twins.TOGETHER:g}" in PAGE
    assert "at most three groups" in PAGE


def test_kinds_and_new_values_in_prose_are_those_in_code() -> None:
    assert f"windows of a factor of {np.exp(size_classes.WINDOW):g}" in PAGE
    assert size_classes.EMPTIER == 1 / 3
    assert f"a chance of at most {size_classes.P:g} if both" in PAGE
    assert f"at least {size_classes.FEWEST} runs on either side" in PAGE
    assert f"by a factor of at least {own_doing.RATIO:g} and {own_doing.CLEAR:g} robust" in PAGE
    assert f"at most {own_doing.COMMON:g} of the history" in PAGE
    assert f"{unseen.SMALLEST:g} |median|, floor)`" in PAGE
    assert f"less than {verdict.CLEARLY_BEYOND:g} such unit" in PAGE
    assert f"lost at least {verdict.HURT:g}" in PAGE
    assert f"{loss_share.CAUTION:g} times as wide" in PAGE
    assert loss_share.LEVEL == 0.95
    assert f"spans more than {reason_words._NOTHING_KNOWN:g} the share" in PAGE
    assert f"at most {monitors.MOST_DEAD:g} of the jobs" in PAGE
    assert f"above {monitors.NEAR_ZERO:g} of their median" in PAGE


def test_selection_in_prose_is_that_in_code() -> None:
    assert f"by more than {forward.CLEAR:g} standard errors" in PAGE
    assert f"one half changes by less than {forward.ALONE:g} of the other" in PAGE
    assert f"lacks more than {forward.MOST_MISSING:g} of the rows" in PAGE


def test_associations_in_prose_are_those_in_code() -> None:
    reach = f"k = 1 .. min(n / {association.LAG_SHARE}, {association.LAGS})"
    assert f"{reach}, {association.LEAST_EFFECTIVE:g} <= n_eff <= n" in PAGE
    assert f"Below `n_eff` = {association.ENOUGH_EFFECTIVE:g} there is no `q`" in PAGE
    assert f"significant at {simpson.SIGNIFICANT:g}" in PAGE


def test_climates_in_prose_are_those_in_code() -> None:
    assert f"clipped at {regimes.CLIP:g} around a running median and at {regimes.FAR:g}" in PAGE
    assert f"plus `{regimes.PENALTY:g} kappa p ln n` per segment" in PAGE
    assert f"at least {regimes.SHORTEST_DAYS} known days" in PAGE
    assert f"running median of {regimes.WIDE} days, plus {regimes.HIDDEN:g} that" in PAGE
    assert f"at most {regimes.MOST_ALIKE:g}" in PAGE
    assert f"(by more than {regimes.SLACK:g})" in PAGE
    assert f"within `{regimes.SAME:g} sqrt(p)`" in PAGE
    assert f"less than {regimes.KNOWN_SHARE:g} of the metrics" in PAGE


def test_shifts_in_prose_are_those_in_code() -> None:
    shortest = f"{shifts.SHORTEST_DAYS:g} days a segment at least and {segments.FEWEST} values"
    assert shortest in PAGE
    assert f"with `{shifts.PENALTY:g} kappa ln n` per change" in PAGE
    assert f"a chance of at most {segments.SURE:g} by each of two tests" in PAGE
    assert f"Student's tails ({shifts.TAILS} degrees of freedom)" in PAGE
    assert f"worse by less than `{shifts.REACH:.2f} kappa`" in PAGE


def test_motifs_and_predictions_in_prose_are_those_in_code() -> None:
    least = f"at least {clusters.SMALLEST} jobs and {clusters.SMALLEST_SHARE:g} of them"
    assert least in PAGE
    learner = f"(gradient boosting, {prediction.TREES} trees, {prediction.BINS} levels of a metric)"
    assert learner in PAGE
    assert prediction.FIRST_SHARE == 0.5
    assert f"in {prediction.FOLDS} stretches of the last half" in PAGE
    assert f"median of the last {prediction.CLIMATE_DAYS:g} days" in PAGE
    assert f"more than {prediction.LEAK:g} in R^2" in PAGE


def test_symbols_are_names_in_code() -> None:
    owners = {
        "Stood": standing.Stood,
        "LocalLosses": local_loss.LocalLosses,
        "Associations": association.Associations,
        "Regimes": regimes.Regimes,
        "Shifts": shifts.ChangePoints,
    }
    named = re.findall(rf"`({'|'.join(owners)})\.(\w+)`", PAGE)
    assert {owner for owner, _ in named} == set(owners)
    for owner, name in named:
        assert name in owners[owner].__dataclass_fields__, f"{owner}.{name}"
