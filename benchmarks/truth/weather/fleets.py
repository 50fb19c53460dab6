"""Node or storage, and parts beside their peers: made matrices, and what each verdict must name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.truth.target import Row, share
from benchmarks.truth.weather.latency import Floats
from iosonde.model.frames import SeriesKey
from iosonde.model.units import DAY_NS
from iosonde.weather.fleet.shapes import ENOUGH_HOSTS, FleetShape, slow_part
from iosonde.weather.peers.groups import PeerGroup
from iosonde.weather.peers.peers import slow_members

SIZES = ((3, 1), (5, 3), (20, 4), (60, 10), (200, 2), (200, 10))
KINDS = ("nothing", "host", "target", "block", "everything", "cell")
_WINDOWS = 12


def lognormal(random: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Windows that scatter alike."""
    return 0.15 * random.standard_normal(size)


def heavy(random: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Windows of which some are many times slower or quicker: Student's t of two degrees."""
    return 0.15 * random.standard_t(2, size)


def bimodal(random: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """A third of the windows of each cell are 1.8 times slower: another path, another cache."""
    return 0.08 * random.standard_normal(size) + np.log(1.8) * (random.random(size) < 0.33)


def autocorrelated(random: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Windows that follow one another with 0.9: twelve say little more than one."""
    noise = np.empty(size)
    noise[0] = random.standard_normal(size[1:])
    for place in range(1, size[0]):
        noise[place] = 0.9 * noise[place - 1] + np.sqrt(0.19) * random.standard_normal(size[1:])
    return 0.2 * noise


def heavy_cells(random: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Whole cells that are off, by Student's t of three degrees, beside windows that scatter."""
    return 0.1 * random.standard_t(3, (1, *size[1:])) + 0.1 * random.standard_normal(size)


NOISES: tuple[Callable[[np.random.Generator, tuple[int, ...]], Floats], ...] = (
    lognormal,
    heavy,
    bimodal,
    autocorrelated,
    heavy_cells,
)


def matrix(
    random: np.random.Generator,
    size: tuple[int, int],
    kind: str,
    noise: Callable[[np.random.Generator, tuple[int, ...]], Floats],
) -> tuple[Floats, tuple[np.ndarray, np.ndarray]]:
    """(hosts, targets) slowdowns, a tenth of the cells missing, and the slow hosts and targets."""
    hosts, targets = size
    log = np.asarray(np.median(noise(random, (_WINDOWS, *size)), axis=0))
    log += 0.05 * random.standard_normal((1, targets))
    rows, columns = np.arange(hosts), np.arange(targets)
    if kind == "nothing":
        rows, columns = rows[:0], columns[:0]
    if kind in ("target", "block", "cell"):
        columns = random.choice(targets, 1)
    if kind in ("host", "cell"):
        rows = random.choice(hosts, 1)
    if kind == "block":
        rows = random.choice(hosts, random.integers(2, max(3, int(0.6 * hosts))), replace=False)
    log[np.ix_(rows, columns)] += np.log(5 if kind == "cell" else random.uniform(2.5, 6))
    if hosts > ENOUGH_HOSTS:
        away = random.random(size) < 0.1
        if (
            kind in ("host", "block", "cell") and len(rows) * len(columns) < 4
        ):  # a cell that is left would be a cell
            away[np.ix_(rows, columns)] = False
        log[away] = np.nan
    return np.exp(log), (rows, columns)


def wanted(kind: str, size: tuple[int, int]) -> set[FleetShape]:
    """What may be said: with one target a host is a cell, and all of it is the target."""
    if kind == "everything":
        return {FleetShape.EVERYTHING if size[1] > 1 else FleetShape.TARGET}
    if kind == "host" and size[1] == 1:
        return {FleetShape.HOST, FleetShape.CELL}
    return {FleetShape(kind)}


def fleets(seed: int, scale: float = 1.0) -> list[Row]:
    """The share of right verdicts, a line a size and noise, a column a kind."""
    random = np.random.default_rng(seed)
    rows = []
    for size in SIZES:
        times = max(20, round(scale * (300 if size[0] * size[1] < 100 else 100)))
        for noise in NOISES:
            for kind in KINDS:
                if (kind == "block" and size[0] < 5) or (kind == "cell" and size[1] < 2):
                    continue
                right = 0
                for _ in range(times):
                    slowdown, _truth = matrix(random, size, kind, noise)
                    right += slow_part(slowdown).shape in wanted(kind, size)
                value, error = share(right, times)
                least = {"nothing": 0.97, "cell": 0.8}.get(kind, 0.95)
                name = f"{size[0]} x {size[1]} {noise.__name__}"
                rows.append(Row("fleet", name, value, least, 1, "", "", error, kind))
    return rows


_MEMBERS, _DAYS = 12, 14
_OWN_LEVELS = 0.05
"""Standard deviation of the log of what members differ by for good."""


def peers(seed: int, scale: float = 1.0) -> list[Row]:
    """Members that are called slow beside their peers, a line a noise of days: healthy, and one by a factor.

    In parentheses the plain rule: a member's median is above 1.25 times the others' on most days.
    """
    random = np.random.default_rng(seed)
    times = max(20, round(scale * 400))
    rows = []
    for noise in NOISES:
        for factor in (1.0, 1.3, 1.6, 2.0, 40.0):
            mine = plain = 0
            for _ in range(times):
                level = 0.4 * noise(random, (_DAYS, _MEMBERS)).T + 0.2 * random.standard_normal(
                    _DAYS
                )
                level += _OWN_LEVELS * random.standard_normal((_MEMBERS, 1))
                level[0] += np.log(factor)
                named = _named(level)
                simple = _plain(level)
                if factor == 1.0:
                    mine, plain = mine + len(named), plain + len(simple)
                else:
                    mine, plain = mine + (named == {0}), plain + (simple == {0})
            n = times * (_MEMBERS if factor == 1.0 else 1)
            (value, error), (other, _) = share(mine, n), share(plain, n)
            most = 0.005 if factor == 1.0 else 1.0
            what = "healthy" if factor == 1.0 else f"{factor:g}x"
            name = f"peers {noise.__name__}"
            rows.append(Row("peers", name, value, 0, most, "", "", error, what, f"{other:.3f}"))
    return rows


def _named(level: Floats) -> set[int]:
    keys = [SeriesKey("n1", f"disk{number:02}", "data_read", 1) for number in range(len(level))]
    starts = DAY_NS * np.arange(level.shape[1], dtype=np.int64)
    group = PeerGroup("host", "n1", "disk#", "data_read", 1)
    return {int(one.key.target[4:]) for one in slow_members(group, keys, level, starts, DAY_NS)}


def _plain(level: Floats) -> set[int]:
    beside = [
        level[one] - np.median(np.delete(level, one, axis=0), axis=0) for one in range(len(level))
    ]
    return {one for one, days in enumerate(beside) if np.mean(days > np.log(1.25)) > 0.5}
