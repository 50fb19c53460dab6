"""Why was this job slow, on made histories: what explain says of sizes, new values, dead monitors, counts, losses."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from benchmarks.truth.jobs import slow_jobs as jobs
from benchmarks.truth.target import Row, share
from iosonde.jobs.correlate.correlate import correlate
from iosonde.jobs.correlate.words import say_doubt
from iosonde.jobs.explain.explain import explain
from iosonde.jobs.explain.words import JobVerdict, judge
from iosonde.jobs.table.derived import with_derived
from iosonde.jobs.table.leakage import judged
from iosonde.model.jobs import JobTable

LONGEST = 200


def why_slow(seed: int, scale: float = 1.0) -> list[Row]:
    """All of it: a line a case, a column a distribution."""
    rows = []
    for name, draw in jobs.DRAWS.items():
        random = np.random.default_rng(seed)
        for part in (_sizes, _unseen, _nulls, _unmeasured, _counts, _twins, _shares):
            rows += part(random, draw, name, scale)
    return rows + _recorded(seed, scale)


def said(table: JobTable, job: str) -> JobVerdict:
    """What explain says of a run of a table as files and stores give it."""
    return judge(explain(judged(with_derived(table).table), job, history="all"))


def _row(what: str, hits: tuple[int, int], wanted: tuple[float, float], column: str) -> Row:
    """``hits``: of how many; ``wanted``: between these shares."""
    p, error = share(hits[0], max(1, hits[1]))
    return Row("why slow", what, p, *wanted, "-", "-", error, column)


def _sizes(random: np.random.Generator, draw: jobs.Draw, name: str, scale: float) -> list[Row]:
    better = called = reasoned = worst = missed = 0
    for _ in range(max(1, round(2 * scale))):
        table, place = jobs.of_two_sizes(random, draw)
        ready = judged(with_derived(table).table)
        for row in range(len(table)):
            small = place[row] < 1
            if (small and place[row] < 0.5) or (not small and place[row] > 2.1):
                continue
            verdict = judge(explain(ready, str(row), history="all"))
            slow = verdict.verdict == "slow"
            if small:
                better, called = better + 1, called + slow
                reasoned += bool(verdict.data()["backed"])
            else:
                worst, missed = worst + 1, missed + (not slow)
    return [
        _row("1 small jobs in the better half called slow", (called, better), (0, 0.05), name),
        _row("1 ... with a backed reason", (reasoned, better), (0, 0.05), name),
        _row("1 large jobs in the worst tenth missed", (missed, worst), (0, 0.10), name),
    ]


def _unseen(random: np.random.Generator, draw: jobs.Draw, name: str, scale: float) -> list[Row]:
    rows = []
    times = max(10, round(100 * scale))
    for n in (8, 30, 90, 200):
        first = 0
        for _ in range(times):
            table, cause = jobs.never_seen(random, draw, n)
            verdict = said(table, str(n))
            first += cause in [one.metric for one in verdict.told[:3]]
        rows.append(
            _row(f"2 new value among the first three, n = {n}", (first, times), (0.8, 1), name)
        )
    return rows


def _nulls(random: np.random.Generator, draw: jobs.Draw, name: str, scale: float) -> list[Row]:
    slow = claims = 0
    for n in (8, 15, 30, 90):
        for _ in range(max(10, round(60 * scale))):
            verdict = said(jobs.of_nothing(random, draw, n), str(n))
            slow += verdict.verdict == "slow"
            claims += bool(verdict.data()["backed"])
    return [
        _row("2 null histories: slow runs with a backed reason", (claims, slow), (0, 0.03), name)
    ]


def _unmeasured(random: np.random.Generator, draw: jobs.Draw, name: str, scale: float) -> list[Row]:
    rows = []
    times = max(5, round(30 * scale))
    for how, group in (
        ("missing", "server CPU"),
        ("dead", "server CPU"),
        ("over-covered", "contention"),
    ):
        wrong = 0
        for _ in range(times):
            wrong += _as_usual(said(jobs.unmeasured(random, draw, how), "59"), group)
        rows.append(_row(f"3 {how}: {group} as usual", (wrong, times), (0, 0), name))
    zeros = of = 0
    for _ in range(times):
        table = with_derived(jobs.unmeasured(random, draw, "all over-covered")).table
        column = table.metrics["others_bytes_per_s"]
        zeros, of = zeros + int((column == 0).sum()), of + len(column)
    rows.append(
        _row("3 all over-covered: rows with no traffic of others", (zeros, of), (0, 0), name)
    )
    return rows


def _as_usual(verdict: JobVerdict, group: str) -> bool:
    """Whether a group is called as usual in any line."""
    text = " ; ".join((verdict.sentence, *verdict.lines()))
    return any(group in part for part in re.findall(r"as usual: ([^;]*)", text))


def _counts(random: np.random.Generator, draw: jobs.Draw, name: str, scale: float) -> list[Row]:
    times = max(5, round(40 * scale))
    backed = differ = 0
    for _ in range(times):
        table = jobs.counted(random, draw)
        verdict = said(table, "89")
        claimed = "lock_retries" in verdict.data()["backed"]  # type: ignore[operator]
        ready = judged(with_derived(table).table)
        (row,) = correlate(ready, "performance_bytes_per_s", ["lock_retries"], ()).rows
        backed += claimed
        differ += claimed == bool(say_doubt(row))
    return [
        _row("5 a count of the run time is a backed reason", (backed, times), (0, 0.05), name),
        _row("5 ... and correlate judges otherwise", (differ, times), (0, 0.05), name),
    ]


def _twins(random: np.random.Generator, draw: jobs.Draw, name: str, scale: float) -> list[Row]:
    times = max(5, round(40 * scale))
    twice = together = 0
    for _ in range(times):
        table, pair = jobs.twins(random, draw)
        verdict = said(table, "89")
        twice += set(pair) <= {one.metric for one in verdict.told}
        together += any("together" in line for line in (verdict.sentence, *verdict.lines()))
    return [
        _row("5 twins are two reasons", (twice, times), (0, 0.05), name),
        _row("5 twins are said to move together", (together, times), (0.9, 1), name),
    ]


def _shares(random: np.random.Generator, draw: jobs.Draw, name: str, scale: float) -> list[Row]:
    times = max(5, round(40 * scale))
    told = inside = backed = 0
    longest = 0
    for form in jobs.FORMS:
        for n in (30, 90, 200):
            for _ in range(max(2, times // 3)):
                table, cause, truth = jobs.lost(random, draw, form, n)
                verdict = said(table, str(n))
                longest = max(longest, len(verdict.sentence))
                if cause not in verdict.data()["backed"]:  # type: ignore[operator]
                    continue
                backed += 1
                for metric, _, low, high in getattr(verdict, "shares", ()):
                    if metric == cause:
                        told += 1
                        inside += low - 0.005 <= truth <= high + 0.005
    return [
        _row("6 causes that are backed have a share", (told, backed), (0.95, 1), name),
        _row("6 its 90% interval holds the share", (inside, told), (0.85, 1), name),
        Row("why slow", "6 longest sentence, characters", longest, 0, LONGEST, "-", "-", 0, name),
    ]


def _recorded(seed: int, scale: float) -> list[Row]:
    """Real metrics, performance of other runs; and the sentences of 200 real jobs."""
    folder = Path(os.environ.get("IOSONDE_DATA", "../shared/data")) / "umami" / "tables"
    random = np.random.default_rng(seed)
    slow = claims = 0
    for table in jobs.recorded_null(random, folder / "year_edison.csv.gz", None, 24):
        ids = random.choice(len(table), max(2, round(10 * scale)), replace=False)
        for row in ids.tolist():
            step = f"#{int((table.job_id[: row + 1] == table.job_id[row]).sum())}"
            verdict = judge(explain(table, str(table.job_id[row]), step, history="all"))
            slow += verdict.verdict == "slow"
            claims += bool(verdict.data()["backed"])
    what = "2 null histories: slow runs with a backed reason"
    return [_row(what, (claims, slow), (0, 0.03), "real metrics")] if slow else []
