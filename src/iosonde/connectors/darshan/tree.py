"""A folder of Darshan logs to Jobs, on all CPUs."""

from __future__ import annotations

import os
import selectors
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from iosonde.connectors.darshan.head import HEAD_BYTES, is_log
from iosonde.connectors.darshan.reader import AHEAD, Reader
from iosonde.connectors.darshan.worker import finished, job_from
from iosonde.connectors.source import Settings, Warn
from iosonde.connectors.walk import entries_below
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job

SUFFIX = ".darshan"
_MOST_KEPT = 4096
"""Most answers held until an earlier one arrives."""

Result = Job | InputFileError


def index(
    folder: Path, settings: Settings, warn: Warn, *, processes: int | None = None
) -> Iterator[Job]:
    """The Job of every log below a folder, in the order of their paths. No symbolic link is followed.

    Logs are known by what they hold; a file named ``*.darshan`` that is none is told of, like every log that is
    damaged. ``settings.progress`` gets (done, total). ``processes``: None: as many as this process has CPUs.
    Raises InputFileError (the folder cannot be read), MissingPartError (no pydarshan).
    """
    yield from jobs_of(list(logs_in(folder, warn)), settings, warn, processes=processes)


def jobs_of(
    paths: list[Path], settings: Settings, warn: Warn, *, processes: int | None = None
) -> Iterator[Job]:
    """The Job of each of several logs, in their order; as ``index`` otherwise."""
    for done, result in enumerate(_results(paths, processes or _cpus()), 1):
        if settings.progress is not None:
            settings.progress(done, len(paths))
        if isinstance(result, InputFileError):
            warn(result)
        else:
            yield finished(result, settings)


def logs_in(folder: Path, warn: Warn) -> Iterator[Path]:
    """Paths of files that are Darshan logs or named like one; sorted folder by folder."""
    for entry in entries_below(folder, warn):
        path = Path(entry.path)
        try:
            if entry.is_file(follow_symlinks=False) and _is_log(path):
                yield path
            elif entry.name.endswith(SUFFIX) and not entry.is_symlink():
                warn(InputFileError(f"{path}: no Darshan log", expected="its magic number"))
        except OSError as error:
            what = f"cannot read {path}: {error.strerror or error}"
            warn(InputFileError(what, expected="a readable file"))


def _is_log(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        return is_log(os.read(descriptor, HEAD_BYTES))
    finally:
        os.close(descriptor)


def _cpus() -> int:
    return len(os.sched_getaffinity(0))


def _results(paths: list[Path], processes: int) -> Iterator[Result]:
    """A result per path, in their order, from several workers."""
    readers = [Reader() for _ in range(min(processes, len(paths)))]
    try:
        yield from _gathered(paths, readers)
    finally:
        for reader in readers:
            reader.close()


def _gathered(paths: list[Path], readers: list[Reader]) -> Iterator[Result]:
    number: dict[Reader, deque[int]] = {reader: deque() for reader in readers}
    found: dict[int, Result] = {}
    sent = given = 0
    while given < len(paths):
        for reader in readers:
            # Answers are many times larger than requests: see to it that none waits for its reader.
            while sent < min(len(paths), given + _MOST_KEPT) and len(reader.waiting) < AHEAD:
                reader.send(paths[sent])
                number[reader].append(sent)
                sent += 1
        for reader in _ready(readers):
            _, answer = reader.receive()
            place = number[reader].popleft()
            found[place] = answer if isinstance(answer, InputFileError) else job_from(answer)
        while given in found:
            yield found.pop(given)
            given += 1


def _ready(readers: list[Reader]) -> list[Reader]:
    """Workers with an answer; waits for the first."""
    with selectors.DefaultSelector() as selector:
        for reader in readers:
            if reader.waiting:
                selector.register(reader, selectors.EVENT_READ, reader)
        return [key.data for key, _ in selector.select()]
