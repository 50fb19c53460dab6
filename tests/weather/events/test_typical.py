"""The interval of a stretch's slowdown holds the truth, though operations remember the ones before."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter  # type: ignore[import-untyped, unused-ignore]

from iosonde.model.slowdown import (
    LEVELS,
    NULL_MISSES,
    NULL_RATES,
    Q50,
    VERSION_WIDTH,
)
from iosonde.stats.memory import worth
from iosonde.weather.events.pieces.typical import typical

MINUTE_NS, SECOND_NS = 60 * 10**9, 10**9
SIGMA, USUAL_NS = 0.3, 5e6
ROUNDS = 400


def draws(random: np.random.Generator, phi: float, rounds: int, n: int) -> np.ndarray:
    """(rounds, n) Standard normal, each one ``phi`` of the one before."""
    noise = random.standard_normal((rounds, n + 200))
    return lfilter([np.sqrt(1 - phi**2)], [1, -phi], noise, axis=1)[:, 200:]


def expected(hits: float = np.nan) -> np.ndarray:
    """What is usual of lognormal latencies, of which a share ``hits`` is twenty times as quick."""
    random = np.random.default_rng(1)
    usual = USUAL_NS * np.exp(SIGMA * random.standard_normal(200_000))
    usual = np.where(random.random(len(usual)) < hits, usual / 20, usual)
    version = np.full(VERSION_WIDTH, np.nan)
    version[: len(LEVELS)] = np.quantile(usual, LEVELS)
    version[19:21] = np.quantile(usual, 0.99), len(usual)
    if hits > 0:
        slow = np.log(USUAL_NS)
        version[21:26] = hits, slow - np.log(20), slow, SIGMA, SIGMA
    return version


def with_error(version: np.ndarray, of_minute: float) -> np.ndarray:
    known = version.copy()
    known[NULL_RATES:NULL_MISSES] = 0.01, 0.01, 0.01, 1, 1, 1, 1.0, of_minute, 0.0
    return known


@pytest.mark.parametrize("seconds", [60, 600])
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9, 0.95])
def test_the_interval_holds_the_factor_in_spite_of_memory(phi: float, seconds: int) -> None:
    random = np.random.default_rng(int(100 * phi) + seconds)
    minutes = np.median(SIGMA * draws(random, phi, 2000, 60), axis=1)
    version = with_error(expected(), float(np.std(minutes)))
    held = 0
    for noise in draws(random, phi, ROUNDS, seconds):
        took = 4 * USUAL_NS * np.exp(SIGMA * noise)
        typ, lower, upper = typical(took, version, seconds * SECOND_NS)
        assert lower <= typ <= upper
        held += lower <= 4.0 <= upper
    assert held / ROUNDS >= 0.92
    assert held / ROUNDS <= 0.99 or phi == 0, "levels agree more than a median's interval knows"


def test_without_ordinary_days_a_long_stretch_tells_its_own_memory() -> None:
    random, version = np.random.default_rng(5), expected()
    rows = draws(random, 0.9, ROUNDS, 1200)
    found = [typical(4 * USUAL_NS * np.exp(SIGMA * one), version, 1200 * SECOND_NS) for one in rows]
    assert 0.9 <= np.mean([lower <= 4.0 <= upper for _, lower, upper in found]) <= 0.98


@pytest.mark.parametrize("hits", [0.1, 0.25, 0.5])
def test_hits_do_not_dilute_the_factor(hits: float) -> None:
    random = np.random.default_rng(9)
    took = 5 * USUAL_NS * np.exp(SIGMA * random.standard_normal(3000))
    took = np.where(random.random(3000) < hits, took / 20, took)
    typ, lower, upper = typical(took, expected(hits), 3000 * SECOND_NS)
    assert lower <= 5.0 <= upper
    assert typ == pytest.approx(5.0, rel=0.05)


def test_while_a_median_alone_is_expected_it_is_the_ratio_to_it() -> None:
    version = np.full(VERSION_WIDTH, np.nan)
    version[Q50] = 2.0
    mixed = np.random.default_rng(4).permutation(np.arange(1.0, 100.0))
    typ, lower, upper = typical(mixed, version, MINUTE_NS)
    assert (typ, lower, upper) == (25.0, 20.0, 30.0)
    assert np.isnan(typical(np.sort(mixed), version, MINUTE_NS)[1:]).all(), "a trend: one value"
    assert np.isnan(typical(np.zeros(0), version, 0)).all()
    assert typical(np.arange(1.0, 6.0), version, 0)[0] == 1.5
    assert np.isnan(typical(np.arange(1.0, 6.0), version, 0)[1:]).all()
    assert typical(np.full(3, 4 * USUAL_NS), expected(), 0)[0] == pytest.approx(4.0, rel=0.02)


@pytest.mark.parametrize(("phi", "kappa"), [(0.0, 1.0), (0.5, 2.31), (0.9, 13.3)])
def test_worth_is_that_of_the_closed_form(phi: float, kappa: float) -> None:
    """kappa = 1 + 2 sum (2 / pi) asin(phi^k)."""
    lags = np.arange(1, 400)
    assert 1 + 4 / np.pi * np.arcsin(phi**lags).sum() == pytest.approx(kappa, rel=0.02)
    rows = np.exp(draws(np.random.default_rng(2), phi, 60, 4000))
    assert np.median([4000 / worth(one) for one in rows]) == pytest.approx(kappa, rel=0.1)


def test_what_never_changes_has_no_memory() -> None:
    assert worth(np.full(50, 3.0)) == 50
    assert worth(np.arange(1.0, 4.0)) == 3
