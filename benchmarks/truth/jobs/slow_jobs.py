"""Made histories of jobs whose answer is known: sizes mixed, new causes, dead monitors, counts, shares of a loss.

Each is a table as a site would give it, with other distributions than those that limits were chosen on; the verdict's
sentence and the metrics it names are judged. ``DRAWS``: how metrics and the noise of performance are distributed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.truth.jobs.metrics import ar
from benchmarks.truth.weather.latency import Floats
from iosonde.model.job_metrics import About
from iosonde.model.jobs import JobTable

BEGIN_S, DAY_S, S = 1_790_000_000, 86_400, 1_000_000_000
QUIET = ("oss_cpu_max_percent", "mds_cpu_max_percent", "concurrent_jobs", "radius_max_hops")
METRICS = (*QUIET, "fullest_ost_percent", "overloaded_oss", "probe_read_s", "probe_write_s")
"""Known metrics of which low is good."""


def normal(random: np.random.Generator, n: int, columns: int) -> Floats:
    """Independent, normal."""
    return random.standard_normal((n, columns))


def heavy(random: np.random.Generator, n: int, columns: int) -> Floats:
    """Student's t with 3 degrees of freedom, of variance 1."""
    return random.standard_t(3, (n, columns)) / np.sqrt(3)


def bimodal(random: np.random.Generator, n: int, columns: int) -> Floats:
    """Two modes 4 standard deviations of each apart, of variance 1."""
    mode = np.where(random.random((n, columns)) < 0.5, -2.0, 2.0)
    return np.asarray((mode + random.standard_normal((n, columns))) / np.sqrt(5))


def alike(random: np.random.Generator, n: int, columns: int) -> Floats:
    """Days that resemble the days before (phi = 0.7)."""
    return ar(random, n, 0.7, columns)


def skewed(random: np.random.Generator, n: int, columns: int) -> Floats:
    """Exponential, of mean 0 and variance 1."""
    return random.exponential(size=(n, columns)) - 1


Draw = Callable[[np.random.Generator, int, int], Floats]
DRAWS: dict[str, Draw] = {
    "normal": normal,
    "heavy tails": heavy,
    "two modes": bimodal,
    "alike days": alike,
    "skewed": skewed,
}


def made(metrics: dict[str, Floats], seconds: Floats | None = None, **more: object) -> JobTable:
    """Daily runs ``0``, ``1``, ... of one program on one file system; ``seconds``: run times (100 s)."""
    n = len(next(iter(metrics.values())))
    start = (BEGIN_S + DAY_S * np.arange(n, dtype=np.int64)) * S
    took = np.full(n, 100.0) if seconds is None else seconds
    same = {name: np.full(n, text, dtype=object) for name, text in _SAME.items()}
    return JobTable(
        job_id=np.array([str(i) for i in range(n)], dtype=object),
        start_ns=start,
        end_ns=start + (took * S).astype(np.int64),
        metrics=metrics,
        source="made",
        **same,
        **more,  # type: ignore[arg-type]
    )


_SAME = {"step": "", "file_system": "work", "motif": "sim shared write"}


def gauges(values: Floats) -> dict[str, Floats]:
    """Metrics around 50 with a spread of 10, of standard ``values`` (n, columns)."""
    return dict(zip(METRICS, 50 + 10 * values.T, strict=False))


def of_two_sizes(random: np.random.Generator, draw: Draw, n: int = 100) -> tuple[JobTable, Floats]:
    """Runs of 512 and of 4,096 ranks in turn, the large ones 4 times as fast; and each one's place in its own size."""
    large = random.permutation(2 * n) % 2 == 1
    noise = draw(random, 2 * n, 1 + len(METRICS))
    rate = np.where(large, 4e9, 1e9) * np.exp(0.2 * noise[:, 0])
    place = np.empty(2 * n)
    for mine in (large, ~large):
        place[mine] = (rate[mine].argsort().argsort() + 0.5) / n
    ranks = np.where(large, 4096.0, 512.0)
    columns = {"performance_bytes_per_s": rate, "own_nodes": ranks / 32, **gauges(noise[:, 1:])}
    columns["own_bytes"] = ranks * 2.0**30
    # what large runs meet, small ones do not: it goes with the size
    columns["concurrent_jobs"] = columns["concurrent_jobs"] + 20 * ~large
    return made(columns), np.where(large, place + 2, place)


def never_seen(random: np.random.Generator, draw: Draw, n: int) -> tuple[JobTable, str]:
    """The last run is 30% slower, one metric lies 3.5 to 5 deviations out and beyond all; which one."""
    values = draw(random, n + 1, 1 + len(METRICS))
    cause = int(random.integers(len(METRICS)))
    column = values[:, 1 + cause]
    column[-1] = max(random.uniform(3.5, 5.0), float(column[:-1].max()) + 0.75)
    rate = 1e9 * np.exp(0.08 * values[:, 0])
    rate[-1] = 0.7e9 * np.exp(0.03 * values[-1, 0])
    return made({"performance_bytes_per_s": rate, **gauges(values[:, 1:])}), METRICS[cause]


def of_nothing(random: np.random.Generator, draw: Draw, n: int) -> JobTable:
    """Performance and metrics that have nothing to do with each other."""
    values = draw(random, n + 1, 1 + len(METRICS))
    rate = 1e9 * np.exp(0.2 * np.clip(values[:, 0], -6, 6))
    return made({"performance_bytes_per_s": rate, **gauges(values[:, 1:])})


