"""Causes of a slow event with their confidence: loads and slowdown in, ranked suspects out.

Effects come from ``pursuit``. Stability is how often a load is chosen again from blocks of an hour drawn anew,
those of the event, those near it and the others each among themselves. The placebo: the slowdown is moved to every
other time, suspects are chosen there, and p is how often one of them fits as well.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.pursuit import (
    FORMS,
    LAGS,
    LoadFit,
    best_fit,
    lagged,
    pursue,
    response,
)

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Places

REPEATS = 20
BLOCK = 12
"""Slots (of five minutes) per bootstrap block."""
BEFORE = 2
"""Slots before the event in which load makes a suspect."""
AFTER = 3
"""Largest lag of loads after the slowdown, in slots: a load that fits better so follows it."""
ALIKE = 0.95
"""Correlation above which two loads are indistinguishable."""


RIVAL = 0.9
"""Fit of an unchosen load, relative to a chosen one, above which the two are indistinguishable."""


class Confidence(StrEnum):
    """Confidence that a load caused an event, the surest first."""

    MOST = "caused most of it"
    PROBABLE = "probably involved"
    ACTIVE = "active at the time"


LIMITS = {Confidence.MOST: (0.5, 0.9, 0.7, 0.01), Confidence.PROBABLE: (0.3, 0.7, 0.3, 0.03)}
"""Least share (the lower end of its interval), stability and R2, and largest p."""


class Suspect(NamedTuple):
    """``place``: row of the loads. ``share`` of the slowdown of the event, with its 90% interval; 0 to 1."""

    place: int
    share: float
    lower: float
    upper: float
    stability: float
    follows: bool
    """True if its load fits better some slots after the slowdown: more a victim than a cause."""
    alike: tuple[int, ...]
    """Others with the same course of load, indistinguishable from it."""
    confidence: Confidence
    lead: int = 0
    """Slots by which its load precedes the slowdown at the best fit; negative: follows."""


class Culprits(NamedTuple):
    """``suspects``: by share, the largest first. ``p``: probability that unrelated loads fit as well.

    ``together``: whether the sum of all loads explains the slowdown, which no unrelated sum does as well.
    """

    suspects: tuple[Suspect, ...]
    r2: float
    p: float
    lag: int
    form: str
    together: bool = False


def culprits(loads: Floats, slowdown: Floats, event: Flags, seed: int = 0) -> Culprits:
    """Suspects of an event.

    ``loads`` (M, K): operations of each in slots of five minutes, before, in and after the event; ``slowdown`` (K,):
    NaN where it is not known; ``event`` (K,). Loads without an operation in the event or shortly before are no
    suspects.
    """
    rng = np.random.default_rng(seed)
    known = np.isfinite(slowdown)
    size = np.maximum(loads.max(axis=1, initial=0.0), 1e-300)[:, None]
    scaled = loads / size
    rows = np.flatnonzero(scaled[:, _touched(event)].any(axis=1))
    if not len(rows) or not (event & known).any() or known.sum() < 2 * BLOCK:
        return Culprits((), 0.0, 1.0, 0, "")
    near, seen = scaled[rows][:, known], slowdown[known]
    fit = best_fit(near, seen)
    filled = np.where(known, slowdown, np.median(seen))
    p = _placebo(scaled, filled, event)
    x, y = lagged(near, fit.lag), response(seen, fit.form)
    shares, picked = _again(x, y, event[known], rng)
    now = _shares(x, y, event[known], fit)
    suspects = []
    for place in fit.chosen.tolist():
        drawn = shares[:, place]
        lower, upper = np.quantile(drawn, [0.05, 0.95])
        twins = np.union1d(_alike(near, place), _rivals(x, y, fit, place))
        follows = _follows(near[place], y)
        word = _word((now[place], lower), picked[place], fit.r2, p)
        one = Suspect(
            int(rows[place]),
            float(now[place]),
            float(min(lower, now[place])),
            float(max(upper, now[place])),
            float(picked[place]),
            follows,
            tuple(rows[twins].tolist()),
            Confidence.ACTIVE if follows or len(twins) else word,
            _lead(near[place], y),
        )
        suspects.append(one)
    suspects.sort(key=lambda one: -one.share)
    together = _together(loads.sum(axis=0), filled, event)
    return Culprits(tuple(suspects), fit.r2, p, fit.lag, fit.form, together)


def _together(total: Floats, slowdown: Floats, event: Flags) -> bool:
    """True if the total of operations correlates with the slowdown as a "probably involved" suspect would."""
    *_, least, chance = LIMITS[Confidence.PROBABLE]
    size = max(float(total.max(initial=0.0)), 1e-300)
    forms = [(total / size, response(slowdown, form)) for form in FORMS]
    match = max(_match(x, y, lag) for x, y in forms for lag in LAGS)
    return (
        match > 0 and match**2 >= least and _placebo(total[None] / size, slowdown, event) <= chance
    )


def _match(load: Floats, y: Floats, later: int) -> float:
    """Correlation of a load with the series ``later`` slots after it; negative: before it."""
    moved = np.roll(load, later)
    x, centred = moved - moved.mean(), y - y.mean()
    return float(x @ centred / max(np.sqrt((x @ x) * (centred @ centred)), 1e-300))


def _lead(load: Floats, y: Floats) -> int:
    """Number of slots by which a load precedes the slowdown at the best fit; the smallest of equal ones."""
    return max(sorted(range(-AFTER, AFTER + 1), key=abs), key=lambda by: _match(load, y, by))


def _touched(event: Flags) -> Flags:
    """The event and the slots shortly before."""
    wide = event.copy()
    for back in range(1, BEFORE + 1):
        wide[:-back] |= event[back:]
    return wide


def _shares(x: Floats, y: Floats, event: Flags, fit: LoadFit) -> Floats:
    """(M,) Share of each load in the event's excess over the usual."""
    excess = float((y[event] - np.quantile(y, 0.25)).sum())
    found = np.zeros(len(x))
    if excess > 0:
        found[fit.chosen] = fit.effect * x[fit.chosen][:, event].sum(axis=1) / excess
    return np.clip(found, 0.0, 1.0)


