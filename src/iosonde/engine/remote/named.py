"""A store by its name: a folder, a bucket, several of them. Each becomes a folder to read."""

from __future__ import annotations

import atexit
import glob
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from iosonde.engine.layout.root import is_bucket
from iosonde.engine.remote.joined import join
from iosonde.engine.remote.mirror import EVERYTHING, cache_folder, mirrored
from iosonde.engine.remote.s3 import bucket_of
from iosonde.model.errors import UsageError

Fetching = Callable[[], AbstractContextManager[Callable[[int, int], None]]]
"""Context of a fetch; gives what is told of bytes fetched and in all."""


def is_remote(name: str) -> bool:
    """Whether a name stands for a bucket, for several stores or for a pattern: to read alone."""
    return is_bucket(name) or (("," in name or glob.has_magic(name)) and not Path(name).is_dir())


def folder_of(
    name: str,
    environ: Mapping[str, str],
    *,
    tables: tuple[str, ...] = EVERYTHING,
    fetching: Fetching = lambda: nullcontext(lambda _, __: None),
) -> Path:
    """Folder with the present content of ``s3://bucket/prefix``, ``A,B`` or a pattern.

    ``tables``: what is fetched of a bucket. Several stores are joined by links, for as long as this process lives.
    Raises UsageError (a pattern without a folder, a wrong address), StoreError.
    """
    words = [word.strip() for word in name.split(",") if word.strip()]
    every = [root for word in words for root in _roots(word, environ, tables, fetching)]
    every = list(dict.fromkeys(every))
    if len(every) == 1:
        return every[0]
    folder = Path(tempfile.mkdtemp(prefix="iosonde-stores-"))
    atexit.register(_remove, folder, os.getpid())
    return join(every, folder)


def _remove(folder: Path, owner: int) -> None:
    """Remove the links, in the process that made them: a fork with a time limit ends before."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _roots(
    word: str, environ: Mapping[str, str], tables: tuple[str, ...], fetching: Fetching
) -> list[Path]:
    """The folders that one word names."""
    if is_bucket(word):
        with fetching() as progress:
            return [mirrored(bucket_of(word, environ), cache_folder(environ), progress, tables)]
    found = [Path(word)] if Path(word).is_dir() else [Path(one) for one in sorted(glob.glob(word))]  # noqa: PTH207 - may be absolute
    folders = [one for one in found if one.is_dir()]
    if not folders:
        raise UsageError(f"{word} names no store", expected="folders of stores")
    return folders