def unmeasured(random: np.random.Generator, draw: Draw, how: str, n: int = 60) -> JobTable:
    """The last run is slow, and its metadata server's CPU is ``missing`` or 0 (``dead``), or servers saw too little."""
    values = draw(random, n, 5)
    rate = 1e9 * np.exp(0.1 * np.clip(values[:, 0], -6, 6))
    rate[-1] = 0.5e9
    cpu = 20 * np.exp(0.2 * np.clip(values[:, 1:3], -6, 6))
    if how in ("missing", "dead"):
        cpu[-1] = np.nan if how == "missing" else 0.0
    servers = 1.05e12 * np.exp(0.02 * np.clip(values[:, 3], -6, 6))
    if how == "over-covered":
        servers[-1] = 0.5e12
    elif how == "all over-covered":
        servers *= 0.5
    return made(
        {
            "performance_bytes_per_s": rate,
            "own_written_bytes": np.full(n, 1e12),
            "own_read_bytes": np.zeros(n),
            "server_read_bytes": 0.05 * servers,
            "server_written_bytes": 0.95 * servers,
            "mds_cpu_mean_percent": cpu[:, 0],
            "mds_cpu_max_percent": cpu[:, 0] * 1.5,
            "oss_cpu_max_percent": 30 + 3 * values[:, 4],
        }
    )


def counted(random: np.random.Generator, draw: Draw, n: int = 90) -> JobTable:
    """A count that nobody knows adds up at a steady rate while runs last; it costs nothing. The last run is slow."""
    values = draw(random, n, 2)
    slow = np.exp(0.35 * np.clip(values[:, 0], -4, 4))
    slow[-1] = 2.2
    count = random.poisson(40 * slow * np.exp(0.1 * np.clip(values[:, 1], -4, 4)))
    columns = {"performance_bytes_per_s": 1e10 / slow, "lock_retries": count.astype(np.float64)}
    columns["own_bytes"] = np.full(n, 1e12)
    about = {"lock_retries": About("retries", "lock retries", "low")}
    return made(columns, 100 * slow, abouts=about)


def twins(random: np.random.Generator, draw: Draw, n: int = 90) -> tuple[JobTable, tuple[str, str]]:
    """A cause and a metric of another group that moves with it; both are high in the last, slow run."""
    values = draw(random, n, 2 + len(METRICS))
    values[-1, 1] = 2.0
    values[:, 2] = values[:, 1] + 0.15 * values[:, 2]
    rate = 1e9 * np.exp(-0.2 * np.clip(values[:, 1], -4, 4) + 0.05 * np.clip(values[:, 0], -4, 4))
    columns = dict(
        zip(("oss_cpu_max_percent", "probe_read_s"), 50 + 10 * values.T[1:3], strict=True)
    )
    more = dict(
        zip(("fullest_ost_percent", "radius_max_hops"), 50 + 10 * values.T[3:5], strict=True)
    )
    return made({"performance_bytes_per_s": rate, **columns, **more}), tuple(columns)  # type: ignore[return-value]


FORMS: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda u: 0.5 * u,
    "threshold": lambda u: 2.0 * np.maximum(0, u - 0.7),
    "step": lambda u: 0.4 * (u > 0.85),
}
"""Share of the speed that a cause takes, of its rank."""


def lost(random: np.random.Generator, draw: Draw, form: str, n: int) -> tuple[JobTable, str, float]:
    """A run of which a known share of the loss is a cause's, the rest luck; the metric, and that share."""
    while True:
        values = draw(random, n + 1, 1 + len(METRICS))
        cause = int(random.integers(len(METRICS)))
        history = values[:-1, 1 + cause]
        values[-1, 1 + cause] = np.quantile(history, random.uniform(0.86, 0.99))
        u = (history[None, :] < values[:, [1 + cause]]).mean(axis=1)
        left = 1 - FORMS[form](u)
        rate = 1e9 * left * np.exp(0.08 * np.clip(values[:, 0], -4, 4))
        usual = float(np.median(rate[:-1]))
        if rate[-1] < 0.85 * usual:
            share = float(np.clip((usual - 1e9 * left[-1]) / (usual - rate[-1]), 0, 1))
            columns = {"performance_bytes_per_s": rate, **gauges(values[:, 1:])}
            return made(columns), METRICS[cause], share


def recorded_null(
    random: np.random.Generator, path: Path, mapping: Path | None, kinds: int
) -> list[JobTable]:
    """Real metrics of real kinds with the performance of other runs: nothing explains it. [] without the file."""
    if not path.is_file():
        return []
    from iosonde.connectors.source import Settings
    from iosonde.jobs.table.leakage import judged
    from iosonde.jobs.table.source import from_files

    table = judged(
        from_files([path], [] if mapping is None else [mapping], Settings(), lambda _: None)
    )
    strata = [rows for rows in table.strata().values() if len(rows) >= 60]
    found = []
    for rows in strata[:kinds]:
        some = table.take(rows[:120])
        order = random.permutation(len(some))
        names = [n for n in some.metrics if some.about(n).role == "performance"]
        shuffled = {name: some.metrics[name][order] for name in names}
        found.append(some.with_metrics(shuffled))
    return found
