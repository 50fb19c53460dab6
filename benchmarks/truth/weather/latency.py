"""G1: one sample of latencies, under load or not.

Every op is lognormal around its median; a read is a hit (cache) or a miss (disk). One operation in
2000 is a straggler of 0.1 s to 100 s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STRAGGLERS = 5e-4
LONGEST_S = 100.0


@dataclass(frozen=True)
class Op:
    """Median seconds and log-scale spread of one operation; ``hit`` is the cached mode."""

    median_s: float
    sigma: float
    hit_share: float = 0.0
    hit_median_s: float = 1e-4
    hit_sigma: float = 0.25


OPS = {
    "data_read": Op(1e-2, 0.5, 0.45),
    "data_write": Op(8e-3, 0.5),
    "md_create": Op(1.5e-3, 0.4),
    "md_stat": Op(0.5e-3, 0.35),
    "md_read": Op(1e-3, 0.4),
    "md_delete": Op(0.9e-3, 0.4),
}


@dataclass(frozen=True)
class Slower:
    """What happens to an interval: ``factor`` on a ``share`` of operations, or on misses only."""

    factor: float = 1.0
    share: float = 1.0
    misses_only: bool = False


def draw(
    random: np.random.Generator,
    op: Op,
    shape: tuple[int, ...],
    slower: Slower | None = None,
    *,
    hit_share: Floats | float | None = None,
    load: Floats | float = 1.0,
) -> Floats:
    """Latencies in seconds, of any shape.

    ``hit_share`` and ``load`` (a factor on every operation) broadcast against the shape.
    """
    slower = slower or Slower()
    normal = random.standard_normal(shape)
    share = op.hit_share if hit_share is None else hit_share
    hit = random.random(shape) < share if np.any(np.asarray(share) > 0) else np.zeros(shape, bool)
    sigma = np.where(hit, op.hit_sigma, op.sigma)
    seconds = np.where(hit, op.hit_median_s, op.median_s) * np.exp(sigma * normal) * load
    struck = np.ones(shape, bool) if slower.share >= 1 else random.random(shape) < slower.share
    if slower.misses_only:
        struck &= ~hit
    seconds = np.where(struck, seconds * slower.factor, seconds)
    return stragglers(random, seconds)


def stragglers(random: np.random.Generator, seconds: Floats) -> Floats:
    """The same latencies with one in 2000 waiting 0.1 s / U, at most 100 s."""
    late = random.random(seconds.shape) < STRAGGLERS
    waits = np.minimum(0.1 / (1.0 - random.random(int(late.sum()))), LONGEST_S)
    seconds = seconds.copy()
    seconds[late] = np.maximum(seconds[late], waits)
    return np.minimum(seconds, LONGEST_S)


def hit_shares(random: np.random.Generator, op: Op, n: int, spread: float = 0.4) -> Floats:
    """Hit shares of ``n`` intervals: normal around the op's own on the logit scale."""
    centre = np.log(op.hit_share / (1 - op.hit_share))
    return np.asarray(1 / (1 + np.exp(-random.normal(centre, spread, n))))
