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


FATES = {
    **{"ok": 0.5, "late": 0.15, "long": 0.03, "queued": 0.02, "EIO": 0.04, "late EIO": 0.02},
    **{"skipped": 0.05, "timeout": 0.05, "lost": 0.02, "pending": 0.04, "short": 0.03},
    **{"shed": 0.03, "missed": 0.02},
}
"""What may become of an operation, and how often. ``long``: it goes on when the next ones are due; ``queued``: only
because its thread waited for a CPU; ``missed``: the host kept the probe from it."""


def troubled(random, n, start_ns, op="md_stat", **changes):
    """``n`` samples, one a second, of which many go wrong in every way there is."""
    made = []
    fates = random.choice(list(FATES), n, p=list(FATES.values()))
    for i, fate in enumerate(fates):
        due = start_ns + i * SECOND
        began = due + (SECOND // 5 if "late" in fate else int(random.integers(0, SECOND // 10)))
        long = int(random.integers(1, 4)) * SECOND if fate in ("long", "queued") else 0
        ended = began + int(random.lognormal(13, 0.5)) + long
        one = row(due, 1, op=op, began_ns=began, ended_ns=ended, **changes)
        one["control_runq_ns"] = long if fate == "queued" else 0
        words = {"late EIO": "EIO", "lost": "timeout", "missed": "shed"}
        outcome = words.get(fate, "ok" if fate in ("late", "long", "queued") else fate)
        one["outcome"] = str(outcome)
        if fate in ("skipped", "shed", "missed"):
            one["began_ns"] = None
        if fate in ("lost", "pending", "shed", "missed"):
            one["ended_ns"] = None
        if fate == "shed":
            one["control_runq_ns"] = None
        made.append(one)
    return made


def service(sample):
    return sample["ended_ns"] - sample["began_ns"] if sample["outcome"] == "ok" else None


def late(sample):
    begun = sample["began_ns"]
    return begun is not None and begun - sample["due_ns"] > sample["period_ns"] / 10


def with_held_up(samples):
    """The samples; those that ended ok and began late know whether one before them of their series still went on."""
    free = {}
    for sample in sorted(samples, key=lambda one: one["due_ns"]):
        key = tuple(sample[name] for name in SERIES)
        well = sample["outcome"] == "ok" and late(sample)
        sample["held_up"] = well and free.get(key, -math.inf) > sample["due_ns"]
        if sample["began_ns"] is not None and sample["ended_ns"] is not None:
            freed = sample["ended_ns"] - (sample["control_runq_ns"] or 0)
            free[key] = max(free.get(key, -math.inf), freed)
    return samples


def response(sample):
    if sample["outcome"] in ("skipped", "timeout") or sample["held_up"]:
        return None if sample["ended_ns"] is None else sample["ended_ns"] - sample["due_ns"]
    return service(sample)


def lost(sample):
    return sample["outcome"] != "shed" and (sample["outcome"] != "ok" or sample["held_up"])


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
    for sample in with_held_up(samples):
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
        "n_late": sum(
            one["outcome"] == "ok" and late(one) and not one["held_up"] for one in samples
        ),
        "n_missed": sum(
            one["outcome"] == "shed" and one["control_runq_ns"] is not None for one in samples
        ),
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
