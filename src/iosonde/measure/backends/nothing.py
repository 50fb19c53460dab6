"""A store that keeps nothing: what an operation on it takes is the price of the bridge to Python."""

from __future__ import annotations

from iosonde.measure.backends.protocol import Capabilities


class NothingSet:
    """Answers at once; objects pretend to be of the size that is asked for."""

    def __init__(self) -> None:
        self._content = b""

    def create(self, _name: str, content: bytes, /) -> None:
        """Do nothing."""
        self._content = content

    def stat(self, _name: str, /) -> int:
        """The size of what was created last."""
        return len(self._content)

    def read(self, _name: str, size: int, /) -> bytes:
        """What was created last, or zeros."""
        if len(self._content) < size:
            self._content = bytes(size)
        return self._content

    def delete(self, _name: str, /) -> None:
        """Do nothing."""


class NothingStore:
    """See the module."""

    def capabilities(self) -> Capabilities:
        """It keeps nothing and notices nothing."""
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
        """Objects that are not there."""
        return NothingSet()

    def list_set(self, _rank: int, _number: int, /) -> list[int]:
        """None."""
        return []

    def remove_set(self, _rank: int, _number: int, /) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""
