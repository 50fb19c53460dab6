"""T12, T13, T14, T16 and lasting shifts: which metric, why today, by chance, which climate, since when."""

from __future__ import annotations

import numpy as np
from scipy import stats

from benchmarks.truth.jobs import metrics as made
from benchmarks.truth.target import Row, share
from benchmarks.truth.weather.latency import Floats
from iosonde.jobs.explain.neighbour_loss import local_losses
from iosonde.jobs.explain.suspects import suspects
from iosonde.stats.association import associations
from iosonde.stats.change_points import shifts
from iosonde.stats.multiple import benjamini_hochberg
from iosonde.stats.regime_search import regimes
from iosonde.stats.selection import Shape, select

_PROTOTYPE_12 = {
    ("linear", 30): ".87",
    ("linear", 90): "1.0",
    ("threshold", 30): ".78",
    ("threshold", 90): "1.0",
    ("U", 30): ".83",
    ("U", 90): "1.0",
}
_SHAPES = {
    "linear": Shape.MONOTONE,
    "threshold": Shape.THRESHOLD,
    "step": Shape.MONOTONE,
    "U": Shape.U,
}
_PROTOTYPE_13 = {30: (".69", ".61"), 60: (".85", ".55"), 120: (".99", ".59")}
_LEVEL, _SPREAD = 0.85, 0.05


def t12(seed: int, scale: float = 1.0) -> list[Row]:
    """The metric that explains most is the cause, R**2 = 0.3; the plain way is the largest Spearman coefficient."""
    random = np.random.default_rng(seed)
    times = max(40, round(1000 * scale))
    rows = []
    for n, wanted in ((30, 0.70), (90, 0.95)):
        for form in made.FORMS:
            hits = plain = named = shaped = 0
            for _ in range(times):
                x, y, causes = made.history(random, n, form, 0.3)
                found = select(y, x)
                hits += found.first == causes[0]
                if found.steps and found.steps[0].metric == causes[0]:
                    named += 1
                    shaped += found.steps[0].shape is _SHAPES[form]
                plain += int(np.argmax(np.abs(associations(y, x).spearman))) == causes[0]
            p, error = share(hits, times)
            told = _PROTOTYPE_12.get((form, n), "-")
            what = f"{form}, n = {n}: first metric is the cause"
            rows.append(Row("T12", what, p, wanted, 1, told, f"{plain / times:.2f}", error))
            p, error = share(shaped, max(1, named))
            rows.append(
                Row(
                    "T12",
                    f"{form}, n = {n}: its shape is right",
                    p,
                    0,
                    float("inf"),
                    "-",
                    "-",
                    error,
                )
            )
    return rows


def t13(seed: int, scale: float = 1.0) -> list[Row]:
    """The largest local loss is the main cause of a bad day; the plain way is the highest percentile.

    Days that luck made bad, because noise is more of the drop than the cause, stand beside without a target.
    """
    random = np.random.default_rng(seed)
    days = max(150, round(1000 * scale))
    rows = []
    for n, wanted in ((30, 0.0), (60, 0.80), (120, 0.95)):
        hits = {True: [], False: []}
        plain = []
        while len(hits[True]) < days:
            x, y, bad = made.bad_days(random, n)
            for day, cause, clear in bad:
                others = np.arange(n) != day
                told = local_losses(y[others], x[others], x[day])
                hits[clear].append(len(told.ranking) > 0 and told.ranking[0] == cause)
                plain.append(int(np.argmax(told.share)) == cause)
        prototype, percentile = _PROTOTYPE_13[n]
        seen = f"{np.mean(plain):.2f} ({percentile})"
        for clear, least, name in (
            (True, wanted, "the day's cause"),
            (False, 0.0, "its small cause"),
        ):
            p, error = share(int(np.sum(hits[clear])), len(hits[clear]))
            what = f"n = {n}: first metric is {name}"
            rows.append(Row("T13", what, p, least, 1, prototype, seen, error))
    return rows


