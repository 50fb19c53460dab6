"""T8: alarms. False ones on null days, and how soon short and partial slowdowns are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.target import Row, share
from benchmarks.truth.weather import stream
from benchmarks.truth.weather.alarms import INFINITE, delays, median, raised_after
from benchmarks.truth.weather.judge import judged
from benchmarks.truth.weather.latency import Floats
from benchmarks.truth.weather.stream import NULL, Happening, Weather

OPS = ("md_create", "data_read")
SCENARIOS = (
    # name, seconds, factor, share, wanted within s (None: no target), prototype create | read
    ("x10 all, 60 s", 60, 10.0, 1.0, 40.0, ("1 (20 s)", "1 (30 s)")),
    ("x3 all, 10 min", 600, 3.0, 1.0, 90.0, ("1 (50 s)", ".98 (60 s)")),
    ("x10 on 30%, 10 min", 600, 10.0, 0.3, 120.0, ("1 (50 s)", "1 (85 s)")),
    ("x2 all, 60 s", 60, 2.0, 1.0, None, (".40", ".18")),
    ("x3 all, 60 s", 60, 3.0, 1.0, None, (".97 (50 s)", ".67")),
    ("x3 on 30%, 60 s", 60, 3.0, 0.3, None, (".02", ".02")),
    ("x10 on 30%, 60 s", 60, 10.0, 0.3, None, (".83", ".37")),
    ("x10 on 10%, 60 s", 60, 10.0, 0.1, None, ("0", "0")),
    ("x100 on 10%, 60 s", 60, 100.0, 0.1, None, (".78", ".32")),
    ("x3 on 30%, 10 min", 600, 3.0, 0.3, None, (".70", ".38")),
    ("x10 on 10%, 10 min", 600, 10.0, 0.1, None, ("1 (210 s)", ".37")),
)


def t8(seed: int, scale: float = 1.0) -> list[Row]:
    """False alarms on null days, and how soon short and partial slowdowns are found."""
    random = np.random.default_rng(seed)
    days, cases = max(5, int(40 * scale)), max(20, int(200 * scale))
    rows = []
    for place, op in enumerate(OPS):
        learning = stream.weather(random, replace(NULL, days=14, microblips=0))
        calm = stream.latencies(random, learning, op).seconds
        numbers = judged(op, calm)[1].numbers[-1:]
        usual = float(np.median(calm))
        null = stream.weather(random, replace(NULL, days=days))
        seconds = stream.latencies(random, null, op).seconds
        raised = raised_after(seconds, numbers).at_s
        a_month = len(raised) * 30 / days
        plain = _plain_alarms(seconds, usual)
        rows.append(
            Row(
                "T8",
                f"{op}: false alarms a month ({days} d)",
                a_month,
                0,
                6,
                ("4.5", "3.8")[place],
                f"{len(plain) * 30 / days:.1f}",
                float(np.sqrt(len(raised) + 1) * 30 / days),
            )
        )
        wanted = SCENARIOS if scale >= 0.2 else SCENARIOS[:3]  # those with a target
        for name, long, factor, part, within, prototype in wanted:
            sky, begins = _cases(random, cases, long, factor, part)
            seconds = stream.latencies(random, sky, op).seconds
            after = delays(raised_after(seconds, numbers).at_s, begins, long)
            old, delay = len(delays(_plain_alarms(seconds, usual), begins, long)), median(after)
            p, error = share(len(after), len(begins))
            label = f"{op}: {name}"
            told = f"{old / len(begins):.2f}"
            low, high = (0.95, 1.0) if within is not None else (0.0, INFINITE)
            rows.append(Row("T8", label, p, low, high, prototype[place], told, error))
            if within is not None or p >= 0.5:
                most = INFINITE if within is None else within
                rows.append(Row("T8", f"{label}: median delay, s", delay, 0, most, "-", "-", 3.0))
    return rows


def _cases(
    random: np.random.Generator, n: int, long: int, factor: float, part: float
) -> tuple[Weather, NDArray[np.int64]]:
    """Ordinary load with one slowdown an hour and a half, and when each begins."""
    apart = 5_400
    days = -(-(n + 1) * apart // stream.DAY_S)
    quiet = replace(NULL, days=days, microblips=0)
    sky = stream.weather(random, quiet)
    begins = (np.arange(n) + 1) * apart + random.integers(-600, 600, n)
    factors = sky.factor.copy()
    struck = []
    for begin in begins.tolist():
        if part < 1:
            struck.append(Happening("case", begin, begin + long, factor, part))
        else:
            factors[begin : begin + long] *= factor
    return Weather(quiet, sky.load, factors, sky.change, tuple(struck)), begins


def _plain_alarms(seconds: Floats, usual: float) -> NDArray[np.int64]:
    """The seed's factor as an alarm: 60 s median >= 2 on two ticks, over after five quiet minutes."""
    windows = np.lib.stride_tricks.sliding_window_view(seconds, 60)[::10]
    slow = np.median(windows, axis=1) / usual >= 2
    both = np.flatnonzero(slow[1:] & slow[:-1]) + 1
    if len(both) == 0:
        return both
    first = np.concatenate(([True], np.diff(both) > 30))
    return np.asarray(both[first] * 10 + 60)
