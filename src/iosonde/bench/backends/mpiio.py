"""Objects as files opened through MPI-IO, by one rank each (COMM_SELF), with md-workbench's calls.

create = open + write_at + close; stat = open + get_size + close; read = open + read_at + close; delete =
MPI_File_delete. The tree is made and listed by plain system calls::

    DIR/iosonde-bench-mpiio/MARK               what made it
                            note               the parameters that made it
                            r00000_d00000/<16 hexadecimal digits>

Needs mpi4py and an MPI library.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import Any

from iosonde.bench.backends.protocol import MARK, Capabilities, parse_set_name, set_name
from iosonde.host.processes import load_mpi
from iosonde.model.errors import MeasureError

_NAME = "iosonde-bench-mpiio"
_DIGITS = 16


def _numbers(mpi: Any) -> dict[int, int]:
    """MPI's error classes (MPI 4.1, section 14.7) as errno."""
    return {
        mpi.ERR_NO_SUCH_FILE: errno.ENOENT,
        mpi.ERR_FILE_EXISTS: errno.EEXIST,
        mpi.ERR_ACCESS: errno.EACCES,
        mpi.ERR_NO_SPACE: errno.ENOSPC,
        mpi.ERR_QUOTA: errno.EDQUOT,
        mpi.ERR_READ_ONLY: errno.EROFS,
        mpi.ERR_FILE_IN_USE: errno.EBUSY,
        mpi.ERR_BAD_FILE: errno.EINVAL,
        mpi.ERR_NO_MEM: errno.ENOMEM,
    }


class MpiioSet:
    """The files of one directory."""

    def __init__(self, folder: Path, mpi: Any, fsync: bool) -> None:
        self._prefix = f"{folder}/"
        self._open = mpi.File.Open
        self._remove = mpi.File.Delete
        self._self = mpi.COMM_SELF
        self._new = mpi.MODE_CREATE | mpi.MODE_EXCL | mpi.MODE_WRONLY
        self._old = mpi.MODE_RDONLY
        self._status = mpi.Status()
        self._bytes = mpi.BYTE
        self._error = mpi.Exception
        self._numbers = _numbers(mpi)
        self._fsync = fsync
        self._buffer = bytearray()

    def _said(self, error: Any) -> OSError:
        number = self._numbers.get(error.Get_error_class(), errno.EIO)
        return OSError(number, error.Get_error_string())

    def create(self, name: str, content: bytes, /) -> None:
        """Open a new file, write, close."""
        try:
            file = self._open(self._self, self._prefix + name, self._new)
            try:
                file.Write_at(0, content, self._status)
                if self._fsync:
                    file.Sync()
            finally:
                file.Close()
        except self._error as error:
            raise self._said(error) from None
        if self._status.Get_count(self._bytes) != len(content):
            raise OSError(errno.ENOSPC, "written short")

    def stat(self, name: str, /) -> int:
        """Open, query the size, close."""
        try:
            file = self._open(self._self, self._prefix + name, self._old)
            try:
                return int(file.Get_size())
            finally:
                file.Close()
        except self._error as error:
            raise self._said(error) from None

    def read(self, name: str, size: int, /) -> memoryview:
        """Open, read, close. The view is valid until the next read."""
        if len(self._buffer) < size:
            self._buffer = bytearray(size)
        view = memoryview(self._buffer)[:size]
        try:
            file = self._open(self._self, self._prefix + name, self._old)
            try:
                file.Read_at(0, view, self._status)
            finally:
                file.Close()
        except self._error as error:
            raise self._said(error) from None
        return view[: self._status.Get_count(self._bytes)]

    def delete(self, name: str, /) -> None:
        """MPI_File_delete."""
        try:
            self._remove(self._prefix + name)
        except self._error as error:
            raise self._said(error) from None


class MpiioStore:
    """The tree below ``directory``, which must exist.

    Raises MissingPartError without MPI, MeasureError if there is no such directory.
    """

    def __init__(self, directory: Path) -> None:
        self._mpi = load_mpi("MPI-IO cannot be measured")
        if not directory.is_dir():
            raise MeasureError(f"{directory}: no such directory", expected="one that exists")
        self._root = directory / _NAME

    def capabilities(self) -> Capabilities:
        """MPI's ranks are processes."""
        return Capabilities(fsync=True, threads=False)

    def begin(self) -> None:
        """Create and mark the directory, or accept it."""
        with contextlib.suppress(FileExistsError):
            self._root.mkdir()
        if self._root.is_symlink() or not self._root.is_dir():
            raise self._in_the_way("something else stands there")
        mark = self._root / "MARK"
        try:
            found = mark.read_text(errors="replace")
        except FileNotFoundError:
            strangers = [path.name for path in self._root.iterdir() if path.name[:4] != "MARK"]
            if strangers and not mark.exists():
                raise self._in_the_way(f"it holds `{strangers[0]}` and no mark") from None
            self._replace("MARK", MARK + "\n")
            return
        if found.strip() != MARK:
            raise self._in_the_way(f"its mark says `{found[:80].strip()}`")

    def _in_the_way(self, what: str) -> OSError:
        return FileExistsError(
            errno.EEXIST,
            f"{self._root}: {what}; expected a directory made by this version of iosonde: move it "
            "away, nothing of it was touched",
        )

    def _replace(self, name: str, text: str) -> None:
        new = self._root / f"{name}.{os.getpid()}.new"
        new.write_text(text)
        new.replace(self._root / name)

    def lock(self) -> None:
        """Do nothing: ranks are processes of one MPI job."""

    def note(self) -> str | None:
        """Read a file beside the mark."""
        try:
            return (self._root / "note").read_text()
        except FileNotFoundError:
            return None

    def set_note(self, text: str, /) -> None:
        """Replace the file by rename."""
        self._replace("note", text)

    def sets(self) -> list[tuple[int, int]]:
        """List our directories."""
        paths = self._root.iterdir()
        return [found for path in paths if (found := parse_set_name(path.name))]

    def _folder(self, rank: int, number: int) -> Path:
        return self._root / set_name(rank, number)

    def make_set(self, rank: int, number: int, /) -> None:
        """Make the directory."""
        self._folder(rank, number).mkdir(exist_ok=True)

    def open_set(self, rank: int, number: int, fsync: bool, /) -> MpiioSet:
        """Open its files."""
        folder = self._folder(rank, number)
        if not folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"{folder}: no such directory")
        return MpiioSet(folder, self._mpi, fsync)

    def list_set(self, rank: int, number: int, /) -> list[int]:
        """List numeric file names."""
        paths = self._folder(rank, number).iterdir()
        return [int(path.name, 16) for path in paths if len(path.name) == _DIGITS]

    def remove_set(self, rank: int, number: int, /) -> None:
        """Remove the empty directory."""
        with contextlib.suppress(FileNotFoundError):
            self._folder(rank, number).rmdir()

    def end(self) -> None:
        """Remove mark, note and directory."""
        with contextlib.suppress(FileNotFoundError):
            if self.sets():
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
            for path in self._root.iterdir():
                if path.name.startswith(("note", "MARK")):
                    path.unlink(missing_ok=True)
            self._root.rmdir()
