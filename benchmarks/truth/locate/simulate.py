"""Runs on a simulated system: files of a target share its rate, faults and noise multiply it (generator G6)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.truth.locate.systems import System, ost
from iosonde.model.arrays import Floats, Ints
from iosonde.model.transfers import BIN_NS, BinnedRates, Stripes, Transfers

FILE_BYTES = 3_221_225_472
OST_BYTES_PER_S = 0.675e9
START_NS = 1_365_558_598_000_000_000
GROUP_NOISE = (0.01, 0.03)
"""Of router groups, write and read: where the job's nodes lie in the network."""


@dataclass(frozen=True)
class Noise:
    """What differs without any fault. Standard deviations are of logarithms."""

    file: float = 0.05
    ost: float = 0.02
    repetitions: int = 1
    files_per_ost: int = 8
    slope: float = 0.0
    """Share of the rate that the innermost tracks lack."""
    position_known: bool = True
    stragglers: float = 0.0
    """Share of transfers that take a Pareto factor (1.5) longer."""
    load: bool = False
    """Others load servers, which change every ten seconds."""
    old_share: float = 0.0
    """Share of failover pairs of an older generation, which moves 0.7 of the rate."""
    topology: bool = True
    balanced: bool = True
    client_limited: bool = False
    """A client, not the target, limits each file."""
    rates: bool = False
    """Bytes over time are known, dip or not."""
    restless: float = 0.0
    """Standard deviation of a server's rate over time: heavy-tailed, half of it left after a second."""
    tails: bool = False
    """Targets differ as Student's t with four degrees of freedom."""


@dataclass(frozen=True)
class Fault:
    """Rate factors: ``ost`` (2, osts) by direction, ``host`` by number, ``dip``: (oss or -1, begin, length, factor)."""

    ost: Floats
    host: dict[int, float] = field(default_factory=dict)
    dip: tuple[int, float, float, float] | None = None


