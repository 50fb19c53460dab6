"""`iosonde compare` on periods whose difference is known: wrong verdicts, found differences.

    python -m benchmarks compare [--pairs 1000] [--seed 400] [--data FOLDER] [--only worlds]

Generators after methods G1 and 1.4: latencies lognormal (sigma .4), reads of two modes (hit share .45, which
swings with a load in one row), loads that swing with time constant tau (standard deviation .15 of the log
latency). Every row draws its pairs from ``seed + row``. The first table judges one op alone, the second (a fifth of
the pairs) six ops together, as the command does: how often any of them is called slower or faster, and which share
of those that are. The third compares periods of other worlds (``compare_worlds``), by normal tails of the
quantiles alone and as the command does, with the whole as a seventh question; FOLDER holds real latencies.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.weather.compare_worlds import path_of_load, worlds
from iosonde.stats.multiple import holm, simes
from iosonde.weather.compare import unseen_load
from iosonde.weather.compare.dependence import no_load_beside
from iosonde.weather.compare.shift import LEVELS, Pair
from iosonde.weather.compare.sides import Period

Floats = NDArray[np.float64]
Maker = Callable[[np.random.Generator, int, float], Floats]
MARGIN = 1.2


def lognormal(rng: np.random.Generator, n: int, step_s: float) -> Floats:  # noqa: ARG001
    return 1.5e-3 * np.exp(0.4 * rng.normal(size=n))


def bimodal(rng: np.random.Generator, n: int, step_s: float) -> Floats:  # noqa: ARG001
    hit = rng.random(n) < 0.45
    fast, slow = 1e-4 * np.exp(0.25 * rng.normal(size=n)), 1e-2 * np.exp(0.5 * rng.normal(size=n))
    return np.where(hit, fast, slow)


def load(rng: np.random.Generator, n: int, step_s: float, tau_s: float, spread: float) -> Floats:
    """A path of log load."""
    return spread * path_of_load(rng, n, step_s, tau_s)


def loaded(tau_s: float, base: Maker = lognormal) -> Maker:
    def make(rng: np.random.Generator, n: int, step_s: float) -> Floats:
        return base(rng, n, step_s) * np.exp(load(rng, n, step_s, tau_s, 0.15))

    return make


def swinging(rng: np.random.Generator, n: int, step_s: float) -> Floats:
    """Reads whose hit share follows a load of 10 min (.4 of its logit)."""
    logit = np.log(0.45 / 0.55) + load(rng, n, step_s, 600.0, 0.4)
    hit = rng.random(n) < 1 / (1 + np.exp(-logit))
    fast, slow = 1e-4 * np.exp(0.25 * rng.normal(size=n)), 1e-2 * np.exp(0.5 * rng.normal(size=n))
    return np.where(hit, fast, slow)


def autoregressive(rng: np.random.Generator, n: int, step_s: float) -> Floats:  # noqa: ARG001
    """Log latencies that remember .8 of the one before."""
    return 1.5e-3 * np.exp(load(rng, n, 1.0, -1 / np.log(0.8), 0.4))


@dataclass(frozen=True)
class Case:
    """A kind of pair; ``factor`` is the true ratio."""

    name: str
    make: Maker
    n: int = 600
    step_s: float = 1.0
    factor: float = 1.0


HOURS_4, DAY = 14_400, 86_400
CASES = (
    Case("lognormal, 10 min", lognormal),
    Case("reads of two modes, 10 min", bimodal),
    Case("AR(1) .8, 10 min", autoregressive),
    Case("load tau 60 s, 10 min", loaded(60)),
    Case("load tau 300 s, 10 min", loaded(300)),
    Case("load tau 1800 s, 10 min (a third of tau)", loaded(1800)),
    Case("load tau 60 s, 4 h", loaded(60), 2880, 5.0),
    Case("load tau 300 s, 4 h", loaded(300), 2880, 5.0),
    Case("load tau 1800 s, 4 h", loaded(1800), 2880, 5.0),
    Case("two modes + load tau 1800 s, 4 h", loaded(1800, bimodal), 2880, 5.0),
    Case("two modes, hit share swings, 4 h", swinging, 2880, 5.0),
    Case("load tau 1800 s, 1 day", loaded(1800), 2880, 30.0),
    Case("lognormal x1.2, 10 min", lognormal, factor=1.2),
    Case("lognormal x1.2, n = 3600", lognormal, 3600, factor=1.2),
    Case("reads of two modes x1.2, 10 min", bimodal, factor=1.2),
    Case("AR(1) .8 x1.2, 10 min", autoregressive, factor=1.2),
    Case("load tau 60 s x1.2, 10 min", loaded(60), factor=1.2),
    Case("load tau 60 s x1.2, 4 h", loaded(60), 2880, 5.0, 1.2),
    Case("load tau 300 s x1.2, 4 h", loaded(300), 2880, 5.0, 1.2),
    Case("load tau 1800 s x1.2, 4 h", loaded(1800), 2880, 5.0, 1.2),
    Case("load tau 1800 s x1.2, 1 day", loaded(1800), 2880, 30.0, 1.2),
)


@dataclass(frozen=True)
class Row:
    """What became of a case's pairs; ``covered`` is by level."""

    case: Case
    said: float
    same: float
    covered: Floats
    smallest: float
    ms: float


