"""The runs of one job that has several: what they are called, and which are worth a look first."""

from __future__ import annotations

import numpy as np

from iosonde.analysis.peak import FRACTION
from iosonde.analysis.umami import run_names
from iosonde.model.jobs import JobTable

MOST_RUNS = 30
"""Each of them is put beside its whole history, which takes a while."""


def worth_a_look(table: JobTable, job_id: str, most: int = MOST_RUNS) -> list[str]:
    """At most so many of a job's runs, those farthest below the best of their kind first; unknown performances last.

    As ``find_run`` takes them for a step.
    """
    rows = np.flatnonzero(table.job_id == job_id)
    share = table.metrics.get(FRACTION, np.full(len(table), np.nan))[rows]
    order = np.argsort(share, kind="stable")
    return run_names(table, rows[order[:most]])
