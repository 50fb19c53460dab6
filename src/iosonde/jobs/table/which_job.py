"""Lookup of a job by an id or a part of one."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING

from iosonde.jobs.table.known_id import known_id
from iosonde.model.advice import Action, Advice, Argument
from iosonde.model.errors import IosondeError, UsageError

if TYPE_CHECKING:
    from iosonde.model.jobs import JobTable

SHORTEST_PART = 3
"""Least length of a partial id; a shorter one is more likely a typo."""
_MOST_NAMED = 3


def found_job(
    table: JobTable,
    job_id: str,
    warn: Callable[[str], None],
    *,
    of_store: bool = True,
    unknown: Callable[[], IosondeError] | None = None,
) -> str:
    """Job id of the table that an input means: itself, or the only one that starts or ends with it.

    An id as users write it, raw or of a step, means its job. Raises UsageError: there is none (or what ``unknown``
    makes), or several. A table that has no ids at all is not judged here.
    """
    job_id = known_id(table, job_id)
    known = list(dict.fromkeys(map(str, table.job_id)))
    if job_id in known or not any(known):
        return job_id
    parts = []
    if len(job_id) >= SHORTEST_PART:
        parts = [name for name in known if name.startswith(job_id) or name.endswith(job_id)]
    if len(parts) == 1:
        warn(f"there is no job {job_id}: {parts[0]} is the only one that begins or ends so")
        return parts[0]
    if parts:
        raise UsageError(
            f"there is no job {job_id!r}, and {len(parts)} begin or end so",
            expected=", ".join(parts[:_MOST_NAMED]) + (", ..." if parts[_MOST_NAMED:] else ""),
            hint=_search(job_id, of_store),
        )
    if unknown is not None:
        raise unknown()
    near = difflib.get_close_matches(job_id, known, n=_MOST_NAMED)
    raise UsageError(
        f"there is no job {job_id!r} in {table.source or 'the table'}",
        expected=f"one of its {len(known)} jobs",
        hint=Advice(*(f"{one}, " for one in near), *_search("WORDS", of_store).parts),
    )


def _search(words: str, of_store: bool) -> Advice:
    """Advice to list jobs with these words, of the store or of the given table."""
    search = Argument("search", words)
    return Advice(Action("jobs", (search,) if of_store else ("TABLE", search)))
