"""How often two ops of one target raise alarms together while nothing is wrong, on a site of four targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.target import Row
from benchmarks.truth.weather import kinds, stream
from benchmarks.truth.weather.alarms import raised_live
from benchmarks.truth.weather.judge import judged
from benchmarks.truth.weather.latency import OPS, Floats
from benchmarks.truth.weather.stream import NULL, Weather

TARGETS = 4
DAYS = 42
WITHIN_S = 60
MOST_A_WEEK = 1.0

Site = Callable[[np.random.Generator, int], Iterator[Floats]]
"""Streams of the ops of one target for so many days."""


def agree(seed: int, scale: float = 1.0) -> list[Row]:
    """Alarms of two ops of a target within 60 s, a week of the whole site, from the first hour on."""
    days = max(3, round(DAYS * scale))
    rows = []
    for place, (name, site) in enumerate(_SITES.items()):
        random = np.random.default_rng((seed, place))
        together = alone = 0
        for _ in range(TARGETS):
            at = [raised_live(s, judged("md_create", s)[1]).at_s for s in site(random, days)]
            together += agreeing(at)
            alone += sum(map(len, at))
        weeks = days / 7
        error = float(np.sqrt(together + 1)) / weeks
        what = f"{name}: two ops of a target agree, times a week ({days} d)"
        rows += [
            Row("agree", what, together / weeks, 0, MOST_A_WEEK, "-", "-", error),
            Row("agree", f"{name}: alarms a week of all 24", alone / weeks, 0, np.inf, "-", "-"),
        ]
    return rows


def agreeing(raised_s: list[NDArray[np.int64]]) -> int:
    """How many times alarms of at least two ops were raised within 60 s, three of them counted once."""
    if not raised_s:
        return 0
    at = np.concatenate(raised_s)
    op = np.repeat(np.arange(len(raised_s)), [len(one) for one in raised_s])
    order = np.argsort(at, kind="stable")
    at, op = at[order], op[order]
    near = (np.diff(at) <= WITHIN_S) & (np.diff(op) != 0)
    groups = np.diff(np.concatenate(([False], near)).astype(int)) == 1
    return int(groups.sum())


def _lognormal(random: np.random.Generator, days: int) -> Iterator[Floats]:
    """Load and 20 times a day three to eight slow seconds, which all ops of the target share."""
    sky = _sky(random, days)
    for op in OPS:
        yield stream.latencies(random, sky, op).seconds


def _others(random: np.random.Generator, days: int) -> Iterator[Floats]:
    """The made kinds of stream under one load, without a kind's own."""
    sky = _sky(random, days)
    slower = sky.load * sky.factor
    for draw in kinds.MADE.values():
        yield np.minimum(draw(random, len(sky)) * slower, kinds.LONGEST_S)


def _sky(random: np.random.Generator, days: int) -> Weather:
    return stream.weather(random, replace(NULL, days=days))


_SITES: dict[str, Site] = {"lognormal ops": _lognormal, "other kinds of ops": _others}
