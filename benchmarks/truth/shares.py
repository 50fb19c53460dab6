"""From scenarios to a table: a verdict a seed, shares of verdicts, lines of Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np


def shares(judge: Callable[[int], object], seeds: int, first: int = 0) -> np.ndarray:
    """Means over seeds of a verdict: one flag, or several flags or numbers."""
    every = [np.atleast_1d(np.asarray(judge(seed), float)) for seed in range(first, first + seeds)]
    return np.mean(every, axis=0)


def show(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table line by line as its rows come; floats with two digits."""
    print(f"| {' | '.join(head)} |\n" + "|---" * len(head) + "|")
    for row in rows:
        cells = (f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row)
        print(f"| {' | '.join(cells)} |", flush=True)
