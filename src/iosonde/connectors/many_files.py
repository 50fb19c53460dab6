"""Reading of several files as one: a damaged file does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from iosonde.connectors.source import Warn
from iosonde.model.errors import InputFileError

T = TypeVar("T")


def read_each(
    paths: Sequence[Path],
    read: Callable[[Path], Iterable[T]],
    rest: Callable[[], Iterable[T]],
    warn: Warn,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[T]:
    """Yield the items of each file, then the items of ``rest``.

    A file that cannot be read, or breaks on the way, is told of. If it is the only one, its error is raised, once
    everything good was given out. ``progress`` gets files that were read, of several.
    """
    broken: list[InputFileError] = []
    for done, path in enumerate(paths):
        if progress is not None and done:
            progress(done, len(paths))
        try:
            yield from read(path)
        except InputFileError as error:
            broken.append(error)
            if len(paths) > 1:
                warn(error)
    yield from rest()
    if broken and len(paths) == 1:
        raise broken[0]


def named(paths: Sequence[Path]) -> str:
    """Printable name of several files: the first, and the number of others."""
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"


def of_one(
    paths: Sequence[Path], progress: Callable[[int, int], None] | None
) -> Callable[[int, int], None] | None:
    """Progress callback within a file: None if several files are counted instead."""
    return progress if len(paths) == 1 else None
