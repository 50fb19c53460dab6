"""Made histories of one program on one file system, of which the cause of the last, slow run is known.

A site's table: metrics that iosonde knows and a site's own, which its mapping declares to be causes, around different
levels, some with long tails. A run takes ``bytes / rate`` seconds, so a strong cause makes it longer. ``n`` is the
number of earlier runs; a deviation is one of the metric's own draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from benchmarks.truth.jobs import slow_jobs
from benchmarks.truth.jobs.metrics import ar
from benchmarks.truth.weather.latency import Floats
from iosonde.model.job_metrics import About
from iosonde.model.jobs import JobTable

NOISE = 0.08
"""Spread of the logarithm of the rate that nothing explains."""
OUT = (2.5, 4.0)
"""Deviations by which the cause lies out in the slow run."""
_KNOWN = {
    "oss_cpu_max_percent": (40.0, 8.0),
    "mds_cpu_max_percent": (20.0, 4.0),
    "radius_max_hops": (12.0, 2.0),
    "concurrent_jobs": (50.0, 0.4),
    "server_getattrs_per_s": (2000.0, 0.5),
    "probe_read_s": (0.02, 0.3),
}
_OWN = {
    "gc_pause": ("ms", 20.0, 0.4),
    "lock_waits": ("waits", 300.0, 0.5),
    "rpc_queue": ("requests", 30.0, 0.3),
    "router_load": ("percent", 35.0, 6.0),
    "cache_misses": ("", 4e4, 0.6),
    "retried": ("ratio", 0.1, 0.02),
    "metadata_wait": ("s", 3.0, 0.4),
    "switch_heat": ("°C", 45.0, 4.0),
}
_SPREAD_OUT = frozenset(("°C", "percent", "ratio", "hops"))
"""Units of metrics around a level; the others have long tails."""
NAMES = (*_KNOWN, *_OWN)
ABOUTS = {name: About(unit, name.replace("_", " "), "low", "cause") for name, (unit, *_) in _OWN.items()}  # fmt: skip
FORMS: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda z: 0.15 * z,
    "threshold": lambda z: np.asarray(0.3 * np.maximum(0.0, z - 0.5)),
    "step": lambda z: np.asarray(0.45 * (z > 1.2)),
    "longer by its amount": lambda z: np.asarray(np.log1p(0.12 * np.exp(0.7 * z))),
}
"""Logarithm of the rate that a cause takes, of its deviation."""


@dataclass
class World:
    """Deviations ``z`` (n + 1, k) of the metrics ``NAMES``, and the logarithm of the rate."""

    random: np.random.Generator
    z: Floats
    log_rate: Floats
    form: str
    columns: dict[str, Floats] = field(default_factory=dict)
    """Own amounts and further metrics."""
    abouts: dict[str, About] = field(default_factory=lambda: dict(ABOUTS))
    seconds: Floats | None = None

    def slowed(self, place: int, rows: slice | Floats = slice(None)) -> None:
        """Slow the runs of ``rows`` by the metric at ``place``."""
        self.log_rate[rows] -= FORMS[self.form](self.z[rows, place])

    def put_out(self, place: int) -> None:
        """The metric lies out in the last run."""
        self.z[-1, place] = self.random.uniform(*OUT)

    def table(self, *, given: bool = False, without: tuple[str, ...] = ()) -> JobTable:
        """The table; ``given``: operations a second and no run time, else bytes and seconds; ``without`` metrics."""
        rate = 1e9 * np.exp(self.log_rate)
        metrics = {name: values(name, self.z[:, i]) for i, name in enumerate(NAMES)}
        metrics = {name: v for name, v in metrics.items() if name not in without} | self.columns
        abouts = {name: about for name, about in self.abouts.items() if name in metrics}
        if given:
            return slow_jobs.made({"performance_ops_per_s": rate / 1e6, **metrics}, abouts=abouts)
        moved = metrics.get(
            "own_bytes", 1e12 * np.exp(0.02 * ar(self.random, len(rate), 0.0)[:, 0])
        )
        columns = {"performance_bytes_per_s": rate, **metrics, "own_bytes": moved}
        return slow_jobs.made(columns, moved / rate, abouts=abouts)


def values(name: str, z: Floats) -> Floats:
    """A metric of its deviations ``z`` (n,), above 0."""
    if name in _KNOWN:
        level, spread = _KNOWN[name]
        around = name.endswith(("_percent", "_hops"))
    else:
        unit, level, spread = _OWN[name]
        around = unit in _SPREAD_OUT
    return np.asarray(
        np.maximum(level + spread * z, 0.05 * level) if around else level * np.exp(spread * z)
    )


def drawn(random: np.random.Generator, n: int, phi: float | None = None) -> World:
    """Metrics and a rate that have nothing to do with each other; ``phi``: how alike days are (None: each its own)."""
    k = len(NAMES)
    z = np.empty((n + 1, k))
    for place in range(k):
        draw = slow_jobs.DRAWS[("normal", "heavy tails", "alike days")[random.integers(3)]]
        z[:, place] = draw(random, n + 1, 1)[:, 0] if phi is None else ar(random, n + 1, phi)[:, 0]
    noise = ar(random, n + 1, 0.2 if phi is None else phi)[:, 0]
    form = tuple(FORMS)[random.integers(len(FORMS))]
    return World(random, np.clip(z, -5, 5), NOISE * np.clip(noise, -3, 3), form)


def chosen(world: World, several: int = 1) -> list[int]:
    """Places of so many metrics, any."""
    return [int(i) for i in world.random.choice(len(NAMES), several, replace=False)]
