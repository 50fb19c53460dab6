"""T1-T5: slowdown and baseline against the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.target import Row, share
from benchmarks.truth.weather import latency, stream
from benchmarks.truth.weather.judge import INTERVAL_S, Expected, judged, slowdowns
from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import DAY_S, START_NS, Options, Weather
from iosonde._core import minimum_count
from iosonde.stats.ranks import quantile_ranks

OPS = ("md_create", "data_read")


def t1(seed: int, scale: float = 1.0) -> list[Row]:
    """Class medians of 10-minute typ over eight weeks, bursts and all."""
    random = np.random.default_rng(seed)
    days = 56 if scale >= 1 else max(38, int(56 * scale))
    sky = stream.weather(random, Options(days=days))
    rows = []
    for op in OPS:
        seconds = stream.latencies(random, sky, op).seconds
        typ = judged(op, seconds)[0].columns["typ"]
        median = _medians(seconds)
        plain = median / np.median(seconds)
        unusual = typ / _hour_of_week(typ)
        learnt = np.arange(len(typ)) >= 3 * 144
        for name, inside, truth in _classes(sky):
            here = inside & learnt & ~np.isnan(typ)
            if here.sum() < 6:
                continue
            low, high = (0.95, 1.05) if name == "quiet" else (0.9, 1.1)
            error = 1.25 * float(np.std(np.log(typ[here]))) / np.sqrt(here.sum() / 12)
            rows.append(
                Row(
                    "T1",
                    f"{op} {name}: typ / truth",
                    float(np.median(typ[here])) / truth,
                    low,
                    high,
                    _T1_PROTOTYPE[op].get(name, "-"),
                    f"{float(np.median(plain[here])) / truth:.2f}",
                    error,
                )
            )
            if name == "backup":
                late = here & (np.arange(len(typ)) >= 4 * 1_008)
                u = float(np.median(unusual[late])) if late.any() else float("nan")
                s = float(np.median(typ[here]))
                label = f"{op} backup: "
                rows.append(Row("T1", label + "s", s, 2.7, 3.2, "2.86 | 2.83", "-", error * s))
                if late.any():
                    rows.append(Row("T1", label + "unusual", u, 0.85, 1.15, "-", "-", error))
    return rows


_T1_PROTOTYPE = {
    "md_create": {"quiet": "1.00", "x3": "1.05", "x10": "1.00", "x27": ".99", "backup": ".95"},
    "data_read": {"quiet": ".98", "x3": "1.06", "x10": ".97", "x27": ".98", "backup": ".94"},
}


def _medians(seconds: Floats) -> Floats:
    n = len(seconds) // INTERVAL_S
    return np.asarray(np.median(seconds[: n * INTERVAL_S].reshape(n, INTERVAL_S), axis=1))


def _classes(sky: Weather) -> list[tuple[str, NDArray[np.bool_], float]]:
    """Intervals wholly inside one kind of time, and the true factor there."""
    n = len(sky) // INTERVAL_S
    factor = sky.factor[: n * INTERVAL_S].reshape(n, INTERVAL_S)
    burst = sky.mask("burst")[: n * INTERVAL_S].reshape(n, INTERVAL_S).any(axis=1)
    backup = sky.mask("backup")[: n * INTERVAL_S].reshape(n, INTERVAL_S).any(axis=1)
    steady = (factor.min(axis=1) == factor.max(axis=1)) & ~burst
    level = factor[:, 0]
    return [
        ("quiet", steady & (level == 1), 1.0),
        ("x3", steady & (level == 3) & ~backup, 3.0),
        ("x10", steady & (level == 10), 10.0),
        ("x27", steady & (level == 27), 27.0),
        ("backup", steady & (level == 3) & backup, 3.0),
    ]


def _hour_of_week(typ: Floats) -> Floats:
    """The median of the four weeks before at the same time of the week, +-30 min."""
    week, n = 1_008, len(typ)
    usual = np.full(n, np.nan)
    for at in range(4 * week, n):
        near = [typ[at - k * week - 3 : at - k * week + 4] for k in range(1, 5)]
        usual[at] = np.median(np.concatenate(near))
    return usual


def t2(seed: int, scale: float = 1.0) -> list[Row]:
    """Reads with drifting hit share, misses ten times slower, 60 samples."""
    random = np.random.default_rng(seed)
    op, n = latency.OPS["data_read"], max(200, int(2_000 * scale))
    calm_share = latency.hit_shares(random, op, 2_000)[:, None]
    calm = latency.draw(random, op, (2_000, 300), hit_share=calm_share).ravel()
    expected = Expected.exact(calm, hit_share=op.hit_share)
    slow = latency.Slower(10.0, misses_only=True)
    shares = latency.hit_shares(random, op, n)[:, None]
    windows = latency.draw(random, op, (n, 60), slow, hit_share=shares)
    typ, _ = slowdowns(windows, np.zeros(n, np.int64), expected.numbers[None])
    plain = np.median(windows, axis=1) / np.median(calm)
    good = [int(np.sum((x >= 6) & (x <= 13))) for x in (typ, plain)]
    p, error = share(good[0], n)
    q, _ = share(good[1], n)
    return [
        Row("T2", "read, misses x10, n=60: in [6, 13]", p, 0.9, 1, ".90", f"{q:.2f}", error),
        Row("T2", "the ratio of medians fails the same", q, 0, 0.89, "fails", f"{q:.2f}", error),
    ]


def t3(seed: int, scale: float = 1.0) -> list[Row]:
    """Coverage of the order-statistic interval, and "n/a" below the smallest n."""
    random = np.random.default_rng(seed)
    times = max(200, int(2_000 * scale))
    op = latency.OPS["data_read"]
    worst, error, where = 1.0, 0.0, ""
    many = np.sort(latency.draw(random, op, (4_000_000 if scale >= 1 else 1_000_000,)))
    for q in (0.5, 0.95, 0.99):
        truth = many[int(np.ceil(q * len(many))) - 1]
        for n in (6, 13, 36, 72, 100, 368, 600, 14_400) if scale >= 0.1 else (6, 72, 368, 600):
            ranks = quantile_ranks(n, q)
            if ranks is None:
                assert n < minimum_count(q)
                continue
            below = np.concatenate(
                [
                    np.sum(latency.draw(random, op, (part, n)) <= truth, axis=1)
                    for part in _parts(times, 4_000_000 // n)
                ]
            )
            # x[lower] <= truth <= x[upper] says: at least lower and fewer than upper lie below
            p, e = share(int(np.sum((below >= ranks[0]) & (below <= ranks[2] - 1))), times)
            if p < worst:
                worst, error, where = p, e, f"q={q}, n={n}"
    few = [minimum_count(q) for q in (0.5, 0.75, 0.9, 0.95, 0.99)]
    none = all(
        quantile_ranks(m - 1, q) is None
        for m, q in zip(few, (0.5, 0.75, 0.9, 0.95, 0.99), strict=True)
    )
    return [
        Row("T3", f"smallest coverage ({where})", worst, 0.93, 1, ".94", "no interval", error),
        Row("T3", "n/a below the minimum n", float(none), 1, 1, "6 13 36 72 368", "a number"),
    ]


def _parts(total: int, most: int) -> list[int]:
    most = max(1, most)
    return [min(most, total - at) for at in range(0, total, most)]


def t4(seed: int, scale: float = 1.0) -> list[Row]:
    """The baseline's tail after three days of G2 with bursts, against undisturbed latencies."""
    random = np.random.default_rng(seed)
    ratios: list[Floats] = []
    plain: list[Floats] = []
    windows = max(6, int(40 * scale))
    while len(ratios) < windows:
        sky = stream.weather(random, Options(days=56))
        calm = Weather(sky.options, sky.load, np.ones_like(sky.factor), sky.change, ())
        for op in OPS:
            seconds = stream.latencies(random, sky, op).seconds
            clean = stream.latencies(random, calm, op).seconds
            for start in random.integers(0, 53 * 144, max(1, windows // 4)) * INTERVAL_S:
                part = slice(int(start), int(start) + 3 * DAY_S)
                if np.mean((sky.factor[part] == 1) & ~sky.mask("burst")[part]) < 0.5:
                    continue
                _, baseline = judged(op, seconds[part], START_NS + int(start) * 10**9)
                truth = np.quantile(clean[part], (0.9, 0.95, 0.99)) * 1e9
                ratios.append(baseline.numbers[-1, [17, 18, 19]] / truth)
                plain.append(np.quantile(seconds[part], (0.9, 0.95, 0.99)) * 1e9 / truth)
    found, raw = np.array(ratios), np.array(plain)
    rows = []
    for place, name in enumerate(("p90", "p95", "p99")):
        p, error = share(int(np.sum(np.abs(found[:, place] - 1) <= 0.06)), len(found))
        what = f"{name} within 6 % after 3 d ({len(found)} windows)"
        seed_word = f"raw pool reads {np.median(raw[:, place]):.2f}x"
        rows.append(Row("T4", what, p, 0.9, 1, "+-5% mostly", seed_word, error))
    return rows


def t5(seed: int, scale: float = 1.0) -> list[Row]:
    """A step to 0.6 and a permanent 1.5: new normal two weeks later, told of, and kept by climate."""
    random = np.random.default_rng(seed)
    streams = max(2, round(10 * scale))
    rows = []
    for factor, prototype in ((0.6, "1.00"), (1.5, "1.02")):
        quiet, plain, climate, told = [], [], [], 0
        for _ in range(streams):
            sky = stream.weather(random, Options(step=(28, factor), long_event=False))
            seconds = stream.latencies(random, sky, "md_create").seconds
            result, baseline = judged("md_create", seconds)
            typ = result.columns["typ"]
            late = _classes(sky)[0][1] & (np.arange(len(typ)) >= 43 * 144)
            quiet.append(float(np.median(typ[late])))
            plain.append(float(np.median((_medians(seconds) / np.median(seconds))[late])))
            climate.append(float(baseline.climate[-1]) / factor)
            began = [(change.began_ns - START_NS) / 86_400e9 for change in result.changes]
            told += any(abs(day - 28) <= 1.5 for day in began)
        spread = 1.25 / np.sqrt(streams)
        old = f"{np.median(plain):.2f}"
        p, error = share(told, streams)
        name = f"x{factor:g} ({streams} streams)"
        value, kept = float(np.median(quiet)), float(np.median(climate))
        rows += [
            Row(
                "T5",
                f"{name}: quiet 15-28 d later",
                value,
                0.95,
                1.05,
                prototype,
                old,
                float(np.std(quiet) * spread),
            ),
            Row(
                "T5",
                f"{name}: climate / truth",
                kept,
                0.93,
                1.07,
                "kept",
                "-",
                float(np.std(climate) * spread),
            ),
            Row("T5", f"{name}: told, to a day and a half", p, 0.95, 1, "-", "never", error),
        ]
    return rows
