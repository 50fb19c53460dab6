"""Several files read as one: what one of them breaks does not take the others with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from iosonde.connectors.source import Tell
from iosonde.model.errors import InputFileError

T = TypeVar("T")


def read_each(
    paths: Sequence[Path],
    read: Callable[[Path], Iterable[T]],
    rest: Callable[[], Iterable[T]],
    tell: Tell,
) -> Iterator[T]:
    """What ``read`` gives of each file, then ``rest`` of what is left of all.

    A file that cannot be read, or breaks on the way, is told of. If it is the only one, its error is raised, once
    everything good was given out.
    """
    broken: list[InputFileError] = []
    for path in paths:
        try:
            yield from read(path)
        except InputFileError as error:
            broken.append(error)
            if len(paths) > 1:
                tell(error)
    yield from rest()
    if broken and len(paths) == 1:
        raise broken[0]


def named(paths: Sequence[Path]) -> str:
    """Files as one, for people: the first, and how many more."""
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
