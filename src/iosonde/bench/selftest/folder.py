"""The directory of a self-test: marked, locked while in use, emptied before and after."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from pathlib import Path
from types import TracebackType

from iosonde.model.errors import MeasureError, UsageError

MARK = "MADE-BY-IOSONDE-SELFTEST"
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EBADF, errno.EINVAL)
"""Errors of a file system without locks."""


class SelftestFolder:
    """``.iosonde-<kind>-<uid>`` below ``place`` while entered; leftovers of a killed run are removed first.

    Raises UsageError (``place`` is no directory, or another owns the name), MeasureError (it cannot be made, or
    another run uses it).
    """

    def __init__(self, place: Path, kind: str = "selftest") -> None:
        self.path = place / f".iosonde-{kind}-{os.geteuid()}"
        self._place = place
        self._lock = -1
        self.keep = False
        """Leave what is there: a second Ctrl-C."""

    def __enter__(self) -> SelftestFolder:
        if not self._place.is_dir():
            raise UsageError(f"{self._place} is no directory", expected="a directory to test")
        try:
            self._make()
        except OSError as error:
            self._unlock()
            raise MeasureError(
                f"{self.path}: {error.strerror}", expected="room and the right to write there"
            ) from error
        except BaseException:
            self._unlock()
            raise
        return self

    def _make(self) -> None:
        self.path.mkdir(mode=0o700, exist_ok=True)
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        status = os.fstat(self._lock)
        left = {entry.name for entry in self.path.iterdir()}
        if status.st_uid != os.geteuid() or (left and MARK not in left):
            raise UsageError(
                f"{self.path} is not a directory of a self-test",
                expected="a name that nothing else uses",
                hint="another directory",
            )
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise MeasureError(
                    f"{self.path}: another run uses it",
                    expected="one run at a time in a directory",
                    hint="try again when it has ended",
                ) from error
        self._empty()
        (self.path / MARK).touch()

    def part(self, name: str) -> Path:
        """Separate directory for a part of the test."""
        path = self.path / name
        path.mkdir(exist_ok=True)
        return path

    def _empty(self) -> None:
        for entry in self.path.iterdir():
            if entry.name != MARK:
                shutil.rmtree(entry)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if not self.keep:
                with contextlib.suppress(OSError):
                    self._empty()
                    (self.path / MARK).unlink()
                    self.path.rmdir()
        finally:
            self._unlock()

    def _unlock(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
