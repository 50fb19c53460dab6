"""Listing and removal of files that iosonde keeps in a directory for its next probe or benchmark."""

from __future__ import annotations

import os
from typing import NamedTuple

from iosonde import _core
from iosonde.model.errors import MeasureError
from iosonde.model.units import format_size


class MarkedDirectory(NamedTuple):
    """A marked directory of this user. ``held``: in use; ``errno``: reason why a part could not be removed."""

    path: str
    made_by: str
    files: int
    bytes: int
    held: bool
    removed: bool
    errno: int


def kept(directory: str) -> list[MarkedDirectory]:
    """Marked directories in a directory. Raises MeasureError: the directory cannot be read."""
    return _looked(directory, remove=False)


def clean(directory: str) -> list[MarkedDirectory]:
    """As ``kept``, and remove those not in use. Raises MeasureError."""
    return _looked(directory, remove=True)


def _looked(directory: str, *, remove: bool) -> list[MarkedDirectory]:
    try:
        return [MarkedDirectory(str(one[0]), *one[1:]) for one in _core.clean(directory, remove)]
    except _core.BenchError as error:
        raise MeasureError(str(error), hint="the directory that was probed") from None


def say(one: MarkedDirectory) -> str:
    """``removed /work/.iosonde-1000/login2: 1,001 files, 1.00 GiB``, or the reason why it stays."""
    size = f"{one.files:,} file{'' if one.files == 1 else 's'}, {format_size(one.bytes)}"
    if one.held:
        return f"kept {one.path}: in use, or locks do not work there ({size})"
    if one.errno:
        return f"kept {one.path}: something in it is not iosonde's ({os.strerror(one.errno)})"
    return f"{'removed' if one.removed else 'unused'} {one.path}: {size}"
