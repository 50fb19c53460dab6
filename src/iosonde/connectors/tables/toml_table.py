"""Key-by-key reader of one TOML table: only known keys, and errors with their place."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from datetime import tzinfo
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from iosonde.connectors.tables.expression import Expression, parse
from iosonde.model.errors import UsageError

T = TypeVar("T")
Columns = tuple[str, ...]


class TomlTable:
    """A table of the file, in which every key must be read."""

    def __init__(self, place: str, name: str, found: Any) -> None:
        self.place, self.name = place, name
        if not isinstance(found, dict):
            raise self.wrong("", f"{found!r:.60} is no table")
        self._left: dict[str, Any] = dict(found)
        self._known: list[str] = []

    def wrong(self, key: str, what: str, expected: str = "", hint: str = "") -> UsageError:
        """Error about a key, with its place."""
        where = f"{self.place}, {self.name}" + (f" {key}" if key else "")
        return UsageError(f"{where}: {what}", expected=expected, hint=hint)

    def take(self, key: str, kind: type[T] | tuple[type[T], ...], default: T) -> T:
        """Read a value of a type. Raises UsageError for another type."""
        self._known.append(key)
        found = self._left.pop(key, default)
        boolean = isinstance(found, bool) and bool not in (
            kind if isinstance(kind, tuple) else (kind,)
        )
        if found is not default and (not isinstance(found, kind) or boolean):
            names = " or ".join(
                one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,))
            )
            raise self.wrong(key, f"{found!r:.60} does not fit", names)
        return found

    def word(self, key: str, choices: Collection[str], default: str) -> str:
        """Read a word out of ``choices``."""
        found = self.take(key, str, default)
        if found != default and found not in choices:
            raise self.wrong(key, f"{found!r} is unknown", "one of " + ", ".join(choices))
        return found

    def names(self, key: str) -> Columns:
        """Read a name or a list of them."""
        found: Any = self.take(key, (str, list), [])
        several = [found] if isinstance(found, str) else found
        if not all(isinstance(name, str) and name for name in several):
            raise self.wrong(
                key, f"{found!r:.60} does not fit", "a column's name or a list of them"
            )
        return tuple(several)

    def expression(self, key: str) -> Expression | None:
        """Read an expression; None without one."""
        text = self.take(key, str, "")
        try:
            return parse(text) if text else None
        except ValueError as error:
            raise self.wrong(
                key, str(error), "names, numbers, + - * / ( ) and a comparison"
            ) from None

    def text(self, key: str) -> str:
        """Peek at a value as text without marking it as read."""
        return str(self._left.get(key, ""))

    def zone(self, key: str) -> str:
        """Read the name of a time zone, "" for none."""
        name = self.take(key, str, "")
        if name and zone_of(name) is None:
            raise self.wrong(key, f"there is no zone {name!r}", "such as UTC or Europe/Berlin")
        return name

    def tables(self, key: str) -> dict[str, Any]:
        """Read a table of tables."""
        return self.take(key, dict, {})

    def done(self) -> None:
        """Raise UsageError for a key that was not read."""
        for key in self._left:
            near = difflib.get_close_matches(key, self._known, n=1)
            expected = "one of " + ", ".join(self._known) if self._known else "no key at all"
            raise self.wrong(key, "there is no such key", expected, repr(near[0]) if near else "")


def zone_of(name: str) -> tzinfo | None:
    """Time zone by its name; None if there is none."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return None
