"""G9: several hosts probe one target; one of them, or the storage, is three times slower."""

from __future__ import annotations

import numpy as np

from benchmarks.truth.weather.latency import Floats

SLOW = 3.0


def history(random: np.random.Generator, hosts: int, windows: int) -> tuple[Floats, Floats]:
    """(windows, hosts) slowdowns of ordinary time, and the true offset of each host (log)."""
    offset = random.normal(0, 0.15, hosts)
    return np.exp(offset + _noise(random, windows, hosts)), offset


def windows(
    random: np.random.Generator, offset: Floats, n: int, slow_host: int | None = None
) -> Floats:
    """(n, hosts) slowdowns in which one host, or with None all of them, are slow."""
    log = offset + _noise(random, n, len(offset))
    if slow_host is None:
        log += np.log(SLOW)
    else:
        log[:, slow_host] += np.log(SLOW)
    return np.exp(log)


def _noise(random: np.random.Generator, n: int, hosts: int) -> Floats:
    """What hosts see each for themselves, and what they share."""
    return 0.07 * random.standard_normal((n, hosts)) + 0.15 * random.standard_normal((n, 1))
