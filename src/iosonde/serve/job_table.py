"""Shared table of jobs of several routes: re-read periodically, the same object while unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from iosonde.engine.kept import Kept
from iosonde.jobs.table.answers import judged
from iosonde.model.advice import spelled
from iosonde.model.errors import MissingPartError, NothingMeasuredError, UsageError
from iosonde.model.jobs import LABELS, SIZES, JobTable
from iosonde.serve.errors import page
from iosonde.serve.params import RefusalError

KEEP_S = 20.0
"""Time that a table is reused: jobs end now and then, and reading them takes a while."""
_LONGEST = 500
_COLUMNS = ("job_id", "step", "start_ns", "end_ns", "file_system", "motif")


class Version(NamedTuple):
    """A table of jobs. ``judged``: with metrics as they are judged. ``number`` grows when the jobs change."""

    number: int
    table: JobTable
    judged: JobTable


class JobTables:
    """The newest version. ``read``: with aliases; ``seconds``: a monotonic clock. Thread-safe."""

    def __init__(self, read: Callable[[], JobTable], seconds: Callable[[], float]) -> None:
        self._read = read
        self._kept: Kept[None, Version] = Kept(keep=KEEP_S, clock=seconds)

    def newest(self) -> Version:
        """Table, at most ``KEEP_S`` old. Raises what reading raises: NothingMeasuredError (no jobs), StoreError."""
        return self._kept.get(None, self._renewed)

    def _renewed(self, kept: Version | None) -> Version:
        table = self._read()
        if kept is not None and same(kept.table, table):
            return kept
        return Version(kept.number + 1 if kept else 1, table, judged(table))


def same(one: JobTable, other: JobTable) -> bool:
    """True if two tables have equal content in the same order."""
    if len(one) != len(other) or one.metrics.keys() != other.metrics.keys():
        return False
    return (
        one.flags == other.flags
        and one.abouts == other.abouts
        and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in _COLUMNS)
        and all(np.array_equal(one.label(name), other.label(name)) for name in LABELS)
        and all(np.array_equal(one.size(name), other.size(name), equal_nan=True) for name in SIZES)
        and all(
            np.array_equal(column, other.metrics[name], equal_nan=True)
            for name, column in one.metrics.items()
        )
    )


@contextmanager
def refused() -> Iterator[None]:
    """Convert errors about missing job data to a 404 refusal."""
    try:
        yield
    except (UsageError, NothingMeasuredError, MissingPartError) as error:
        expected, hint = spelled(error.expected, page)[:_LONGEST], spelled(error.hint, page)
        raise RefusalError(error.what, expected=expected, hint=hint, status=404) from error
