"""Causes of a slow event with their confidence: loads and slowdown in, ranked suspects out.

Effects come from ``pursuit``. Stability is how often a load is chosen again from blocks of an hour drawn anew,
those of the event, those near it and the others each among themselves. The placebo: the slowdown is moved to every
other time, suspects are chosen there, and p is how often one of them fits as well.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.course import (
    AFTER,
    BLOCK,
    alike,
    follows,
    lead,
    match,
    rivals,
    within,
)
from iosonde.jobs.attribution.placebo import placebo, touched
from iosonde.jobs.attribution.pursuit import (
    FORMS,
    LAGS,
    LoadFit,
    best_fit,
    lagged,
    pursue,
    response,
)
from iosonde.jobs.attribution.rise import rise

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Places

REPEATS = 20
RIVALS = 0.25
"""Part of a load's operations in the event from which on another one is its twin or rival."""
GROUP = 0.25
"""Part of all operations in the event from which on indistinguishable loads leave the cause open."""


class Confidence(StrEnum):
    """Confidence that a load caused an event, the surest first."""

    MOST = "caused most of it"
    PROBABLE = "probably involved"
    OPERATIONS = "stands out by its operations"
    """Of what came with the slowdown it made most; its course does not show that it was the cause."""
    ACTIVE = "active at the time"


_ORDER = list(Confidence)
LIMITS = {Confidence.MOST: (0.5, 0.9, 0.7, 0.01), Confidence.PROBABLE: (0.3, 0.7, 0.3, 0.03)}
"""Least share (the lower end of its interval), stability and R2, and largest p."""


class Suspect(NamedTuple):
    """``place``: row of the loads. ``share`` of the slowdown of the event, with its 90% interval; 0 to 1.

    NaN where its course was not chosen: it stands out by its operations alone.
    """

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
    stands_out: bool = False
    """Of the operations that came with the slowdown it made most, or a few with it did."""


UNCHOSEN = Suspect(
    *(-1, np.nan, np.nan, np.nan, 0.0), follows=False, alike=(), confidence=Confidence.ACTIVE
)


class Culprits(NamedTuple):
    """``suspects``: the surest first, then by share or operations. ``p``: probability that unrelated loads fit as well.

    ``together``: whether the sum of all loads explains the slowdown, which no unrelated sum does as well.
    ``harmless``: as many operations did no harm at other times.
    """

    suspects: tuple[Suspect, ...]
    r2: float
    p: float
    lag: int
    form: str
    together: bool = False
    harmless: bool = False


def culprits(
    loads: Floats, slowdown: Floats, event: Flags, seed: int = 0, moved: Floats | None = None
) -> Culprits:
    """Suspects of an event.

    ``loads`` (M, K): operations of each in slots of five minutes, before, in and after the event; ``slowdown`` (K,):
    NaN where it is not known; ``event`` (K,). Loads without an operation in the event or shortly before are no
    suspects. ``moved`` (K,): bytes of all, where they are known.
    """
    rng = np.random.default_rng(seed)
    known = np.isfinite(slowdown)
    size = np.maximum(loads.max(axis=1, initial=0.0), 1e-300)[:, None]
    scaled = loads / size
    rows = np.flatnonzero(scaled[:, touched(event)].any(axis=1))
    if not len(rows) or not (event & known).any() or known.sum() < 2 * BLOCK:
        return Culprits((), 0.0, 1.0, 0, "")
    near, seen = scaled[rows][:, known], slowdown[known]
    fit = best_fit(near, seen)
    filled = np.where(known, slowdown, np.median(seen))
    p = placebo(scaled, filled, event)
    x, y = lagged(near, fit.lag), response(seen, fit.form)
    came = rise(loads, slowdown, event, ~_widened(event, AFTER), moved)
    did = loads[rows][:, event & known].sum(axis=1)
    shares, picked = _again(x, y, event[known], rng)
    now = _shares(x, y, event[known], fit)
    suspects = []
    for place in fit.chosen.tolist():
        lower, upper = np.quantile(shares[:, place], [0.05, 0.95]).tolist()
        share = float(now[place])
        twins = np.union1d(alike(near, place), rivals(x, y, fit, place))
        twins = twins[did[twins] >= RIVALS * did[place]]
        group = float(did[place] + did[twins].sum()) >= GROUP * float(did.sum())
        late = follows(near[place], y)
        by_chance = came.harmless and not within(x[place], y, event[known])
        word = _word((share, lower), picked[place], fit.r2, p)
        one = Suspect(
            *(int(rows[place]), share, min(lower, share), max(upper, share), float(picked[place])),
            follows=late,
            alike=tuple(rows[twins].tolist()) if group else (),
            confidence=Confidence.ACTIVE if late or len(twins) or by_chance else word,
            lead=lead(near[place], y),
        )
        suspects.append(one)
    suspects = _with_operations(suspects, came.standing_out().tolist())
    suspects.sort(key=lambda one: _rank(one, float(loads[one.place, event].sum())))
    together = came.risen and not came.harmless and _together(loads.sum(axis=0), filled, event)
    return Culprits(tuple(suspects), fit.r2, p, fit.lag, fit.form, together, came.harmless)


def _with_operations(suspects: list[Suspect], largest: list[int]) -> list[Suspect]:
    """Those who stand out by their operations are at least that, whether their course was chosen or not."""
    found = {one.place: one for one in suspects}
    for place in largest:
        one = found.get(place, UNCHOSEN._replace(place=place))
        weak = one.confidence is Confidence.ACTIVE
        word = Confidence.OPERATIONS if weak else one.confidence
        found[place] = one._replace(confidence=word, stands_out=True)
    return list(found.values())


def _rank(one: Suspect, ops: float) -> tuple[int, float]:
    """The surest first; those who stand out by their operations by these, the others by share."""
    by = ops if one.confidence is Confidence.OPERATIONS else one.share
    return _ORDER.index(one.confidence), -by


def _widened(event: Flags, by: int) -> Flags:
    """The event and so many slots before and after it."""
    return np.asarray(np.convolve(event, np.ones(2 * by + 1))[by : by + len(event)] > 0)


def _together(total: Floats, slowdown: Floats, event: Flags) -> bool:
    """True if the total of operations correlates with the slowdown as a "probably involved" suspect would."""
    *_, least, chance = LIMITS[Confidence.PROBABLE]
    size = max(float(total.max(initial=0.0)), 1e-300)
    forms = [(total / size, response(slowdown, form)) for form in FORMS]
    best = max(match(x, y, lag) for x, y in forms for lag in LAGS)
    return best > 0 and best**2 >= least and placebo(total[None] / size, slowdown, event) <= chance


def _shares(x: Floats, y: Floats, event: Flags, fit: LoadFit) -> Floats:
    """(M,) Share of each load in the event's excess over the usual."""
    excess = float((y[event] - np.quantile(y, 0.25)).sum())
    found = np.zeros(len(x))
    if excess > 0:
        found[fit.chosen] = fit.effect * x[fit.chosen][:, event].sum(axis=1) / excess
    return np.clip(found, 0.0, 1.0)


def _again(x: Floats, y: Floats, event: Flags, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Shares (B, M) of bootstrap repetitions, and (M,) frequency with which each was chosen."""
    near = _widened(event, BLOCK)
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


def _word(share: tuple[float, float], stability: float, r2: float, p: float) -> Confidence:
    for word, (least, steady, fit, chance) in LIMITS.items():
        if min(share) >= least and stability >= steady and r2 >= fit and p <= chance:
            return word
    return Confidence.ACTIVE
