"""Stores by their names, for commands: with progress, and each fetched once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

from iosonde.cli.shared.progress import working
from iosonde.engine.remote.mirror import EVERYTHING, STATES, cache_folder, mirrored
from iosonde.engine.remote.named import folder_of
from iosonde.engine.remote.s3 import bucket_of


def readable(store: str, environ: Mapping[str, str], *, states_only: bool = False) -> Path:
    """As ``folder_of``, once a command. ``states_only``: enough of a bucket for an answer about now, at once."""
    return _once(store, tuple(sorted(environ.items())), STATES if states_only else EVERYTHING)


def fetch(bucket: str, environ: Mapping[str, str]) -> Path:
    """Folder with the current content of a bucket, fetched without progress. Raises UsageError, StoreError."""
    return mirrored(bucket_of(bucket, environ), cache_folder(environ))


@cache
def _once(store: str, environ: tuple[tuple[str, str], ...], tables: tuple[str, ...]) -> Path:
    return folder_of(store, dict(environ), tables=tables, fetching=_fetching)


def _fetching() -> AbstractContextManager[Callable[[int, int], None]]:
    return working("fetch")
