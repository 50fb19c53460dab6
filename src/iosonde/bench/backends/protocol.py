"""Protocol of an object store that the metadata benchmark uses from the core.

One store is one rank's way to it. The core calls the methods from the thread of that rank. An ``OSError``
with an errno is that outcome of the operation; any other exception counts as EIO, and its text is kept.
Names of objects are 16 hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing_extensions import Buffer


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Capabilities of a store.

    ``stores``: what was written can be read back. ``exclusive``: creating an object that exists fails
    with EEXIST and changes nothing. ``delete_tells``: deleting one that does not exist fails with
    ENOENT. ``fsync``: an object can be forced to stable storage before create returns. ``threads``:
    several ranks may live in one process.
    """

    stores: bool = True
    exclusive: bool = True
    delete_tells: bool = True
    fsync: bool = False
    threads: bool = True


class ObjectSet(Protocol):
    """The objects of one data set: the four timed operations."""

    def create(self, name: str, content: bytes, /) -> None:
        """Make a new object with this content. FileExistsError if there is one."""

    def stat(self, name: str, /) -> int:
        """Its size in bytes. FileNotFoundError if there is none."""
        ...

    def read(self, name: str, size: int, /) -> Buffer:
        """Its first ``size`` bytes, fewer if it is shorter. FileNotFoundError if there is none."""
        ...

    def delete(self, name: str, /) -> None:
        """Remove it. FileNotFoundError if there is none, where the storage tells."""


class ObjectStore(Protocol):
    """Data sets of objects below one marked root. None of these is timed.

    One that stores nothing (see Capabilities) has a method ``pretend(size)`` too: the size its objects
    pretend to have.
    """

    def capabilities(self) -> Capabilities:
        """Capabilities of the store; queried once."""
        ...

    def begin(self) -> None:
        """Create and mark the root, or accept a marked one; FileExistsError that names the obstacle otherwise."""

    def lock(self) -> None:
        """Lock the root against other runs; EBUSY if another holds it. Doing nothing is allowed."""

    def note(self) -> str | None:
        """Text stored at the root; None if there is none yet."""
        ...

    def set_note(self, text: str, /) -> None:
        """Store a text at the root in place of an earlier one."""

    def sets(self) -> list[tuple[int, int]]:
        """Existing data sets as (rank, set), in any order."""
        ...

    def make_set(self, rank: int, number: int, /) -> None:
        """Create a data set; no error if it exists."""

    def open_set(self, rank: int, number: int, fsync: bool, /) -> ObjectSet:
        """Its objects; FileNotFoundError if there is no such set."""
        ...

    def list_set(self, rank: int, number: int, /) -> list[int]:
        """Numbers of its objects, in any order; FileNotFoundError if there is no such set."""
        ...

    def remove_set(self, rank: int, number: int, /) -> None:
        """Remove an empty data set; ENOTEMPTY if it is not, no error if it is gone."""

    def end(self) -> None:
        """Remove the root with its mark and note; ENOTEMPTY while sets are left, no error if it is gone."""


StoreFactory = Callable[[], ObjectStore]
"""Opens one rank's connection to a store; raises an ``IosondeError`` if it cannot be reached."""

MARK = "iosonde metadata benchmark, format 1"
"""Text of the mark."""


def set_name(rank: int, number: int) -> str:
    """The name of a data set."""
    return f"r{rank:05}_d{number:05}"


def parse_set_name(name: str) -> tuple[int, int] | None:
    """(rank, set) of one of our names; None for any other."""
    rank, separator, number = name.partition("_d")
    if not separator or rank[:1] != "r" or not rank[1:].isascii() or not number.isascii():
        return None
    if not rank[1:].isdigit() or not number.isdigit():
        return None
    found = int(rank[1:]), int(number)
    return found if set_name(*found) == name else None
