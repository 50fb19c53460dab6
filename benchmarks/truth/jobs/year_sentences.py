"""Sentences of `explain` about the jobs of a year: length, broken groups called usual.

    python -m benchmarks year_sentences [--table TABLE] [--every N] [--first N]

Every Nth job of the table from the first on (1: all). The table is the published one that ``year_table`` takes. A group
of metrics may be called as usual only where each of its metrics was measured in the run and has no flag that says it
was not.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from iosonde.connectors.source import Settings
from iosonde.jobs.explain.explain import Explanation, explain
from iosonde.jobs.explain.measured_groups import ASKED, BROKEN
from iosonde.jobs.explain.shortened import LONGEST, MOST_WORDS
from iosonde.jobs.explain.words import JobVerdict, judge
from iosonde.jobs.table.leakage import judged
from iosonde.jobs.table.runs import run_names
from iosonde.jobs.table.source import from_files
from iosonde.model.jobs import JobTable
from tests.kit.samples.latencies import DATA

YEAR = DATA / "umami/tables/year_edison.csv.gz"
_GROUPS = {name: group for group, name in ASKED.items()}


class Told(NamedTuple):
    """What was said of one run. ``wrong``: groups that it calls as usual though something of them is broken."""

    row: int
    verdict: str
    sentence: str
    wrong: tuple[str, ...]


def broken_but_usual(found: Explanation, verdict: JobVerdict) -> tuple[str, ...]:
    """Groups that a verdict calls as usual although a metric of them was missing, over-covered or dead."""
    wrong = []
    for name in verdict.looked.as_usual:
        members = [c for c in found.candidates if c.about.group == _GROUPS.get(name, "cpu")]
        asked = [c for c in members if not c.leak]
        if not all(np.isfinite(c.stood.value) and BROKEN.isdisjoint(c.flags) for c in asked):
            wrong.append(name)
    return tuple(wrong)


def tell(table: JobTable, rows: list[int]) -> list[Told]:
    """Explain the runs of some rows of a table whose metrics are ``judged``."""
    names = run_names(table, np.array(rows, dtype=np.intp))
    told = []
    for row, name in zip(rows, names, strict=True):
        found = explain(table, str(table.job_id[row]), name or None)
        verdict = judge(found)
        wrong = broken_but_usual(found, verdict)
        told.append(Told(row, verdict.verdict, verdict.sentence, wrong))
    return told


def read(path: Path) -> JobTable:
    """The table, with its metrics as they are judged."""
    return judged(from_files([path], [], Settings(), lambda _: None))


def main(table: Path = YEAR, every: int = 1, first: int = 0) -> None:
    """Print a line a verdict."""
    jobs = read(table)
    told = tell(jobs, list(range(first, len(jobs), every)))
    print(f"{len(told)} of {len(jobs)} jobs, from {first}, every {every}")
    print(f"{'':20}{'jobs':>7}{'words':>7}{'most':>6}{'characters':>12}{'most':>6}{'broken':>8}")
    for verdict in (*dict.fromkeys(sorted(one.verdict for one in told)), "all"):
        some = [one for one in told if verdict in (one.verdict, "all")]
        words = [len(one.sentence.split()) for one in some]
        signs = [len(one.sentence) for one in some]
        wrong = sum(bool(one.wrong) for one in some)
        print(
            f"{verdict:20}{len(some):7d}{np.median(words):7.0f}{max(words):6d}"
            f"{np.median(signs):12.0f}{max(signs):6d}{wrong:8d}"
        )
    print(f"aims: median of words <= {MOST_WORDS}, characters <= {LONGEST}, broken 0")
