"""Planted bursts that `bursts` finds, and bursts that it finds in vain.

    python -m benchmarks bursts [--runs 100] [--seed 500]

A run is 12 000 operations of one op in 20 s; a planted burst multiplies the latency of a share of them for one second.
The second table plants a stall of a share of the ranks in a closed loop of 20 s, and none in calm runs of several
kinds: how often the number of waiting ranks shows it, how often the windows of all operations do, and either.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from iosonde.weather.bursts.ranks import RunOperations, find_stalls
from iosonde.weather.bursts.search import BurstsFound, find_bursts, windows_for

N, SPAN_S = 12_000, 20.0
BURST_S = (8.0, 9.0)
KINDS = (
    "lognormal",
    "1% in a slow mode",
    "5% in a slow mode",
    "10% in a slow mode",
    "stragglers",
)
PLANTED = ((0.02, 30.0), (0.05, 10.0), (0.10, 10.0), (0.20, 5.0), (0.30, 3.0), (1.0, 3.0))


def latencies(rng: np.random.Generator, kind: str) -> NDArray[np.float64]:
    """Service times in ns."""
    service: NDArray[np.float64] = 1e6 * np.exp(0.4 * rng.normal(size=N))
    if kind == "stragglers":
        rare = rng.random(N) < 5e-4
        service[rare] = np.minimum(1e8 / (1 - rng.random(rare.sum())), 1e11)
    elif kind != "lognormal":
        slow = rng.random(N) < float(kind.split(maxsplit=1)[0]) / 100
        service[slow] = 1.5e7 * np.exp(0.5 * rng.normal(size=slow.sum()))
    return service


def searched(rng: np.random.Generator, kind: str, share: float, factor: float) -> BurstsFound:
    began = np.sort(rng.uniform(0, SPAN_S * 1e9, N)).astype(np.int64)
    service = latencies(rng, kind)
    begin, end = (int(edge * 1e9) for edge in BURST_S)
    service[(began >= begin) & (began < end) & (rng.random(N) < share)] *= factor
    found = find_bursts(began, service, windows_for(began))
    assert found is not None
    return found


def hit(found: BurstsFound) -> tuple[bool, bool, int, float]:
    """Whether the planted burst was found, whether by the median, how many others were, start error in s."""
    begin, end = (edge * 1e9 for edge in BURST_S)
    right = [b for b in found.bursts if b.start_ns < end and b.end_ns > begin]
    error = abs(right[0].start_ns - begin) / 1e9 if right else float("nan")
    return (
        bool(right),
        found.median_sees(int(begin), int(end)),
        len(found.bursts) - len(right),
        error,
    )


RANKS, LENGTHS_S = (12, 40), (0.2, 1.0, 3.0)
SHARES = (1.0, 0.5, 0.25, 0.1)
CALM = ("lognormal", "5% in a slow mode", "stragglers", "own pace", "own bursts")


def closed_loop(
    rng: np.random.Generator, kind: str, ranks: int, stalled: int, length_s: float
) -> RunOperations:
    """Ranks that begin an operation when the last has ended; ``stalled`` of them wait from 8 s on."""
    parts = []
    for rank in range(ranks):
        service = _services(rng, kind)
        ended = np.cumsum(service)
        number = int(np.searchsorted(ended, BURST_S[0] * 1e9))
        if rank < stalled and number < len(service):
            service[number] = max(
                service[number],
                BURST_S[0] * 1e9 + length_s * 1e9 - (ended[number] - service[number]),
            )
            ended = np.cumsum(service)
        began = ended - service
        some = began < SPAN_S * 1e9
        parts.append((np.full(int(some.sum()), rank), began[some], ended[some]))
    rank_of, began, ended = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(began, kind="stable")
    waited = (ended - began)[order]
    usual = float(np.quantile(waited, 0.95))
    at = began[order].astype(np.int64)
    return RunOperations(rank_of[order], at, at + waited.astype(np.int64), waited / usual)


def _services(rng: np.random.Generator, kind: str) -> NDArray[np.float64]:
    """Service times of one rank in ns, of 4 ms in the middle; enough of them for the run."""
    n = 9000
    service: NDArray[np.float64] = 4e6 * np.exp(0.4 * rng.normal(size=n))
    if kind == "5% in a slow mode":
        slow = rng.random(n) < 0.05
        service[slow] = 4e7 * np.exp(0.5 * rng.normal(size=slow.sum()))
    elif kind == "stragglers":
        rare = rng.random(n) < 1e-3
        service[rare] = np.minimum(1e8 / (1 - rng.random(rare.sum())), 2e10)
    elif kind == "own pace":
        service *= np.exp(0.7 * rng.normal())
    elif kind == "own bursts":
        place = 0
        while (place := place + int(rng.exponential(300)) + 1) < n:
            service[place : place + 10] *= 8
    return service


def by_ranks(runs: int, rng: np.random.Generator) -> None:
    """Print how often stalls of a part of the ranks are found, and what is found in calm runs."""
    found_by = f"{'by ranks':>9}{'by windows':>11}{'either':>8}{'false ones a run':>18}"
    print(f"\n{'run':<22}{'ranks':>6}  {'planted':<24}{found_by}")
    for kind, ranks, stalled, length in _planted():
        rows = np.array(
            [
                _by_both(closed_loop(rng, kind, ranks, stalled, length), ranks, length)
                for _ in range(runs)
            ]
        )
        one, other, either, false = rows.mean(axis=0).tolist()
        what = f"{stalled} for {length:g} s" if stalled else "nothing"
        found = f"{one:>9.2f}{other:>11.2f}{either:>8.2f}" if stalled else " " * 28
        print(f"{kind:<22}{ranks:>6}  {what:<24}{found}{false:>18.3f}", flush=True)


def _planted() -> list[tuple[str, int, int, float]]:
    """Kind, ranks, how many of them are stalled, for how long (s)."""
    rows = []
    for kind, ranks in itertools.product(CALM, RANKS):
        rows.append((kind, ranks, 0, 0.0))
        shares = SHARES if kind == CALM[0] else (0.25,)
        lengths = LENGTHS_S if kind == CALM[0] else LENGTHS_S[:2]
        rows += [(kind, ranks, max(1, round(s * ranks)), t) for s in shares for t in lengths]
    return rows


def _by_both(run: RunOperations, ranks: int, length_s: float) -> tuple[bool, bool, bool, int]:
    """Whether ranks show the stall, whether windows do, either, and how many stalls of ranks lie elsewhere."""
    begin, end = BURST_S[0] * 1e9, BURST_S[0] * 1e9 + length_s * 1e9
    stalls = find_stalls(run, ranks)
    right = [length_s > 0 and b.start_ns < end and b.end_ns > begin for b in stalls]
    waited = (run.ended_ns - run.began_ns).astype(np.float64)
    windows = windows_for(run.began_ns)
    seen = find_bursts(run.began_ns, waited, windows) if windows else None
    both = seen is not None and any(b.start_ns < end and b.end_ns > begin for b in seen.bursts)
    return any(right), both, any(right) or both, len(right) - sum(right)


def main(
    runs: int = 100,
    seed: int = 500,
    only: str | None = None,  # the table of ranks only
) -> None:
    print(f"{runs} runs a row, seed {seed}\n")
    if only is None:
        by_operations(runs, seed)
    by_ranks(runs, np.random.default_rng(seed + 1))


def by_operations(runs: int, seed: int) -> None:
    """Print how often bursts of a share of all operations are found."""
    print(f"{'run':<24}{'planted':<22}found  by the median  false ones a run  start error (median)")
    rng = np.random.default_rng(seed)
    for kind in KINDS:
        for share, factor in ((0.0, 1.0), *PLANTED):
            rows = [hit(searched(rng, kind, share, factor)) for _ in range(runs)]
            found, median, false, error = (np.array(column) for column in zip(*rows, strict=True))
            if share == 0:
                any_ = false + found
                print(f"{kind:<24}{'nothing':<22}{'':>5}{'':>15}{any_.mean():>18.3f}")
                continue
            planted = f"{share:.0%} x{factor:g} for 1 s"
            known = error[~np.isnan(error)]
            start = f"{np.median(known):.2f} s" if len(known) else "n/a"
            print(
                f"{kind:<24}{planted:<22}{found.mean():>5.2f}{median.mean():>15.2f}"
                f"{false.mean():>18.3f}{start:>22}",
                flush=True,
            )
