"""Selection of loads that explain a slowdown: non-negative orthogonal matching pursuit over lag and response.

The load that correlates most with what is left enters, all that entered are fitted anew (non-negative, with a
constant), until the Bayesian criterion rises. Slowdown s enters as 1 - 1/s (which grows with load as queues do), ln s
and s - 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places

MOST_CHOSEN = 6
LAGS = (0, 1, 2)
FORMS = ("1 - 1/s", "ln s", "s - 1")
PRICE = 0.6
"""Penalty of a load in the criterion, times ln n + 2 ln M."""
DEPENDENCE = 3
"""Consecutive slots that count as one independent value."""
_PRICE_OF_CHOICE = 0.01


class LoadFit(NamedTuple):
    """``chosen``: loads in the order they entered; ``effect``: of each at its largest load; ``r2`` 0 to 1."""

    chosen: Places
    effect: Floats
    r2: float
    lag: int
    form: str


def response(slowdown: Floats, form: str) -> Floats:
    """(K,) Response variable; ``slowdown`` counts as at least 1."""
    s = np.maximum(slowdown, 1e-3)
    return {"1 - 1/s": 1 - 1 / s, "ln s": np.log(s), "s - 1": s - 1}[form]


def lagged(loads: Floats, lag: int) -> Floats:
    """(M, K) Loads ``lag`` slots earlier; before the first slot as in the first."""
    if not lag:
        return loads
    return np.concatenate([np.repeat(loads[:, :1], lag, axis=1), loads[:, :-lag]], axis=1)


def best_fit(loads: Floats, slowdown: Floats) -> LoadFit:
    """Best fit over lags and forms; loads (M, K) within 0 and 1, slowdown (K,) without NaN."""
    fits = [
        pursue(lagged(loads, lag), response(slowdown, form))._replace(lag=lag, form=form)
        for lag in LAGS
        for form in FORMS
    ]
    return max(fits, key=lambda fit: fit.r2 - _PRICE_OF_CHOICE * len(fit.chosen))


def pursue(loads: Floats, y: Floats) -> LoadFit:
    """Fit for one lag and form. Chooses nothing if no load improves the criterion."""
    many, n = loads.shape
    centred = loads - loads.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    scale = np.where(length > 1e-9, length, np.inf)
    independent = n / DEPENDENCE
    price = PRICE * (np.log(independent) + 2 * np.log(max(many, 1)))
    rest = y - y.mean()
    total = squares = max(float(rest @ rest), 1e-300)
    chosen: list[int] = []
    effect = np.zeros(0)
    while len(chosen) < min(MOST_CHOSEN, many):
        score = centred @ rest / scale
        score[chosen] = -np.inf
        first = int(np.argmax(score))
        if score[first] <= 0:
            break
        trial = [*chosen, first]
        found, left = _non_negative(loads[trial], y)
        after = max(float(left @ left), 1e-12 * total)
        if independent * np.log(after / squares) + price >= 0:
            break
        chosen, effect, rest, squares = trial, found, left, after
    return LoadFit(np.array(chosen, dtype=np.intp), effect, 1 - squares / total, 0, "")


def _non_negative(loads: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Non-negative effects of loads with a free constant; and the residual."""
    from scipy.optimize import nnls  # type: ignore[import-untyped, unused-ignore]

    columns = (loads - loads.mean(axis=1, keepdims=True)).T
    centred = y - y.mean()
    effect: Floats = nnls(columns, centred)[0]
    return effect, centred - columns @ effect
