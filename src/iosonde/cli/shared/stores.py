"""Remote stores: a bucket, several folders. Both become a folder that commands read."""

from __future__ import annotations

import atexit
import glob
import os
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from iosonde.cli.shared.progress import working
from iosonde.engine.layout.root import is_bucket
from iosonde.engine.remote.joined import join
from iosonde.engine.remote.mirror import EVERYTHING, STATES, cache_folder, mirrored
from iosonde.engine.remote.s3 import bucket_of
from iosonde.model.errors import UsageError


def readable(store: str, environ: Mapping[str, str], *, states_only: bool = False) -> Path:
    """Folder with the content of ``s3://bucket/prefix``, ``A,B`` or a pattern. Raises UsageError, StoreError.

    ``states_only``: of a bucket nothing else is fetched, so that an answer about now comes at once.
    """
    return _once(store, tuple(sorted(environ.items())), STATES if states_only else EVERYTHING)


def fetch(bucket: str, environ: Mapping[str, str]) -> Path:
    """Folder with the current content of a bucket, fetched without progress. Raises UsageError, StoreError."""
    return mirrored(bucket_of(bucket, environ), cache_folder(environ))


@cache
def _once(store: str, environ: tuple[tuple[str, str], ...], tables: tuple[str, ...]) -> Path:
    """Folder shared by repeated calls of one command."""
    roots = [_root(word, dict(environ), tables) for word in store.split(",") if word.strip()]
    every = list(dict.fromkeys(root for those in roots for root in those))
    if len(every) == 1:
        return every[0]
    folder = Path(tempfile.mkdtemp(prefix="iosonde-stores-"))
    atexit.register(_remove, folder, os.getpid())
    return join(every, folder)


def _remove(folder: Path, owner: int) -> None:
    """Remove the links, in the process that made them: a fork with a time limit ends before."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _root(word: str, environ: Mapping[str, str], tables: tuple[str, ...]) -> list[Path]:
    """The folders that one word names."""
    word = word.strip()
    if is_bucket(word):
        with working("fetch") as progress:
            bucket = bucket_of(word, environ)
            return [mirrored(bucket, cache_folder(environ), progress, tables)]
    found = [Path(word)] if Path(word).is_dir() else [Path(one) for one in sorted(glob.glob(word))]  # noqa: PTH207 - may be absolute
    folders = [one for one in found if one.is_dir()]
    if not folders:
        raise UsageError(f"--store {word} names no folder", expected="folders of stores")
    return folders
