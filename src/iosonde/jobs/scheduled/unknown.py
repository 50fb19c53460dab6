"""Error about a job id that the store does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.connectors.scheduler.job_ids import WITH_BOTH_IDS, part_of
from iosonde.model.advice import Action, Advice, Argument
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.units import day

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.jobs.store.earlier_runs import KnownJobs


def unknown_job(root: Path, job_id: str, known: KnownJobs) -> UsageError | NothingMeasuredError:
    """Error with the contents of the store, similar ids, and how to import more."""
    if not known.n:
        return NothingMeasuredError(
            f"there are no jobs in {root}",
            expected="records of a scheduler (sacct -P -X -a --format=ALL), or Darshan logs",
            hint=Advice(Action("import")),
        )
    span = ""
    if known.first_ns is not None and known.last_ns is not None:
        span = f" and began {day(known.first_ns, None)} to {day(known.last_ns, None)}"
    alike = ", ".join(known.alike)
    words = (Argument("search", job_id),) if known.parts else ()
    search = Advice(Action("jobs", words), ", or ", Action("import"))
    if part_of(job_id) is not None and not known.tasks:
        return UsageError(
            f"there is no job {job_id!r} in {root}: it knows tasks of arrays by their raw ids only",
            expected=f"a raw id such as {alike}" if alike else "a raw id (sacct's JobIDRaw)",
            hint=Advice(Action("import"), f", with both ids: sacct -P --format={WITH_BOTH_IDS}"),
        )
    return UsageError(
        f"there is no job {job_id!r} in {root}; "
        f"its {known.n} jobs are from {', '.join(known.sources)}{span}",
        expected=f"an id such as {alike}" if alike else "an id as its sources write it",
        hint=search,
    )
