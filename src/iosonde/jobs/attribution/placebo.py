"""The placebo: the slowdown is moved to every other time, and suspects are chosen there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.attribution.pursuit import FORMS, LAGS, response

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats

BEFORE = 2
"""Slots before the event in which load makes a suspect."""


def touched(event: Flags) -> Flags:
    """The event and the slots shortly before."""
    wide = event.copy()
    for back in range(1, BEFORE + 1):
        wide[:-back] |= event[back:]
    return wide


def placebo(loads: Floats, slowdown: Floats, event: Flags) -> float:
    """Frequency with which suspects at another time fit as well as those of the real event."""
    n = len(slowdown)
    fits = np.full(loads.shape, -1.0)
    for form in FORMS:
        y = response(slowdown, form)
        shifts = _all_shifts(loads, y - y.mean())
        # The load a slot earlier is the slowdown a slot later, moved around.
        for lag in LAGS:
            np.maximum(fits, np.roll(shifts, lag, axis=1), out=fits)
    beside = touched(event)

    def best(shift: int) -> float:
        there = loads[:, np.roll(beside, shift)].any(axis=1)
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
