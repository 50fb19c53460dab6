"""Lasting changes that `climate` finds in public series that people annotated, beside "no change".

    python -m benchmarks annotated [--folder FOLDER]

Series of the Turing Change Point Dataset, each as the performance of one application, a run a day. F1 (margin of 5
values) and cover of the segments are those of van den Burg and Williams 2020, section 4: precision against the changes
of all annotators, recall and cover as means over annotators; the first value counts as a change that all name. A series
with values of 0 and below is shifted, as a rate is positive.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iosonde.jobs.climate.climate import climate
from iosonde.jobs.table.derived import with_derived
from iosonde.model.arrays import Floats
from iosonde.model.units import DAY_NS
from tests.kit.jobs.jobs_made import START_S, table
from tests.kit.samples.latencies import DATA

FOLDER = DATA / "labelled/change_points"
MARGIN = 5
_AIR = 0.1
"""Least value of a shifted series, in its range."""


class Score(NamedTuple):
    """F1 and cover, 0 to 1."""

    f1: float
    cover: float


def found_changes(values: Floats) -> list[int]:
    """Places of the first value after each lasting change of a series (n,); NaN is a day without a run."""
    known = np.isfinite(values)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    rate = values if low > 0 else values - low + _AIR * (high - low)
    days = np.flatnonzero(known)
    begins = [float(START_S + day * 86_400) for day in days]
    jobs = with_derived(table({"performance_bytes_per_s": rate[known]}, start_s=begins)).table
    changes = [change for one in climate(jobs).series for change in one.changes]
    return sorted(round((change.at_ns - START_S * 10**9) / DAY_NS) for change in changes)


def score(found: Iterable[int], annotated: Sequence[Sequence[int]], n: int) -> Score:
    """Of the places ``found``, against those of each annotator, in a series of ``n`` values."""
    mine = {0, *found}
    people = [{0, *one} for one in annotated]
    everybody = set().union(*people)
    precision = len(_hits(everybody, mine)) / len(mine)
    recall = float(np.mean([len(_hits(one, mine)) / len(one) for one in people]))
    cover = float(np.mean([_cover(one, mine, n) for one in people]))
    return Score(2 * precision * recall / (precision + recall), cover)


def _hits(true: set[int], found: set[int]) -> set[int]:
    """Places of ``true`` with one of ``found`` within the margin; each of these counts once."""
    left, hits = set(found), set()
    for place in sorted(true):
        near = [one for one in left if abs(one - place) <= MARGIN]
        if near:
            left.remove(min(near, key=lambda one: abs(one - place)))
            hits.add(place)
    return hits


def _cover(true: set[int], found: set[int], n: int) -> float:
    """Mean over true segments, by their length, of the largest overlap (Jaccard) with one that was found."""
    theirs, mine = (list(pairwise([*sorted(places), n])) for places in (true, found))
    return sum((b - a) * max(_jaccard((a, b), other) for other in mine) for a, b in theirs) / n


def _jaccard(one: tuple[int, int], other: tuple[int, int]) -> float:
    both = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return both / (max(one[1], other[1]) - min(one[0], other[0]))


def series_of(path: Path) -> Floats:
    """The first dimension of a series; missing is NaN."""
    raw = json.loads(path.read_text())["series"][0]["raw"]
    return np.array([np.nan if value is None else value for value in raw], dtype=np.float64)


def main(folder: Path = FOLDER) -> None:
    """Print a line a series, and the means."""
    annotations = json.loads((folder / "annotations.json").read_text())
    print(f"{'series':22}{'n':>5}{'found':>7}{'F1':>7}{'none':>7}{'cover':>8}{'none':>7}")
    scores = []
    for path in sorted(folder.glob("*.json")):
        if path.stem not in annotations:
            continue
        values = series_of(path)
        people = list(annotations[path.stem].values())
        found = found_changes(values)
        mine, none = (score(places, people, len(values)) for places in (found, ()))
        scores.append((*mine, *none))
        numbers = f"{mine.f1:7.2f}{none.f1:7.2f}{mine.cover:8.2f}{none.cover:7.2f}"
        print(f"{path.stem:22}{len(values):5}{len(found):7}{numbers}", flush=True)
    f1, cover, f1_none, cover_none = np.mean(scores, axis=0)
    print(f"{'mean':34}{f1:7.2f}{f1_none:7.2f}{cover:8.2f}{cover_none:7.2f}")