def measure(case: Case, pairs: int, seed: int) -> Row:
    """Shares over ``pairs`` pairs; ``covered``: how often a known 95% interval holds the true ratio."""
    rng = np.random.default_rng(seed)
    at = np.arange(case.n) * case.step_s
    ones = np.ones(case.n)
    counts = np.zeros(2)
    covered, known, smallest = np.zeros(len(LEVELS)), np.zeros(len(LEVELS)), []
    spent = 0.0
    for _ in range(pairs):
        one = case.make(rng, case.n, case.step_s)
        other = case.make(rng, case.n, case.step_s) * case.factor
        began = time.perf_counter()
        got = Pair(Period(at, one, ones), Period(at, other, ones), LEVELS).shift(same_level=0.90)
        spent += time.perf_counter() - began
        p = got.different
        inside = (got.same_lower > 1 / MARGIN) & (got.same_upper < MARGIN)
        same = bool(inside[:5].all())
        counts += (p <= 0.05 and not same, same)
        known += ~np.isnan(got.lower + got.upper)
        covered += (got.lower <= case.factor) & (case.factor <= got.upper)
        smallest.append(got.smallest[1])
    said, alike = counts / pairs
    return Row(
        case,
        said,
        alike,
        covered / np.maximum(known, 1),
        float(np.nanmedian(smallest)),
        spent / pairs * 1e3,
    )


@dataclass(frozen=True)
class Six:
    """Six ops under one load; ``loaded`` are those it reaches, ``shifted`` those that differ by ``factor``."""

    name: str
    tau_s: float | None = None
    loaded: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    shifted: tuple[int, ...] = ()
    factor: float = 1.2
    n: int = 600
    step_s: float = 1.0

    def make(self, rng: np.random.Generator) -> list[Floats]:
        """One side."""
        values = [lognormal(rng, self.n, self.step_s) for _ in range(6)]
        if self.tau_s is not None:
            path = np.exp(load(rng, self.n, self.step_s, self.tau_s, 0.15))
            values = [v * path if op in self.loaded else v for op, v in enumerate(values)]
        return values


SIX = (
    Six("nothing, 10 min"),
    Six("one load tau 60 s, 10 min", 60),
    Six("one load tau 300 s, 10 min", 300),
    Six("one load tau 1800 s, 10 min (a third of tau)", 1800),
    Six("load tau 300 s on one op only, 10 min", 300, loaded=(2,)),
    Six("one load tau 1800 s, 4 h", 1800, n=2880, step_s=5.0),
    Six("all x1.2, 10 min", shifted=(0, 1, 2, 3, 4, 5)),
    Six("one x1.2, 10 min", shifted=(3,)),
    Six("all x1.2, load tau 300 s, 4 h", 300, shifted=(0, 1, 2, 3, 4, 5), n=2880, step_s=5.0),
)


def measure_six(six: Six, pairs: int, seed: int) -> tuple[float, float]:
    """How often any op is called different, and the share of the shifted ones that is (NaN without)."""
    rng = np.random.default_rng(seed)
    at, ones = np.arange(six.n) * six.step_s, np.ones(six.n)
    said, found = 0, []
    for _ in range(pairs):
        one, other = six.make(rng), six.make(rng)
        ops = [
            Pair(Period(at, a, ones), Period(at, b * six.factor ** (op in six.shifted), ones))
            for op, (a, b) in enumerate(zip(one, other, strict=True))
        ]
        odds = [op.odds_of_load for op in ops]
        shifts = [
            op.shift(same_level=1 - 0.1 / 6, no_load=no_load_beside(odds[:i] + odds[i + 1 :]))
            for i, op in enumerate(ops)
        ]
        p = holm(np.array([got.different for got in shifts]))
        same = [
            bool(((g.same_lower > 1 / MARGIN) & (g.same_upper < MARGIN))[:5].all()) for g in shifts
        ]
        different = (p <= 0.05) & ~np.array(same)
        said += bool(different.any())
        found += different[list(six.shifted)].tolist()
    return said / pairs, float(np.mean(found)) if found else float("nan")


