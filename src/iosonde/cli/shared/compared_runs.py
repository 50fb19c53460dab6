"""``iosonde compare`` of benchmark runs: recognition of run names, and the answer as text or data."""

from __future__ import annotations

import argparse
import difflib
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from iosonde.bench.compare.answers import RunComparison, compare_runs
from iosonde.bench.compare.words import HEAD, run_cells, runs_json, say_notes, say_runs, say_side
from iosonde.bench.runs.store import StoredRun, read_runs
from iosonde.cli.shared import options
from iosonde.cli.shared.named_run import run_named
from iosonde.cli.shared.text import table, wrapped
from iosonde.engine.files import write_frame
from iosonde.model.errors import UsageError
from iosonde.model.frames import Frame
from iosonde.weather.samples.periods import runs as sampled_runs
from iosonde.weather.selectors import spellings
from iosonde.weather.store import Store

SCHEMA_VERSION = 2
_PREFIX = "run:"
_NEAR = 0.8

Sides = tuple[list[StoredRun], list[StoredRun]]


def run_sides(store: Store, words: tuple[str, str]) -> Sides | None:
    """Runs of both sides, each a run or several with commas; None if samples are meant.

    Words that name samples (a target, a run of theirs by its whole id, a period) go there. Raises UsageError.
    """
    if any("@" in word for word in words):
        return None
    each = [[one.strip().removeprefix(_PREFIX) for one in word.split(",")] for word in words]
    sampled = {run.run_id for run in sampled_runs(store.root)}
    known = sampled | {ref.target for ref in store.targets()}
    if all(spellings(one) & known for side in each for one in side):
        return None
    every = {run.run_id: run for run in read_runs(store.root)}
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


def _suggest(words: Sequence[str], runs: list[str], known: set[str]) -> None:
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
    found = compare_runs(root, *sides, args.margin, args.op or None)
    if args.format == "table":
        _print(found)
    elif args.format == "json":
        text = json.dumps({"schema_version": SCHEMA_VERSION, **runs_json(found)}, indent=2) + "\n"
        options.put_text(text, args.output)
    else:
        _write_csv(found, args)
    return 0


def _print(found: RunComparison) -> None:
    for name, side in (("A", found.a), ("B", found.b)):
        print("\n".join(wrapped(say_side(side), f"{name}: ")))
    print()
    for text in say_runs(found):
        print("\n".join(wrapped(text, "", "  ")))
    print("\n" + table(HEAD, run_cells(found), left=3, worth=("A", "B")))
    for place, note in enumerate(say_notes(found)):
        print("\n".join(wrapped(note, ("" if place else "\n") + "note: ", "  ")))


def _write_csv(found: RunComparison, args: argparse.Namespace) -> None:
    rows = [(one, ratio) for one in found.verdicts for ratio in one.measures]
    columns = {
        "phase": [one.subject.phase for one, _ in rows],
        "op": [one.subject.op for one, _ in rows],
        "verdict": [one.verdict for one, _ in rows],
        "measure": [ratio.measure.column for _, ratio in rows],
    }
    frame = {name: np.array(values, dtype=object) for name, values in columns.items()}
    numbers = ("a", "b", "ratio", "lower", "upper", "p_value", "smallest")
    frame |= {name: np.array([getattr(ratio, name) for _, ratio in rows]) for name in numbers}
    with tempfile.TemporaryDirectory() as folder:
        path = args.output or Path(folder) / "out"
        write_frame(Frame(frame), path, "csv")
        if args.output is None:
            options.copy_to_stdout(path)
        else:
            options.note(f"wrote {args.output}")
