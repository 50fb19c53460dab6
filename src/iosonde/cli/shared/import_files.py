"""What an import that is interrupted says before it ends: how far it came, and that it can go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from iosonde.cli.shared import options
from iosonde.model.units import format_count


@dataclass
class StoredFiles:
    """How many of the files are in the store whole."""

    files: int = 0


@contextmanager
def told(files: int) -> Iterator[StoredFiles]:
    """Says at Ctrl-C how many of ``files`` were counted, and passes it on."""
    kept = StoredFiles()
    try:
        yield kept
    except KeyboardInterrupt:
        of = f"{format_count(kept.files)} of {format_count(files)} files are in the store whole"
        options.note(
            f"iosonde: interrupted: {of}; the same command goes on, and leaves out what is there already"
        )
        raise