def run(machine: System, noise: Noise, fault: Fault, rng: np.random.Generator) -> Transfers:
    """Every file written and read in every repetition."""
    target = _allocated(machine, noise, rng)
    ranks, place = len(target), rng.random(machine.osts)
    position = np.clip(place[target] + rng.normal(0, 0.01, ranks), 0, 1)
    old = rng.permutation(machine.pair[-1] + 1) < noise.old_share * (machine.pair[-1] + 1)
    base = fault.ost * np.where(old[machine.pair[machine.oss]], 0.7, 1.0)
    parts, rates, now = [], [], START_NS
    for repetition in range(noise.repetitions):
        for direction in (0, 1):
            rate = base[direction] * _drawn(machine, noise, direction, rng)
            took = _took(machine, noise, rate, target, place=place, rng=rng)
            took *= np.array([1 / fault.host.get(rank // 4, 1.0) for rank in range(ranks)])
            begin = rng.uniform(0, 0.05, ranks)
            if fault.dip is not None or noise.rates:
                dip = fault.dip or (-2, 0.0, 0.0, 1.0)
                hit = (machine.oss[target] == dip[0]) | (dip[0] == -1)
                binned = _binned(took, hit, dip, direction, rng)
                binned = _restless(binned, machine.oss[target], noise.restless, rng)
                rates.append((repetition, direction, now, *binned))
                took = np.where(hit, _warped(took, dip, direction), took)
            parts.append((repetition, direction, now + (begin * 1e9).astype(np.int64), took))
            now += int((begin + took).max() * 1e9) + 2_000_000_000
    return _transfers(
        parts, rates, target, position if noise.position_known else None, machine.osts
    )


def healthy(machine: System) -> Fault:
    """No fault."""
    return Fault(np.ones((2, machine.osts)))


def with_ost(
    fault: Fault, chosen: Floats | Ints, factor: float, directions: tuple[int, ...] = (0, 1)
) -> Fault:
    """``factor`` on some targets."""
    rate = fault.ost.copy()
    for direction in directions:
        rate[direction, chosen] *= factor
    return replace(fault, ost=rate)


def _allocated(machine: System, noise: Noise, rng: np.random.Generator) -> Ints:
    n, files = machine.osts, noise.files_per_ost
    if not noise.balanced:
        return rng.choice(n, n * files, p=rng.dirichlet(np.full(n, 3.0))).astype(np.int64)
    order = np.arange(n)
    if rng.random() < 0.5:  # round robin over servers, not over targets
        order = np.lexsort((machine.oss, np.arange(n) % np.bincount(machine.oss).max()))
    return np.tile(order, files).astype(np.int64)


def _drawn(machine: System, noise: Noise, direction: int, rng: np.random.Generator) -> Floats:
    """Rate factors of targets in one phase of one repetition."""
    own = (
        rng.standard_t(4, machine.osts) / np.sqrt(2)
        if noise.tails
        else rng.normal(size=machine.osts)
    )
    log = noise.ost * own
    log += rng.normal(0, GROUP_NOISE[direction], machine.group.max() + 1)[machine.groups()]
    rate = np.exp(log)
    if noise.load:
        slots = 6
        lost = rng.random((slots, machine.oss[-1] + 1)) < 0.15
        depth = rng.uniform(0.2, 0.6, lost.shape) * lost
        rate *= (1 - depth.mean(0))[machine.oss]
    return rate


def _took(
    machine: System,
    noise: Noise,
    rate: Floats,
    target: Ints,
    *,
    place: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Seconds of each file: files of a target share its rate by weight until they end."""
    weight = np.exp(rng.normal(0, noise.file, len(target)))
    count = np.maximum(np.bincount(target, minlength=machine.osts), 1)
    mean = np.bincount(target, weight, machine.osts) / count
    total = OST_BYTES_PER_S * rate * (1 - noise.slope * place) * np.where(mean > 0, mean, 1.0)
    if noise.client_limited:
        took = FILE_BYTES / (total[target] / noise.files_per_ost * weight)
    else:
        took = _shared(target, weight, total)
    slow = rng.random(len(target)) < noise.stragglers
    return np.where(slow, took * np.minimum((1 - rng.random(len(target))) ** (-1 / 1.5), 20), took)


def _shared(target: Ints, weight: Floats, total: Floats) -> Floats:
    order = np.lexsort((-weight, target))
    t, w = target[order], weight[order]
    first = np.r_[True, t[1:] != t[:-1]]
    start = np.flatnonzero(first)[np.cumsum(first) - 1]
    before = np.cumsum(w) - w
    sums = np.bincount(t, w, len(total))
    active = sums[t] - (before - before[start])
    virtual = 1 / w
    step = virtual - np.where(first, 0.0, np.r_[0.0, virtual[:-1]])
    done = np.cumsum(step * active)
    seconds = FILE_BYTES / total[t] * (done - done[start] + (step * active)[start])
    out = np.empty(len(target))
    out[order] = seconds
    return out


def _warped(seconds: Floats, dip: tuple[int, float, float, float], direction: int) -> Floats:
    _, begin, length, factor = dip
    if direction == 1:
        return seconds
    inside = begin + (seconds - begin) / factor
    return np.where(
        seconds < begin,
        seconds,
        np.where(seconds < begin + factor * length, inside, seconds + length * (1 - factor)),
    )


def _binned(
    took: Floats,
    hit: Floats | np.ndarray,
    dip: tuple[int, float, float, float],
    direction: int,
    rng: np.random.Generator,
) -> tuple[Ints, Ints, Ints]:
    """rank, bin, bytes of one phase: the dip is in writes."""
    width = BIN_NS / 1e9
    ends = _warped(took, dip, direction)
    bins = int(np.ceil(max(took.max(), ends.max()) / width)) + 1
    edges = np.arange(bins + 1) * width
    _, begin, length, factor = dip
    service = edges.copy()
    if direction == 0:
        service = np.where(
            edges < begin,
            edges,
            np.where(
                edges < begin + length,
                begin + (edges - begin) * factor,
                edges - length * (1 - factor),
            ),
        )
    out = []
    for some, clock in ((hit, service), (~np.asarray(hit), edges)):
        rows = np.flatnonzero(some)
        done = np.minimum(clock[None, :] / took[rows, None], 1.0)
        moved = np.diff(done, axis=1) * np.exp(rng.normal(0, 0.1, (len(rows), bins)))
        moved *= FILE_BYTES / np.maximum(moved.sum(1, keepdims=True), 1e-12)
        rank, cell = np.nonzero(moved > 0)
        out.append((rows[rank], cell, moved[rank, cell].astype(np.int64)))
    return tuple(np.concatenate(column) for column in zip(*out, strict=True))  # type: ignore[return-value]


def _restless(
    binned: tuple[Ints, Ints, Ints], oss: Ints, spread: float, rng: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Bytes of bins with what servers do of themselves: AR(1) over bins of 0.25 s, Student's t with 5 degrees."""
    if not spread:
        return binned
    rank, cell, size = binned
    keep = 0.5**0.25
    steps = rng.standard_t(5, (int(cell.max()) + 1, int(oss.max()) + 1)) * np.sqrt(
        0.6 * (1 - keep**2)
    )
    log = np.zeros(steps.shape[1])
    every = np.empty_like(steps)
    for at, step in enumerate(steps):
        log = keep * log + step
        every[at] = log
    return rank, cell, (size * np.exp(spread * every[cell, oss[rank]])).astype(np.int64)


def _transfers(
    parts: list, rates: list, target: Ints, position: Floats | None, osts: int
) -> Transfers:
    ranks, many = len(target), len(parts)
    rank = np.tile(np.arange(ranks), many)
    begin = np.concatenate([part[2] for part in parts])
    took = np.concatenate([part[3] for part in parts])
    one = [np.full(len(entry[3]), entry[0]) for entry in rates]
    binned = None
    if rates:
        binned = BinnedRates(
            np.concatenate(one),
            np.concatenate([np.full(len(entry[3]), entry[1]) for entry in rates]),
            np.concatenate([entry[3] for entry in rates]),
            np.concatenate([entry[2] + entry[4] * BIN_NS for entry in rates]),
            np.concatenate([entry[5] for entry in rates]),
        )
    return Transfers(
        run="simulated",
        repetition=np.repeat([part[0] for part in parts], ranks),
        direction=np.repeat([part[1] for part in parts], ranks),
        rank=rank,
        host=rank // 4,
        file=rank,
        bytes=np.full(ranks * many, FILE_BYTES),
        transfer_begin_ns=begin,
        transfer_end_ns=begin + (took * 1e9).astype(np.int64),
        stripes=Stripes.single(np.tile(target, many)),
        hosts=tuple(f"nid{number:05d}" for number in range(ranks // 4 + 1)),
        files=tuple(f"IOR.{number:08d}" for number in range(ranks)),
        targets=tuple(ost(number) for number in range(osts)),
        position=None if position is None else np.tile(position, many),
        rates=binned,
    )
