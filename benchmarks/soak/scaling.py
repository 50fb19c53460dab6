"""Load of a centre's agents on the storage within one period.

``python -m benchmarks scaling --hosts 10000 --targets 4`` computes when every agent of a centre strikes (the same
arithmetic as the agent's: a test compares), for names of hosts as centres have them, and prints operations in bins of
the period: mean, highest, and the highest that random moments would give in 1 of 100 centres.
"""

from __future__ import annotations

import zlib

import numpy as np

OPS = 6
BINS = 1000
SECOND_NS = 1_000_000_000
SEEDS = 200
NAMES = {
    "n00001": lambda i: f"n{i:05d}",
    "nid001234": lambda i: f"nid{i:06d}",
    "r1i2n3 (racks)": lambda i: f"r{i // 288}i{i // 18 % 16}n{i % 18}",
    "node-1.cluster.example": lambda i: f"node-{i}.cluster.example",
    "c1-2c0s3n1 (cabinets)": lambda i: (
        f"c{i // 1536}-{i // 192 % 8}c{i // 64 % 3}s{i // 4 % 16}n{i % 4}"
    ),
}


def offset_ns(host: str, target: str, period_ns: int) -> int:
    """The moment of the period at which a host begins to probe a target, as ``supervisor.rs`` has it."""
    return (zlib.crc32(f"{host}\0{target}".encode()) * period_ns) >> 32


def moments(hosts: list[str], targets: list[str], period_ns: int) -> np.ndarray:
    """Moments within the period of every operation of every host, ns."""
    first = [offset_ns(host, target, period_ns) for host in hosts for target in targets]
    steps = period_ns // OPS * np.arange(OPS)
    return ((np.array(first)[:, None] + steps) % period_ns).ravel()


def highest(moments_ns: np.ndarray, period_ns: int) -> int:
    """Operations in the fullest of ``BINS`` bins of the period."""
    return int(np.bincount(moments_ns * BINS // period_ns, minlength=BINS).max())


def by_chance(n: int, period_ns: int) -> int:
    """What 99 of 100 centres stay below whose agents begin at random moments."""
    steps = period_ns // OPS * np.arange(OPS)
    fullest = []
    for seed in range(SEEDS):
        first = np.random.default_rng(seed).integers(0, period_ns, n)
        fullest.append(highest(((first[:, None] + steps) % period_ns).ravel(), period_ns))
    return int(np.quantile(fullest, 0.99))


def main(
    hosts: int = 10_000,
    targets: int = 4,
    period: int = 60,  # seconds
) -> None:
    """Print the table."""
    period_ns = period * SECOND_NS
    paths = [f"/fs{number}" for number in range(targets)]
    total = hosts * targets * OPS
    print(
        f"{hosts} hosts, {targets} targets, a period of {period} s: "
        f"{total / period:,.0f} operations/s; bins of {period * 1000 / BINS:g} ms"
    )
    print(
        f"{'names of hosts':<28} {'mean':>8} {'fullest':>8} {'by chance':>10} {'all at once':>12}"
    )
    chance = by_chance(hosts * targets, period_ns)
    for words, name in NAMES.items():
        found = moments([name(i) for i in range(hosts)], paths, period_ns)
        fullest = highest(found, period_ns)
        print(f"{words:<28} {total / BINS:>8.1f} {fullest:>8} {chance:>10} {total // OPS:>12,}")
