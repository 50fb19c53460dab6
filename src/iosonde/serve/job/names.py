"""Names of one job: the id that an alias stands for, and a story with aliases."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from iosonde.jobs import answers

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.jobs.scheduled.runs import ScheduledRun
    from iosonde.jobs.scheduled.story import ScheduledStory
    from iosonde.serve.privacy.pseudonyms import Pseudonyms


def named(root: Path, job: str, names: Pseudonyms) -> str:
    """The id in the store that leaves the server as ``job``; itself where it is no alias. Raises StoreError."""
    if not names.hashed or not job.startswith("job-"):
        return job
    return next((one for one in answers.job_ids(root) if names.of("job", one) == job), job)


def under_policy(story: ScheduledStory, names: Pseudonyms) -> ScheduledStory:
    """The same with aliases of job, user, account and name, where the policy asks for them."""
    return replace(story, run=_run(story.run, names)) if names.hashed else story


def _run(run: ScheduledRun, names: Pseudonyms) -> ScheduledRun:
    job = run.job
    alias = replace(
        job,
        job_id=names.of("job", job.job_id),
        user=names.of("user", job.user),
        account=names.of("account", job.account),
        name=names.of("app", job.name),
        state=job.state.partition(" by ")[0],  # CANCELLED by 1001
    )
    return replace(run, job=alias, whole=run.whole and _run(run.whole, names))