def measure_world(
    make: Maker, ops: int, factor: float, sizes: tuple[int, int], asked: tuple[int, int]
) -> Floats:
    """Of pairs of 10 min (``asked``: how many, seed) with ``sizes`` samples, all ops ``factor`` times as long in b.

    Share of pairs with any op called different by normal tails of the quantiles alone, and as the command does;
    then shares of ops.
    """
    pairs, seed = asked
    rng = np.random.default_rng(seed)
    at = [np.arange(n) * 600.0 / n for n in sizes]
    ones = [np.ones(n) for n in sizes]
    shares = np.zeros(4)
    for _ in range(pairs):
        made = [
            [make(rng, n, 600.0 / n) * scale for n, scale in zip(sizes, (1, factor), strict=True)]
            for _ in range(ops)
        ]
        both = [Pair(Period(at[0], a, ones[0]), Period(at[1], b, ones[1])) for a, b in made]
        odds = [pair.odds_of_load for pair in both]
        none = [no_load_beside(odds[:i] + odds[i + 1 :]) for i in range(ops)]
        plain = [simes(_normal_tails(pair, calm)) for pair, calm in zip(both, none, strict=True)]
        shifts = [
            pair.shift(same_level=1 - 0.1 / ops, no_load=calm)
            for pair, calm in zip(both, none, strict=True)
        ]
        alone = holm(np.array(plain)) <= 0.05
        whole = holm(np.array([got.different for got in shifts])) <= 0.05
        shares += alone.any(), whole.any(), alone.mean(), whole.mean()
    return shares / pairs


def _normal_tails(pair: Pair, no_load: float) -> Floats:
    """P values of the quantiles by normal tails, as if every share had many independent events."""
    fewest = unseen_load.FEWEST_FREEDOM
    unseen_load.FEWEST_FREEDOM = 1e9
    try:
        return pair.shift(no_load=no_load).p_value
    finally:
        unseen_load.FEWEST_FREEDOM = fewest


def compare_worlds(pairs: int, seed: int, some: dict[str, Maker]) -> None:
    """Print both tables of other worlds: nothing differs; everything does."""
    print("\nslower or faster said, by normal tails of the quantiles alone -> as the command does")
    print(f"{'nothing differs, n = 600':<32}{'one op':>18}{'any of six ops':>18}")
    for number, (name, make) in enumerate(some.items()):
        one = measure_world(make, 1, 1.0, (600, 600), (pairs, seed + number))
        six = measure_world(make, 6, 1.0, (600, 600), (max(1, pairs // 2), seed + 50 + number))
        print(f"{name:<32}{_both(one[:2]):>18}{_both(six[:2]):>18}", flush=True)
    head = "".join(f"{f'x{factor}':>18}" for factor in FACTORS)
    print(f"\n{'each of six ops, n = 118 and 80':<32}{head}")
    for number, (name, make) in enumerate(some.items()):
        rows = (
            measure_world(make, 6, factor, (118, 80), (max(1, pairs // 20), seed + 100 + number))
            for factor in FACTORS
        )
        print(f"{name:<32}" + "".join(f"{_both(row[2:]):>18}" for row in rows), flush=True)


FACTORS = (2, 5, 38)


def _both(pair: Floats) -> str:
    return f"{pair[0]:.1%} -> {pair[1]:.1%}"


def main(
    pairs: int = 1000,
    seed: int = 400,
    data: Path | None = None,  # folder with gathered latencies of md-workbench
    only: str | None = None,  # this table only
    world: str = "",  # worlds whose names begin so
) -> None:
    if only is None:
        compare_loads(pairs, seed)
    every = worlds(data)
    some = {name: make for name, make in every.items() if name.startswith(world)}
    compare_worlds(pairs, seed + 500, some)


def compare_loads(pairs: int, seed: int) -> None:
    """Print the tables of one op and of six under loads of the model."""
    print(f"{pairs} pairs a row, seeds {seed} to {seed + len(CASES) + len(SIX) - 1}\n")
    head = "slower or faster said | same said | interval of q50, q95 holds | sees x (q50) | ms"
    print(f"{'one op':<44}{head}")
    for number, case in enumerate(CASES):
        row = measure(case, pairs, seed + number)
        print(
            f"{case.name:<44}{row.said:>21.3f}{row.same:>12.3f}"
            f"{row.covered[1]:>19.3f}{row.covered[4]:>8.3f}{row.smallest:>15.2f}{row.ms:>6.1f}",
            flush=True,
        )
    print(f"\n{'six ops together':<44}any said | said of those that differ")
    for number, six in enumerate(SIX, len(CASES)):
        said, found = measure_six(six, max(1, pairs // 5), seed + number)
        print(f"{six.name:<44}{said:>8.3f}{found:>28.3f}", flush=True)
