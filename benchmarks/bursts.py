"""How often ``bursts`` finds what was planted, and what was not.

    python -m benchmarks.bursts [--runs 100] [--seed 500]

A run is 12 000 operations of one op in 20 s; a planted burst multiplies the latency of a share of them for one second.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from iosonde.weather.bursts.search import BurstsFound, find_bursts, windows_for

N, SPAN_S = 12_000, 20.0
BURST_S = (8.0, 9.0)
KINDS = (
    "lognormal",
    "1 % in a slow mode",
    "5 % in a slow mode",
    "10 % in a slow mode",
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=500)
    args = parser.parse_args()
    print(f"{args.runs} runs a row, seed {args.seed}\n")
    print(f"{'run':<24}{'planted':<22}found  by the median  false ones a run  start error (median)")
    rng = np.random.default_rng(args.seed)
    for kind in KINDS:
        for share, factor in ((0.0, 1.0), *PLANTED):
            rows = [hit(searched(rng, kind, share, factor)) for _ in range(args.runs)]
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


if __name__ == "__main__":
    main()