def _again(x: Floats, y: Floats, event: Flags, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Shares (B, M) of bootstrap repetitions, and (M,) frequency with which each was chosen."""
    near = np.convolve(event, np.ones(2 * BLOCK + 1), "same") > 0
    shares = np.zeros((REPEATS, len(x)))
    for row in shares:
        parts = [_blocks(np.flatnonzero(part), rng) for part in (event, near & ~event, ~near)]
        drawn = np.concatenate(parts)
        row[:] = _shares(x, y, event, pursue(x[:, drawn], y[drawn]))
    return shares, (shares > 0).mean(axis=0)


def _blocks(slots: Places, rng: np.random.Generator) -> Places:
    """As many slots as there are, in resampled blocks."""
    n = len(slots)
    if not n:
        return slots
    begin = rng.integers(0, n, -(-n // BLOCK))
    drawn: Places = slots[((begin[:, None] + np.arange(BLOCK)) % n).ravel()[:n]]
    return drawn


def _placebo(loads: Floats, slowdown: Floats, event: Flags) -> float:
    """Frequency with which suspects at another time fit as well as those of the real event."""
    n = len(slowdown)
    fits = np.full(loads.shape, -1.0)
    for form in FORMS:
        y = response(slowdown, form)
        shifts = _all_shifts(loads, y - y.mean())
        # The load a slot earlier is the slowdown a slot later, moved around.
        for lag in LAGS:
            np.maximum(fits, np.roll(shifts, lag, axis=1), out=fits)
    touched = _touched(event)

    def best(shift: int) -> float:
        there = loads[:, np.roll(touched, shift)].any(axis=1)
        return float(fits[there, shift].max(initial=-1.0))

    # Moved by no more than the lags tried it is the same fit.
    least = LAGS[-1] + 1
    real = best(0)
    moved = [best(shift) for shift in range(least, n - least + 1)]
    return (1 + sum(one >= real for one in moved)) / (len(moved) + 1)


def _all_shifts(x: Floats, y: Floats) -> Floats:
    """(M, K) Correlations of each load with ``y`` circularly shifted by 0 to K - 1 slots, to later ones."""
    centred = x - x.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True)) * max(float(np.sqrt(y @ y)), 1e-300)
    n = len(y)
    product = np.fft.irfft(np.fft.rfft(centred) * np.conj(np.fft.rfft(y)), n)
    return np.asarray(product / np.maximum(length, 1e-300))


def _alike(x: Floats, place: int) -> Places:
    """Other loads with the same course."""
    centred = x - x.mean(axis=1, keepdims=True)
    length = np.maximum(np.sqrt((centred**2).sum(axis=1)), 1e-300)
    same = centred @ centred[place] / (length * length[place]) >= ALIKE
    same[place] = False
    return np.flatnonzero(same)


def _rivals(x: Floats, y: Floats, fit: LoadFit, place: int) -> Places:
    """Unchosen loads that explain the residual of the others almost as well as ``place`` does."""
    kept = fit.chosen != place
    left = y - fit.effect[kept] @ x[fit.chosen[kept]]
    centred, rest = x - x.mean(axis=1, keepdims=True), left - left.mean()
    length = np.maximum(np.sqrt((centred**2).sum(axis=1)), 1e-300)
    match = centred @ rest / length
    near = match >= RIVAL * match[place]
    near[fit.chosen] = False
    return np.flatnonzero(near)


def _follows(load: Floats, y: Floats) -> bool:
    """True if the load fits better after the slowdown than at it or before."""
    cause = max(_match(load, y, shift) for shift in range(AFTER + 1))
    return max(_match(load, y, -shift) for shift in range(1, AFTER + 1)) > 1.1 * cause


def _word(share: tuple[float, float], stability: float, r2: float, p: float) -> Confidence:
    for word, (least, steady, fit, chance) in LIMITS.items():
        if min(share) >= least and stability >= steady and r2 >= fit and p <= chance:
            return word
    return Confidence.ACTIVE
