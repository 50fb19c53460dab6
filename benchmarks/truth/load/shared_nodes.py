"""Operations of jobs on exclusive and shared nodes, where jobs come in bursts (``worlds``).

    python -m benchmarks shared_nodes [--seeds 10]

error     sum of absolute errors over the sum of operations, of jobs
recall    of the ten jobs that did most
bounded   of the tenth that did most: whose operations lie within their bounds; width: of these over the operations
guess     part of the operations that is said to be divided by guess
"""

from __future__ import annotations

import numpy as np

from benchmarks.truth.load.worlds import day
from benchmarks.truth.shares import show
from iosonde.jobs.attribution.shares import shares

TEN = 10


def rows(seed: int) -> list[tuple[object, ...]]:
    """Of one day: exclusive nodes, then shared ones."""
    made = day(seed)
    names = made.joined.allocations.job_id.astype(str)
    done = {one.who: one for one in shares(made.joined).ranked}
    found = []
    for kind, place in (("exclusive", ~made.shared), ("shared", made.shared)):
        mine, truth = names[place], made.truth[place]
        every = [done.get(name) for name in mine]
        ops, least, most, guess = (
            np.array([getattr(one, part) if one else 0.0 for one in every])
            for part in ("ops", "least", "most", "guessed")
        )
        top = np.argsort(-truth)[: max(1, int((truth > 0).sum()) // TEN)]
        inside = (least[top] <= 1.02 * truth[top]) & (truth[top] <= 1.02 * most[top])
        ten = set(np.argsort(-truth)[:TEN]) & set(np.argsort(-ops)[:TEN])
        found.append(
            (
                *(seed, kind, float(np.abs(ops - truth).sum() / truth.sum()), len(ten) / TEN),
                *(float(inside.mean()), float(np.median((most - least)[top] / truth[top]))),
                float(guess.sum() / ops.sum()),
            )
        )
    return found


def main(seeds: int = 10, first: int = 0) -> None:
    """Print two rows a seed."""
    show(
        ("seed", "nodes", "error", "recall", "bounded", "width", "guess"),
        (row for seed in range(first, first + seeds) for row in rows(seed)),
    )