def suspected(seed: int, scale: float = 1.0) -> list[Row]:
    """All bad days of G5b, with little history too: the first suspect is the cause; the plain way is the loss alone."""
    random = np.random.default_rng(seed)
    days = max(150, round(1000 * scale))
    rows = []
    for n, wanted in ((8, 0.0), (12, 0.0), (20, 0.6), (30, 0.7), (60, 0.80), (120, 0.90)):
        first, three, plain = 0, 0, 0
        seen = 0
        while seen < days:
            x, y, bad = made.bad_days(random, n)
            for day, cause, _ in bad:
                others = np.arange(n) != day
                told = suspects(y[others], x[others], x[day], np.ones(made.METRICS), np.zeros(8))
                loss = local_losses(y[others], x[others], x[day])
                first += cause in told.ranking[:1]
                three += cause in told.ranking[:3]
                plain += cause in loss.ranking[:1]
                seen += 1
        beside = f"{plain / seen:.2f}"
        for hits, least, name in ((first, wanted, "first suspect"), (three, 0.0, "one of three")):
            p, error = share(hits, seen)
            what = f"n = {n}: {name} is the day's cause"
            rows.append(Row("suspects", what, p, least, 1, "-", beside, error))
    return rows


def t14(seed: int, scale: float = 1.0) -> list[Row]:
    """Eight metrics that have nothing to do with y: claims after Benjamini-Hochberg; plain Spearman beside it."""
    random = np.random.default_rng(seed)
    times = max(40, round(300 * scale))
    rows = []
    for phi, n in ((0.0, 90), (0.5, 90), (0.8, 30), (0.8, 90), (0.8, 365)):
        claims = plain = 0
        for _ in range(times):
            found = associations(made.ar(random, n, phi)[:, 0], made.ar(random, n, phi, 8))
            claims += bool((found.q <= 0.05).any())
            plain += bool((benjamini_hochberg(found.spearman_p) <= 0.05).any())
        p, error = share(claims, times)
        what = f"phi = {phi:g}, n = {n}: strata with a claim"
        rows.append(Row("T14", what, p, 0, 0.10, ".02-.09", f"{plain / times:.2f}", error))
    seen = plain = 0
    for _ in range(times):
        y, cause = made.ar(random, 90, 0.3)[:, 0], made.ar(random, 90, 0.3, 8)
        y = 0.5 * cause[:, 0] + np.sqrt(0.75) * y
        found = associations(y, cause)
        seen += bool(found.q[0] <= 0.05)
        plain += bool(benjamini_hochberg(found.spearman_p)[0] <= 0.05)
    p, error = share(seen, times)
    what = "r = 0.5, phi = 0.3, n = 90: cause is significant"
    return [*rows, Row("T14", what, p, 0.9, 1, ".97-1.00", f"{plain / times:.2f}", error)]


def t16(seed: int, scale: float = 1.0) -> list[Row]:
    """Years with and without climates; the plain way is where two moving averages of y cross."""
    random = np.random.default_rng(seed)
    times = max(20, round(200 * scale))
    rows = []
    for phi, most in ((0.4, 0.05), (0.6, 0.20), (0.8, 1.0)):
        split, crossed = 0, 0
        for _ in range(times):
            year = made.year(random, 1, 0.0, phi)
            split += len(regimes(year.values).starts) > 1
            crossed += _crossings(year.values[:, 0]) > 0
        p, error = share(split, times)
        what = f"stationary, phi = {phi:g}: years that are split"
        rows.append(Row("T16", what, p, 0, most, "0 of 20", f"{crossed / times:.2f}", error))
    for climates, sigmas, wanted, told in (
        (3, 1.0, 0.0, ".92, R .83"),
        (3, 1.5, 0.9, "1.00, R .96"),
        (4, 2.0, 0.9, "1.00"),
    ):
        exact = crossed = near = true = right = found = 0
        for _ in range(times):
            year = made.year(random, climates, sigmas)
            starts = regimes(year.values).starts[1:]
            exact += len(starts) == climates - 1
            crossed += _crossings(year.values[:, 0]) == climates - 1
            apart = np.abs(starts[:, None] - np.array(year.starts[1:])[None, :]) <= 5
            near, true = near + int(apart.any(axis=0).sum()), true + climates - 1
            right, found = right + int(apart.any(axis=1).sum()), found + len(starts)
        name = f"K = {climates}, {sigmas:g} sigma"
        for what, hits, of, plain in (
            ("exact K", exact, times, f"{crossed / times:.2f}"),
            ("boundaries found to 5 d", near, true, "-"),
            ("boundaries that are true", right, max(1, found), "-"),
        ):
            p, error = share(hits, of)
            rows.append(Row("T16", f"{name}: {what}", p, wanted, 1, told, plain, error))
    return rows


