"""A store that keeps nothing: its operations measure the overhead of the bridge to Python."""

from __future__ import annotations

from iosonde.bench.backends.protocol import Capabilities


class NothingSet:
    """Returns at once; objects have one nominal size."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._content = bytes(size)

    def create(self, _name: str, _content: bytes, /) -> None:
        """Do nothing."""

    def stat(self, _name: str, /) -> int:
        """Nominal size."""
        return self._size

    def read(self, _name: str, size: int, /) -> bytes:
        """Zeros of the requested size."""
        if len(self._content) != size:
            self._content = bytes(size)
        return self._content

    def delete(self, _name: str, /) -> None:
        """Do nothing."""


class NothingStore:
    """Store without contents."""

    def __init__(self) -> None:
        self._size = 0

    def pretend(self, size: int, /) -> None:
        """Set the nominal size of objects."""
        self._size = size

    def capabilities(self) -> Capabilities:
        """No storage, no checks."""
        return Capabilities(stores=False, exclusive=False, delete_tells=False)

    def begin(self) -> None:
        """Do nothing."""

    def lock(self) -> None:
        """Do nothing."""

    def note(self) -> str | None:
        """None."""
        return None

    def set_note(self, _text: str, /) -> None:
        """Do nothing."""

    def sets(self) -> list[tuple[int, int]]:
        """None."""
        return []

    def make_set(self, _rank: int, _number: int, /) -> None:
        """Do nothing."""

    def open_set(self, _rank: int, _number: int, _fsync: bool, /) -> NothingSet:
        """Set of nonexistent objects."""
        return NothingSet(self._size)

    def list_set(self, _rank: int, _number: int, /) -> list[int]:
        """None."""
        return []

    def remove_set(self, _rank: int, _number: int, /) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""
