"""N and M of the queue model, fitted to simulated reads, and reads it must refuse.

    python -m benchmarks queue_fit [KIND ...] [--seeds 100]

A row a kind: seeds, how many the model explained, how many had N and M within 10%, CPU seconds of a fit.
Ctrl-C ends a kind with the seeds that are done.
"""

import contextlib
import time

from iosonde.queue.fit import fit
from tests.kit.samples.queue_reads import KINDS, known_reads

CLOSE = 0.10


def main(*kinds: str, seeds: int = 100) -> None:
    """Print a table."""
    print(f"{'kind':10}{'seeds':>7}{'explained':>11}{'N, M close':>12}{'s a fit':>9}")
    for kind in kinds or KINDS:
        print(_row(kind, seeds), flush=True)


def _row(kind: str, seeds: int) -> str:
    explained = close = done = 0
    began = time.process_time()
    with contextlib.suppress(KeyboardInterrupt):
        for seed in range(seeds):
            truth = known_reads(kind, seed)
            found = fit(truth.latency_s, truth.load_per_s, seed=seed + 1, intervals=False)
            explained += found.explained
            off = (found.model.service_s / truth.service_s, found.model.queue / truth.queue)
            close += all(abs(ratio - 1) <= CLOSE for ratio in off)
            done += 1
    spent = (time.process_time() - began) / max(done, 1)
    told = str(close) if kind == "queue" else "-"
    return f"{kind:10}{done:>7}{explained:>11}{told:>12}{spent:>9.1f}"
