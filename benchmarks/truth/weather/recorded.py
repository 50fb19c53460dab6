"""T6 and T7: what a hang does to the record, and what a day of records weighs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.speed import month
from benchmarks.truth.target import Row
from benchmarks.truth.weather import hangs, latency
from benchmarks.truth.weather.judge import histograms, value_ns
from benchmarks.truth.weather.latency import Floats
from iosonde.weather.seal import seal

RAW = "raw Parquet as sealed (ns, control, offsets), MB a day"
_DAY_S = 86_400
_LIMIT_S = 1.0


def t6(seed: int, scale: float = 1.0) -> list[Row]:
    """Lanes with a schedule against users who come at random instants."""
    random = np.random.default_rng(seed)
    days = max(2, int(20 * scale))
    rows = []
    for name, naive in (("100 s an hour", ".032 s"), ("5 s in 5 min", ".034 s")):
        stalls = hangs.CASES[name]
        begins = stalls.draw(random, days * _DAY_S)
        truth = hangs.users(random, begins, stalls.length_s, 50_000 * days, days * _DAY_S)
        lane = hangs.lane(random, begins, stalls.length_s, days * _DAY_S)
        plain = lane.service[~lane.skipped]
        for word, figure, lane_word in (
            ("p99", _p99, "1.00"),
            ("mean", np.mean, "1.00"),
            ("P(>1 s)", _over, "1.00"),
        ):
            good, real = float(figure(lane.response)), float(figure(truth))
            served = float(figure(plain))
            # both are random: the stalls that were drawn, and the users who met them
            error = 1.0 / np.sqrt(len(begins) * stalls.length_s)
            rows.append(
                Row(
                    "T6",
                    f"{name}: {word} / truth",
                    good / real,
                    0.95,
                    1.05,
                    lane_word,
                    f"{served / real:.4f}",
                    float(error),
                )
            )
        if name.startswith("100"):
            low = float(_p99(truth) / _p99(plain))
            what = f"{name}: service p99 too low by"
            rows.append(
                Row("T6", what, low, 10, float("inf"), f"64.4 s / {naive}", "-", low * 0.02)
            )
    return rows


def _p99(seconds: Floats) -> float:
    return float(np.quantile(seconds, 0.99, method="inverted_cdf"))


def _over(seconds: Floats) -> float:
    return float(np.mean(seconds > _LIMIT_S))


def t7(seed: int, scale: float = 1.0) -> list[Row]:
    """Megabytes of a day of six ops at 1 Hz, sealed as `iosonde store seal` does, and merged quantiles."""
    random = np.random.default_rng(seed)
    hours = max(1, int(24 * scale))
    with tempfile.TemporaryDirectory(prefix="iosonde-truth-") as folder:
        root = Path(folder)
        for hour in range(hours):
            start_ns = month.START_NS + hour * 3_600 * month.PERIOD_NS
            month.write_segment(root, hour, start_ns, month.rows(random, start_ns, 3_600))
        if len(seal(root)) != hours:
            raise RuntimeError("not every segment was sealed")
        raw, rolled = (
            sum(file.stat().st_size for file in (root / part).rglob("*.parquet")) * 24 / hours / 1e6
            for part in ("samples", "rollups")
        )
    rows = [
        Row("T7", RAW, raw, 0, 1.5, "1.3 (us, latency and lag)", "-"),
        Row("T7", "least for latency and lag in ns, MB", _entropy_mb(), 0, float("inf"), "-", "-"),
        Row("T7", "roll-ups of 600 s as kept, MB a day", rolled, 0, 0.25, ".20", "-"),
    ]
    worst = max(_merged_error(random, op, 20_000) for op in latency.OPS)
    rows.append(Row("T7", "largest error of merged quantiles", worst, 0, 0.0101, ".01", "-"))
    return rows


def _entropy_mb() -> float:
    """What no format can go below for a day of these latencies and lags, whole ns of lognormals."""
    spread = np.log2(np.sqrt(2 * np.pi * np.e))
    service = np.mean(np.log2(month.MEDIANS_NS * 0.5)) + spread
    lag = np.log2(1e5 * 0.3) + spread
    return float((service + lag) * month.OPS * _DAY_S / 8e6)


def _merged_error(random: np.random.Generator, op: str, n: int) -> float:
    """The largest relative error of a quantile of merged histograms against the raw latencies."""
    seconds = latency.draw(random, latency.OPS[op], (n,))
    parts = histograms(seconds, 500)
    counts = np.bincount(parts.bucket, weights=parts.count)
    levels = np.array([0.01, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999])
    rank = np.ceil(np.round(levels * n, 9))
    merged = value_ns(np.searchsorted(np.cumsum(counts), rank))
    exact = np.sort(seconds)[rank.astype(int) - 1] * 1e9
    return float(np.max(np.abs(merged / exact - 1)))
