"""List of jobs: newest or slowest first, filtered by words, time, user, account, node and file system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple

import numpy as np

from iosonde.connectors.scheduler.job_ids import step_of
from iosonde.jobs.table.derived import FRACTION, performances
from iosonde.jobs.table.runs import run_names
from iosonde.jobs.table.slowness import RATES, SLOW_AT, Slowness, slowness
from iosonde.model.advice import Advice, Argument
from iosonde.model.arrays import Ints, Places
from iosonde.model.errors import UsageError
from iosonde.model.frames import NULL_NS
from iosonde.model.jobs import JobTable
from iosonde.model.json_types import Instant, JsonObject

SCHEMA_VERSION = 3
Sort = Literal["time", "slowness"]


class JobFilter(NamedTuple):
    """Filter of jobs; None = any. ``words``: all of them occur in id, step, name, user, cluster, motif or file system.

    ``since_ns``, ``until_ns``: they ran in a part of [since, until). ``node``: one that they had, its domain aside.
    """

    words: Sequence[str] = ()
    since_ns: int | None = None
    until_ns: int | None = None
    user: str | None = None
    account: str | None = None
    node: str | None = None
    file_system: str | None = None
    slow: bool = False
    """Only those at least ``SLOW_AT`` times as long as others of their kind."""


@dataclass(frozen=True)
class ListedJob(JsonObject):
    """A run of a job in a list; None = not known."""

    job: str
    run: str
    """Distinguishing name if the job has several runs: see ``run_names``."""
    step: str
    motif: str
    file_system: str
    start_ns: Instant | None
    end_ns: Instant | None
    performance: float | None
    unit: str
    """Unit of the performance: bytes/s, operations/s, or that of the table."""
    fraction_of_peak: float | None
    user: str
    account: str
    name: str
    nodes: int | None
    ranks: int | None
    run_s: float | None
    """Run time (s); None: still running, or unknown."""
    state: str
    slowness: float | None
    """Ratio of its time to the median of its kind (``jobs.table.slowness``)."""
    slowness_by: str
    """``I/O rate`` or ``run time``; "" if the slowness is unknown."""
    raw_id: str
    """The scheduler's id of a job whose ``job`` is another, as of an array's task; "" elsewhere."""
    system: str = ""
    """The cluster."""


JOB_COLUMNS = tuple(field.name for field in fields(ListedJob))


@dataclass(frozen=True)
class JobList(JsonObject):
    """Jobs, newest first."""

    n: int
    """All jobs."""
    total: int
    """Those of the filter."""
    jobs: list[ListedJob]
    schema_version: int = SCHEMA_VERSION


def must_be_jobs(table: JobTable) -> None:
    """Raises UsageError: no column of the table holds job IDs, or I/O performance."""
    if len(table) and not (table.job_id != "").any() and FRACTION not in table.metrics:
        raise UsageError(
            f"no column of {table.source or 'the table'} holds job IDs, or I/O performance",
            expected="a mapping that names them (docs/correlate.md)",
            hint=Advice(Argument("mapping", "FILE")),
        )


def found_jobs(table: JobTable, words: Sequence[str] = ()) -> Places:
    """Rows that contain every word (any case), newest first."""
    return chosen_jobs(table, JobFilter(words), "time", None)


def chosen_jobs(table: JobTable, which: JobFilter, sort: Sort, slower: Slowness | None) -> Places:
    """Rows of a filter, newest first; or slowest first, those of unknown slowness last, newest first.

    ``slower``: None: neither the filter nor the order needs it.
    """
    keep = np.ones(len(table), dtype=np.bool_)
    for name, wanted in (("user", which.user), ("account", which.account)):
        keep &= (table.label(name) == wanted) if wanted is not None else True
    if which.file_system is not None:
        keep &= table.file_system == which.file_system
    if which.until_ns is not None:
        keep &= (table.start_ns != NULL_NS) & (table.start_ns < which.until_ns)
    if which.since_ns is not None:
        ended = np.where(table.end_ns == NULL_NS, np.iinfo(np.int64).max, table.end_ns)
        keep &= (table.start_ns != NULL_NS) & (ended > which.since_ns)
    if which.slow and slower is not None:
        keep &= np.nan_to_num(slower.ratio, nan=0.0) >= SLOW_AT
    rows = np.flatnonzero(keep)
    if which.node is not None:
        rows = rows[[_had(names, which.node) for names in table.label("node_names")[rows]]]
    if which.words:
        names = [table.label(name) for name in ("name", "user", "raw_id", "system")]
        columns = (table.job_id, table.step, table.motif, table.file_system, *names)
        texts = (
            " ".join(map(str, row)).lower() for row in zip(*(c[rows] for c in columns), strict=True)
        )
        words = [_job_of(word).lower() for word in which.words]
        rows = rows[[all(word in text for word in words) for text in texts]]
    rows = rows[np.argsort(table.start_ns[rows], kind="stable")][::-1]
    if sort == "slowness" and slower is not None:
        worst = np.nan_to_num(slower.ratio[rows], nan=-np.inf)
        rows = rows[np.argsort(-worst, kind="stable")]
    return rows


def _job_of(word: str) -> str:
    """The job of a step (``4711.batch``); other words as they are."""
    step = step_of(word)
    return word if step is None else step[0]


def _had(names: str, node: str) -> bool:
    """True if a comma-separated list has a node; ignores the domain if one of both has none."""
    if node in names.split(","):
        return True
    short = node.lower().split(".")[0]
    return any(
        name.lower().split(".")[0] == short and not ("." in name and "." in node)
        for name in names.split(",")
    )


def listed(table: JobTable, rows: Places, slower: Slowness | None = None) -> list[ListedJob]:
    """Listed jobs of these rows; ``slower``: None: computed here."""
    rates = (*RATES, *performances(table))
    names = run_names(table, rows)
    found = _Listed(table, slower or slowness(table))
    return [
        _listed(found, row, name, rates) for row, name in zip(rows.tolist(), names, strict=True)
    ]


class _Listed(NamedTuple):
    table: JobTable
    slower: Slowness


def _listed(found: _Listed, row: int, run: str, rates: Sequence[str]) -> ListedJob:
    table, (ratio, by) = found
    rate = next((name for name in rates if _number(table, name, row) is not None), RATES[0])
    start, end = _instant(table.start_ns, row), _instant(table.end_ns, row)
    return ListedJob(
        job=str(table.job_id[row]),
        run=run,
        step=str(table.step[row]),
        motif=str(table.motif[row]),
        file_system=str(table.file_system[row]),
        start_ns=start,
        end_ns=end,
        performance=_number(table, rate, row),
        unit=table.about(rate).unit,
        fraction_of_peak=_number(table, "fraction_of_peak_ratio", row),
        user=_text(table, "user", row),
        account=_text(table, "account", row),
        name=_text(table, "name", row),
        nodes=_size(table, "nodes", row),
        ranks=_size(table, "ranks", row),
        run_s=None if start is None or end is None else (end - start) / 1e9,
        state=_text(table, "state", row),
        slowness=float(ratio[row]) if np.isfinite(ratio[row]) else None,
        slowness_by=str(by[row]),
        raw_id=_other_id(table, row),
        system=_text(table, "system", row),
    )


def _other_id(table: JobTable, row: int) -> str:
    raw = _text(table, "raw_id", row)
    return "" if raw == table.job_id[row] else raw


def _text(table: JobTable, name: str, row: int) -> str:
    return str(table.labels[name][row]) if name in table.labels else ""


def _size(table: JobTable, name: str, row: int) -> int | None:
    value = float(table.sizes[name][row]) if name in table.sizes else float("nan")
    return int(value) if np.isfinite(value) else None


def _instant(column: Ints, row: int) -> int | None:
    return None if column[row] == NULL_NS else int(column[row])


def _number(table: JobTable, name: str, row: int) -> float | None:
    value = float(table.metrics[name][row]) if name in table.metrics else float("nan")
    return value if np.isfinite(value) else None
