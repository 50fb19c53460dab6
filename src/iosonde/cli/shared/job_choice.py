"""Which job a command is about: said with --job, as the only word, or by a part of its id."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.model.errors import UsageError

if TYPE_CHECKING:
    from iosonde.model.jobs import JobTable

Tell = Callable[[str], None]
SHORTEST_PART = 3
"""A shorter part of an id is a slip more often than a wish."""
_MOST_NAMED = 3


def settle(args: argparse.Namespace, tell: Tell) -> None:
    """Take the only word as the job where it is no file. Raises UsageError: no job is said."""
    if args.job is not None:
        return
    words: list[Path] = args.table
    if len(words) == 1 and not (args.mapping or args.system) and _may_be_job(words[0]):
        args.job, args.table = str(words[0]), []
        tell(f"there is no file {args.job}: it is taken as --job {args.job}")
        return
    raise UsageError("which job is not said", expected="--job ID", hint="'iosonde jobs'")


def _may_be_job(word: Path) -> bool:
    try:
        return len(word.parts) == 1 and not word.exists()
    except OSError:  # no name of a file, being too long for one
        return True


def found_job(table: JobTable, job_id: str, tell: Tell, *, of_store: bool = True) -> str:
    """The id of the table that is meant: itself, or the only one that begins or ends with it.

    Raises UsageError: there is none, or several. A table that has no ids at all is not judged here.
    """
    known = list(dict.fromkeys(map(str, table.job_id)))
    if job_id in known or not any(known):
        return job_id
    parts = []
    if len(job_id) >= SHORTEST_PART:
        parts = [name for name in known if name.startswith(job_id) or name.endswith(job_id)]
    if len(parts) == 1:
        tell(f"there is no job {job_id}: {parts[0]} is the only one that begins or ends so")
        return parts[0]
    search = f"'iosonde jobs {'' if of_store else 'TABLE '}--search "
    if parts:
        raise UsageError(
            f"there is no job {job_id!r}, and {len(parts)} begin or end so",
            expected=", ".join(parts[:_MOST_NAMED]) + (", ..." if parts[_MOST_NAMED:] else ""),
            hint=f"{search}{job_id}'",
        )
    near = difflib.get_close_matches(job_id, known, n=_MOST_NAMED)
    raise UsageError(
        f"there is no job {job_id!r} in {table.source or 'the table'}",
        expected=f"one of its {len(known)} jobs",
        hint=", ".join([*near, f"{search}WORDS'"]),
    )
