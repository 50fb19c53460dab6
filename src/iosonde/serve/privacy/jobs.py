"""Aliases in job data: for every word that names a person, a project or a program.

::

    table of jobs    job_id, step, user, account, name, state, program in motif, users in paths     ``aliased_table``
    one job          the same of a record and its story                                             ``aliased_story``
    an id in a question -> the store's id                                                           ``stored_id``

A table gets its aliases as it is read, before kinds of job are told apart: whatever is said of it later has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from iosonde.connectors.scheduler.job_ids import step_of
from iosonde.model.jobs import Direction, Job, JobTable, Mode
from iosonde.serve.privacy.pseudonyms import Kind, Pseudonyms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.jobs.scheduled.runs import ScheduledRun
    from iosonde.jobs.scheduled.story import ScheduledStory
    from iosonde.model.arrays import Texts

_LABELS: tuple[tuple[str, Kind], ...] = (("user", "user"), ("account", "account"), ("name", "app"))
_PATTERN = tuple(frozenset(get_args(words)) - {""} for words in (Direction, Mode))
"""Words that end a motif, the last first: they describe the access, not the program."""
_PLAIN_STEP = re.compile(r"\d+([.+_]\d+)*|batch|extern|interactive")
"""Slurm's names of steps."""


def aliased_table(table: JobTable, names: Pseudonyms) -> JobTable:
    """The table with aliases, if the policy requires them."""
    if not names.hashed or not len(table):
        return table
    users = {str(user) for user in table.label("user")} - {""}
    labels = dict(table.labels)
    for label, kind in _LABELS:
        if label in labels:
            labels[label] = names.column(kind, labels[label])
    if "state" in labels:
        labels["state"] = _each(labels["state"], _state)
    base = None if table.base_motif is None else _motifs(table.base_motif, names)
    return replace(
        table,
        job_id=names.column("job", table.job_id),
        step=_each(table.step, lambda step: _step(step, names)),
        labels=labels,
        file_system=_each(table.file_system, lambda path: _path(path, users, names)),
        motif=_motifs(table.motif, names) if base is None else _sized_motifs(table, base, names),
        base_motif=base,
    )


def aliased_story(story: ScheduledStory, asked: str, names: Pseudonyms) -> ScheduledStory:
    """The story with aliases, if the policy requires them. ``asked``: the job's id, as shown to clients."""
    return replace(story, run=_run(story.run, asked, names)) if names.hashed else story


def stored_id(asked: str, ids: Callable[[], Sequence[str]], names: Pseudonyms) -> str | None:
    """Stored id of an id shown to clients; None: there is none.

    ``ids``: all of the store. A real id for which an alias stands is as unknown as one that does not exist.
    """
    step = step_of(asked)
    job = asked if step is None else step[0]
    if names.of("job", job) == job:
        return asked
    return next((one for one in ids() if names.of("job", one) == asked), None)


def _run(run: ScheduledRun, asked: str, names: Pseudonyms) -> ScheduledRun:
    whole = run.whole and _run(run.whole, asked, names)
    return replace(run, job=_job(run.job, asked, names), whole=whole)


def _job(job: Job, asked: str, names: Pseudonyms) -> Job:
    return replace(
        job,
        job_id=asked,
        shown_id="",
        step=_step(job.step, names),
        user=names.of("user", job.user),
        account=names.of("account", job.account),
        name=names.of("app", job.name),
        app=names.of("app", job.app),
        file_system=_path(job.file_system, {job.user} - {""}, names),
        state=_state(job.state),
    )


def _state(state: str) -> str:
    """``CANCELLED by 1001`` -> ``CANCELLED``."""
    return state.partition(" by ")[0]


def _step(step: str, names: Pseudonyms) -> str:
    return step if _PLAIN_STEP.fullmatch(step) else names.of("run", step)


def _path(path: str, users: set[str], names: Pseudonyms) -> str:
    """Replace users' names below the first folder by aliases: ``/home/alice``."""
    begin = path.find("/", 1) + 1
    if not begin:
        return path
    parts = path[begin:].split("/")
    return path[:begin] + "/".join(names.of("user", one) if one in users else one for one in parts)


def _motifs(motifs: Texts, names: Pseudonyms) -> Texts:
    return _each(motifs, lambda motif: _motif(motif, names))


def _motif(motif: str, names: Pseudonyms) -> str:
    """``vpicio_uni shared write`` -> ``app-3f9abc shared write``."""
    words, pattern = motif.split(" "), list[str]()
    for known in _PATTERN:
        if words and words[-1] in known:
            pattern.insert(0, words.pop())
    return " ".join(word for word in (names.of("app", " ".join(words)), *pattern) if word)


def _sized_motifs(table: JobTable, base: Texts, names: Pseudonyms) -> Texts:
    """Aliases in motifs with classes of size: ``vpicio_uni shared write, 512 ranks``."""
    plain = table.base_motif if table.base_motif is not None else table.motif
    found = np.empty(len(table), dtype=object)
    for row, (sized, name, alias) in enumerate(zip(table.motif, plain, base, strict=True)):
        of_size = str(sized).removeprefix(str(name))
        known = of_size != sized or not name
        found[row] = f"{alias}{of_size}" if known else _motif(str(sized), names)
    return found


def _each(column: Texts, change: Callable[[str], str]) -> Texts:
    """Apply a function to every distinct text."""
    unique, place = np.unique(column.astype(str), return_inverse=True)
    changed: Texts = np.array([change(text) for text in unique.tolist()] or [""], dtype=object)
    return changed[place]
