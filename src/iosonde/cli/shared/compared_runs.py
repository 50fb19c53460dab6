"""``iosonde compare`` of benchmark runs: recognition of run names, and the answer as text or data."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from pathlib import Path

from iosonde.bench.compare.answers import StoredRun, compare_runs, read_runs
from iosonde.cli.shared.named_run import run_named
from iosonde.cli.shared.render import show
from iosonde.model.errors import UsageError
from iosonde.model.names import spellings
from iosonde.weather.stored.answers import sampled_names

_PREFIX = "run:"
_NEAR = 0.8

Sides = tuple[list[StoredRun], list[StoredRun]]


def run_sides(root: Path, words: tuple[str, str]) -> Sides | None:
    """Runs of both sides, each a run or several with commas; None if samples are meant.

    Words that name samples (a target, a run of theirs by its whole id, a period) go there. Raises UsageError.
    """
    if any("@" in word for word in words):
        return None
    each = [[one.strip().removeprefix(_PREFIX) for one in word.split(",")] for word in words]
    sampled = sampled_names(root)
    known = sampled.run_ids | sampled.targets
    if all(spellings(one) & known for side in each for one in side):
        return None
    every = {run.run_id: run for run in read_runs(root)}
    found = [[_run(one, every) for one in side] for side in each]
    runs = [[run for run in side if run is not None] for side in found]
    if not any(runs):
        _suggest([one for side in each for one in side], list(every), known)
        return None
    for side, names in zip(found, each, strict=True):
        for run, name in zip(side, names, strict=True):
            if run is None:
                near = difflib.get_close_matches(name, list(every), n=1, cutoff=_NEAR)
                raise UsageError(
                    f"{name!r} is no benchmark run, the other side is one",
                    expected="runs on both sides",
                    hint=repr(near[0]) if near else "'iosonde runs'",
                )
    return runs[0], runs[1]


def _run(word: str, every: dict[str, StoredRun]) -> StoredRun | None:
    if not any(name.startswith(word.partition("…")[0]) for name in every):
        return None
    return every[run_named(word, list(every))]


def _suggest(words: Sequence[str], runs: list[str], known: frozenset[str]) -> None:
    """Suggest a run for a word that is nearly one and nothing else."""
    for word in words:
        near = difflib.get_close_matches(word, runs, n=1, cutoff=_NEAR)
        if near and not spellings(word) & known:
            raise UsageError(f"there is no run {word!r}", hint=repr(near[0]))


def compare_named_runs(root: Path, sides: Sides, args: argparse.Namespace) -> int:
    """Print the verdict of each subject, or the numbers as data."""
    if args.plot is not None or args.quantiles:
        raise UsageError(
            "--plot and --quantiles are for samples",
            expected="runs with --samples, by the id of a phase: RUN-benchmark",
            hint="'iosonde report RUN' has the pictures of a run",
        )
    show(compare_runs(root, sides, args.margin, args.op or None), args)
    return 0
