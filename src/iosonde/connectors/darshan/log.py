"""Binary Darshan logs (formats 3.00 to 3.41 and others that pydarshan reads) to Jobs.

Needs the extra ``darshan``. Which numbers and by which rules: ``darshan_job``. Command lines and file names are
not kept; of the program only its name. A log is read in another process, for pydarshan's C library can end the
process on a damaged one. Incomplete modules flag the numbers made of them; a log that breaks off gives none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from iosonde.connectors.darshan.features import features
from iosonde.connectors.darshan.head import HEAD_BYTES, is_log, old_log
from iosonde.connectors.darshan.worker import finished, job_from
from iosonde.connectors.source import Head, Item, Settings, Warn, head_of
from iosonde.model.errors import InputFileError

__all__ = ["KIND", "features", "osts_of", "read", "recognises"]

KIND = "Darshan log"


def recognises(head: Head) -> bool:
    """True if the first bytes are a Darshan log's."""
    return is_log(head.raw)


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """The Job of one log, or of every log below a folder.

    Raises InputFileError (damaged), MissingPartError (no pydarshan).
    A log alone starts a process of its own; for several logs ``read_many`` is quicker.
    """
    from iosonde.connectors.darshan.reader import Reader

    if path.is_dir():
        from iosonde.connectors.darshan.tree import index

        yield from index(path, settings, warn)
        return
    readable(path)
    with Reader() as reader:
        reader.send(path)
        _, answer = reader.receive()
    if isinstance(answer, InputFileError):
        raise answer
    yield finished(job_from(answer), settings)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """The Job of each log, on all CPUs; damaged logs are reported."""
    from iosonde.connectors.darshan.tree import jobs_of

    folders = [path for path in paths if path.is_dir()]
    yield from jobs_of([path for path in paths if path not in folders], settings, warn)
    for folder in folders:
        yield from read(folder, settings, warn)


def recognises_folder(path: Path) -> bool:
    """True for a folder with a log in or below it."""
    from iosonde.connectors.darshan.tree import logs_in

    return next(logs_in(path, lambda _: None), None) is not None


def osts_of(path: Path) -> dict[str, tuple[int, ...]]:
    """Path -> OSTs for the log's files on Lustre; empty for others.

    Raises InputFileError, MissingPartError. File names are private: nothing of this goes into the store.
    """
    from iosonde.connectors.darshan.reader import Reader

    readable(path)
    with Reader() as reader:
        reader.send(path, "osts")
        _, answer = reader.receive()
    if isinstance(answer, InputFileError):
        raise answer
    return {name: tuple(osts) for name, osts in answer["osts"].items()}


def readable(path: Path) -> None:
    """Raise InputFileError for an unreadable file or one that is no Darshan log."""
    try:
        with path.open("rb") as file:
            begin = file.read(HEAD_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error
    if not is_log(begin):
        if (old := old_log(path, head_of(path).data)) is not None:
            raise old
        raise InputFileError(f"{path}: no Darshan log", expected="its magic number in the header")