def _crossings(y: Floats) -> int:
    """How often centred moving averages of 14 and 49 days cross."""
    fast, slow = (np.convolve(y, np.ones(days) / days, "same")[24:-24] for days in (14, 49))
    return int(np.count_nonzero(np.diff(np.sign(fast - slow))))


def lasting(seed: int, scale: float = 1.0) -> list[Row]:
    """One series of a year, 330 irregular runs: false changes, one change, its date; the plain way is the best t."""
    random = np.random.default_rng(seed)
    times = max(40, round(400 * scale))
    rows = []
    for phi, most in ((0.0, 0.05), (0.4, 0.05), (0.6, 0.05), (0.8, 0.10)):
        claims = plain = 0
        for _ in range(times):
            at, y = made.runs(
                random, phi=phi, levels=(_LEVEL,), spreads=(_SPREAD,), cuts=(), slow=(0.03,)
            )
            claims += len(shifts(at, y).found) > 0
            plain += _best_t(y) <= 0.01
        p, error = share(claims, times)
        what = f"no change, phi = {phi:g}: series with one"
        rows.append(Row("lasting", what, p, 0, most, "-", f"{plain / times:.2f}", error))
    for name, levels, spreads, slow in (
        ("1 sigma", (0.85, 0.80), (0.05, 0.05), (0.03, 0.03)),
        ("2 sigma", (0.85, 0.75), (0.05, 0.05), (0.03, 0.03)),
        ("noisy to quiet", (0.85, 0.12), (0.10, 0.03), (0.15, 0.0)),
        ("quiet to noisy", (0.85, 0.60), (0.03, 0.12), (0.03, 0.10)),
    ):
        near = alone = covered = 0
        for _ in range(times):
            cut = random.uniform(60, 300)
            at, y = made.runs(
                random, phi=0.4, levels=levels, spreads=spreads, cuts=(cut,), slow=slow
            )
            found = shifts(at, y).found
            alone += len(found) == 1
            close = [one for one in found if abs(one.at - cut) <= 10]
            near += bool(close)
            covered += any(one.earliest <= cut <= one.latest for one in close)
        wanted = 0.0 if name == "1 sigma" else 0.9
        for what, hits, of, least in (
            ("found to 10 d", near, times, wanted),
            ("exactly one", alone, times, 0.0 if name == "1 sigma" else 0.8),
            ("interval holds the date", covered, max(1, near), 0.93),
        ):
            p, error = share(hits, of)
            rows.append(Row("lasting", f"{name}: {what}", p, least, 1, "-", "-", error))
    return rows


def _best_t(y: Floats) -> float:
    """Chance of the place with the largest t, as if it had been given and runs were independent."""
    n = len(y)
    cuts = np.arange(5, n - 5)
    total = np.cumsum(y)
    left, right = total[cuts - 1] / cuts, (total[-1] - total[cuts - 1]) / (n - cuts)
    t = np.abs(left - right) / (y.std() * np.sqrt(1 / cuts + 1 / (n - cuts)))
    return float(2 * stats.norm.sf(t.max()))
