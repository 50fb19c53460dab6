"""What windows and roll-ups should say, worked out sample by sample with numpy and scipy."""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy import stats

from iosonde.model.frames import NULL_NS
from tests.kit.samples.makers import SECOND, row

LEVELS = [round(0.05 * i, 2) for i in range(1, 20)]
SERIES = ("host", "target", "op", "period_ns")


def troubled(random, n, start_ns, op="md_stat", **changes):
    """``n`` samples, one a second, of which many go wrong in every way there is."""
    made = []
    fates = random.choice(
        ["ok", "late", "EIO", "late EIO", "skipped", "timeout", "lost", "pending", "short", "shed"],
        n,
        p=[0.6, 0.1, 0.04, 0.02, 0.05, 0.05, 0.02, 0.04, 0.03, 0.05],
    )
    for i, fate in enumerate(fates):
        due = start_ns + i * SECOND
        began = due + (SECOND // 5 if "late" in fate else int(random.integers(0, SECOND // 10)))
        ended = began + int(random.lognormal(13, 0.5))
        one = row(due, 1, op=op, began_ns=began, ended_ns=ended, **changes)
        outcome = {"late": "ok", "late EIO": "EIO", "lost": "timeout"}.get(fate, fate)
        one["outcome"] = str(outcome)
        if fate in ("skipped", "shed"):
            one["began_ns"] = None
        if fate in ("lost", "pending", "shed"):
            one["ended_ns"] = None
        made.append(one)
    return made


def service(sample):
    return sample["ended_ns"] - sample["began_ns"] if sample["outcome"] == "ok" else None


def late(sample):
    begun = sample["began_ns"]
    return begun is not None and begun - sample["due_ns"] > sample["period_ns"] / 10


def response(sample):
    if sample["outcome"] in ("skipped", "timeout") or (sample["outcome"] == "ok" and late(sample)):
        return None if sample["ended_ns"] is None else sample["ended_ns"] - sample["due_ns"]
    return service(sample)


def lost(sample):
    return sample["outcome"] != "shed" and (sample["outcome"] != "ok" or late(sample))


@functools.cache
def bounds(n, q):
    cumulative = stats.binom(n, q).cdf(np.arange(n))
    lower = int(np.searchsorted(cumulative, 0.025, side="right"))
    upper = int(np.searchsorted(cumulative, 0.975, side="left")) + 1
    return lower, math.ceil(q * n - 1e-9), upper if upper <= n else 0


def level(values, q):
    values = sorted(values)
    if not values:
        return [-1, -1, -1]
    return [values[rank - 1] if rank else -1 for rank in bounds(len(values), q)]


def windows(samples, window_ns):
    """By (host, target, op, period_ns, start_ns): the samples of each window."""
    found = {}
    for sample in samples:
        start = sample["due_ns"] // window_ns * window_ns
        found.setdefault((*(sample[name] for name in SERIES), start), []).append(sample)
    return found


def known(samples, of):
    return [value for sample in samples if (value := of(sample)) is not None]


def expected(samples):
    """Counts and the block of levels of one window."""
    services, responses = known(samples, service), known(samples, response)
    return {
        "n_due": sum(sample["outcome"] != "shed" for sample in samples),
        "n_seen": len(services),
        "n_lost": sum(map(lost, samples)),
        "n_response": len(responses),
        "levels_ns": [level(services, q) for q in LEVELS],
        "response_ns": [level(responses, q) for q in (0.90, 0.95)],
    }


def bucket(ns):
    return math.ceil(math.log(ns) / math.log(1.02)) if ns > 1 else 0


def interval(samples):
    """What a roll-up should hold of one interval."""
    services, responses = known(samples, service), known(samples, response)
    return {
        "n_due": sum(sample["outcome"] != "shed" for sample in samples),
        "n_seen": len(services),
        "n_lost": sum(map(lost, samples)),
        "sum_ns": sum(services),
        "min_ns": min(services, default=NULL_NS),
        "max_ns": max(services, default=NULL_NS),
        "service": counted(services),
        "response": counted(responses),
    }


def counted(values):
    buckets, counts = np.unique([bucket(v) for v in values], return_counts=True)
    return dict(zip(buckets.astype(int).tolist(), counts.tolist(), strict=True))
