"""Job argument of a command: given with --job, or as the only word."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from iosonde.model.errors import UsageError

Note = Callable[[str], None]


def settle(args: argparse.Namespace, note: Note) -> None:
    """Take the only word as the job unless it is a file. Raises UsageError: no job is given."""
    if args.job is not None:
        return
    words: list[Path] = args.table
    if len(words) == 1 and not (args.mapping or args.system) and _may_be_job(words[0]):
        args.job, args.table = str(words[0]), []
        note(f"reading {args.job} as a job ID")
        return
    raise UsageError("the job is missing", expected="--job ID", hint="'iosonde jobs'")


def _may_be_job(word: Path) -> bool:
    try:
        return len(word.parts) == 1 and not word.exists()
    except OSError:  # no name of a file, being too long for one
        return True
