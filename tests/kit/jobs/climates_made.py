"""Runs whose climate is known, because it was made."""

from __future__ import annotations

import numpy as np

from iosonde.model.job_metrics import About
from iosonde.model.jobs import JobTable
from tests.kit.jobs.jobs_made import DAY, START_S, table

OWN = About("operations", "reads of the job", None, "own")


def autoregressive(rng: np.random.Generator, n: int, phi: float) -> np.ndarray:
    """AR(1) of variance 1."""
    noise = rng.standard_normal(n) * np.sqrt(1 - phi**2)
    noise[0] /= np.sqrt(1 - phi**2)
    for i in range(1, n):
        noise[i] += phi * noise[i - 1]
    return noise


def days_of(rng: np.random.Generator, days: int, gap: tuple[int, int] | None = None) -> np.ndarray:
    """Irregular runs: about one a day, sometimes two, sometimes none; nothing in ``gap`` (days)."""
    at = np.sort(rng.uniform(0, days, int(0.95 * days)))
    return at if gap is None else at[(at < gap[0]) | (at >= gap[1])]


def runs(
    rng: np.random.Generator,
    series: dict[tuple[str, str], tuple[tuple[float, float], ...]],
    *,
    days: int = 300,
    noise: float = 0.07,
    phi: float = 0.3,
    outliers: float = 0.03,
    gap: tuple[int, int] | None = None,
    own: dict[tuple[str, str], tuple[float, float, float]] | None = None,
) -> JobTable:
    """A table of ``series``: (file system, motif) -> ((first day, ln level), ...).

    ``own``: (day, before, after) of reads of the job. ``outliers``: share of runs that lose a factor of
    e to e**2.
    """
    parts = []
    for key, levels in series.items():
        at = days_of(rng, days, gap)
        ln = autoregressive(rng, len(at), phi) * noise
        for first, level in levels:
            ln[at >= first] += level - ln_before(levels, first)
        ln -= np.where(rng.random(len(at)) < outliers, rng.uniform(1, 2, len(at)), 0)
        when, before, after = (own or {}).get(key, (0.0, 100.0, 100.0))
        reads = np.where(at < when, before, after) * np.exp(0.001 * rng.standard_normal(len(at)))
        parts += [(a, *key, float(np.exp(v)), r) for a, v, r in zip(at, ln, reads, strict=True)]
    parts.sort()
    at, places, motifs, f, reads = (list(column) for column in zip(*parts, strict=True))
    peaks = {key: max(p[3] for p in parts if (p[1], p[2]) == key) for key in series}
    fraction = [v / peaks[place, motif] for v, place, motif in zip(f, places, motifs, strict=True)]
    return table(
        {"fraction_of_peak_ratio": fraction, "own_reads": reads},
        motif=motifs,
        file_system=places,
        start_s=[START_S + a * DAY for a in at],
        abouts={"own_reads": OWN},
    )


def ln_before(levels: tuple[tuple[float, float], ...], first: float) -> float:
    """The level before a day; 0 before the first."""
    return next((level for day, level in reversed(levels) if day < first), 0.0)


def together(days: int = 300, seed: int = 1, **more: object) -> JobTable:
    """Three of five series lose a third on day 150; the others never change."""
    rng = np.random.default_rng(seed)
    falls = ((0.0, 0.0), (150.0, -0.4))
    still = ((0.0, 0.0),)
    series = {
        ("one", "ior shared read"): falls,
        ("two", "ior shared read"): falls,
        ("three", "ior shared read"): falls,
        ("one", "hacc fpp write"): still,
        ("two", "hacc fpp write"): still,
    }
    return runs(rng, series, days=days, **more)  # type: ignore[arg-type]


def weathered(seed: int, shift: float, starts: tuple[int, ...], kinds: tuple[int, ...]) -> JobTable:
    """A run a day of a year of one file system: performance and four metrics, AR(.4), 3% outliers of 4.

    ``kinds``: which climate begins on each of ``starts``; ``shift`` in standard deviations, on the performance and
    on one to four of the metrics, of either sign.
    """
    rng = np.random.default_rng(seed)
    n = 365
    columns = np.column_stack([autoregressive(rng, n, 0.4) for _ in range(5)])
    columns[rng.random((n, 5)) < 0.03] *= 4
    levels = {0: np.zeros(5)}
    for kind in sorted(set(kinds) - {0}):
        moved = np.zeros(5)
        others = rng.choice(np.arange(1, 5), size=rng.integers(1, 5), replace=False)
        moved[[0, *others]] = shift * rng.choice([-1.0, 1.0], size=len(others) + 1)
        levels[kind] = moved + levels[kind - 1]
    for begin, kind in zip(starts, kinds, strict=True):
        columns[begin:] += levels[kind]
        end = next((s for s in starts if s > begin), n)
        columns[end:] -= levels[kind]
    y = np.exp(0.05 * columns[:, 0] - 0.5)
    metrics = {
        "fraction_of_peak_ratio": y / y.max(),
        "fullest_ost_percent": 60 + 2 * columns[:, 1],
        "mds_cpu_mean_percent": 10 + columns[:, 2],
        "overloaded_oss": 20 + columns[:, 3],
        "radius_max_hops": 9 + columns[:, 4],
    }
    return table(metrics, file_system="work", motif="ior shared write")
