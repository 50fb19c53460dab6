"""Fields of a table in a scenario file, with errors that name line and field."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass, field
from typing import Any

from iosonde.model.errors import UsageError
from iosonde.model.text import clean_text

_MOST = 2**53


@dataclass(frozen=True)
class Place:
    """A file and its text; ``text`` "": values without lines."""

    file: str
    text: str = ""

    def line(self, header: str, number: int, key: str) -> int | None:
        """Line of a key in the ``number``-th table ``header`` (from 1), of the table where the key is missing."""
        seen, inside, found = 0, not header, None
        for place, line in enumerate(self.text.splitlines(), 1):
            if match := re.match(r"\s*\[+\s*([\w.-]+)\s*\]+", line):
                seen += match[1] == header
                inside = match[1] == header and seen == number
                found = place if inside else found
            elif inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
                return place
        return found


@dataclass
class Table:
    """A table of the file. ``name``: its header, "" at the top; ``which``: its number among several."""

    name: str
    values: dict[str, Any]
    place: Place
    which: int = 1
    several: bool = False
    _read: set[str] = field(default_factory=set)

    def wrong(self, key: str, expected: str) -> UsageError:
        """The error of a field."""
        line = self.place.line(self.name, self.which, key)
        where = f"{self.place.file}: " + (f"line {line}: " if line else "")
        name = f"{self.name} {self.which}" if self.several else self.name
        path = f"{name}.{key}" if name else key
        given = "is missing"
        if key in self.values:
            text = repr(self.values[key])
            given = f"= {text[:60] + ' ...' if len(text) > 60 else text}"
        return UsageError(clean_text(f"{where}{path} {given}"), expected=expected)

    def _take(self, key: str, default: Any, expected: str) -> Any:
        self._read.add(key)
        if key in self.values:
            return self.values[key]
        if default is None:
            raise self.wrong(key, expected)
        return default

    def whole(self, key: str, least: int, default: int | None = None, most: int = _MOST) -> int:
        """Read an integer from ``least`` to ``most``."""
        expected = f"a whole number from {least} to {most}"
        value = self._take(key, default, expected)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.wrong(key, expected)
        if key in self.values and not least <= value <= most:
            raise self.wrong(key, expected)
        return value

    def whole_or(self, key: str, least: int, word: str) -> int | None:
        """Read an integer, or None for the word."""
        if self.values.get(key) == word:
            self._read.add(key)
            return None
        if key in self.values and isinstance(self.values[key], str):
            raise self.wrong(key, f"a whole number from {least} on, or {word!r}")
        return self.whole(key, least)

    def number(
        self, key: str, least: float, default: float | None = None, *, whole: bool = False
    ) -> float:
        """Read a finite number, at least ``least``."""
        expected = f"a {'whole ' if whole else ''}number from {least:g} on"
        value = self._take(key, default, expected)
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if not good or not math.isfinite(value) or not least <= value <= 1e15:
            raise self.wrong(key, expected)
        if whole and value != int(value):
            raise self.wrong(key, expected)
        return float(value)

    def numbers(self, key: str) -> tuple[float, ...]:
        """Read service times."""
        expected = "a list of numbers from 1 on"
        value = self._take(key, None, expected)
        good = isinstance(value, list) and value
        if not good or not all(
            isinstance(one, int | float) and not isinstance(one, bool) and 1 <= one <= 1e15
            for one in value
        ):
            raise self.wrong(key, expected)
        return tuple(float(one) for one in value)

    def wholes(self, key: str, count: int | None, expected: str) -> list[int]:
        """Read ``count`` non-negative integers."""
        value = self._take(key, None, expected)
        good = isinstance(value, list) and (count is None or len(value) == count)
        if not good or not all(
            isinstance(one, int) and not isinstance(one, bool) and 0 <= one <= _MOST
            for one in value
        ):
            raise self.wrong(key, expected)
        return list(value)

    def text(self, key: str, default: str | None = None) -> str:
        """Read a text."""
        value = self._take(key, default, "a text")
        if not isinstance(value, str):
            raise self.wrong(key, "a text")
        return clean_text(value)

    def word(self, key: str, choices: tuple[str, ...], default: str | None) -> str:
        """Read a word out of ``choices``."""
        expected = "one of " + ", ".join(choices)
        value = self._take(key, default, expected)
        if value not in choices:
            raise self.wrong(key, expected)
        return str(value)

    def anything(self, key: str) -> tuple[Any, ...]:
        """Read a list of at least one value."""
        value = self._take(key, None, "a list of values")
        if not isinstance(value, list) or not value:
            raise self.wrong(key, "a list of values")
        return tuple(value)

    def table(self, key: str) -> Table:
        """Read a required table."""
        found = self.optional(key)
        if found is None:
            raise self.wrong(key, f"a table [{key}]")
        return found

    def optional(self, key: str) -> Table | None:
        """Read an optional table."""
        self._read.add(key)
        if key not in self.values:
            return None
        name = f"{self.name}.{key}" if self.name else key
        if not isinstance(self.values[key], dict):
            raise self.wrong(key, f"a table [{name}]")
        return Table(name, self.values[key], self.place)

    def tables(self, key: str) -> list[Table]:
        """Read tables ``[[key]]``."""
        self._read.add(key)
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.wrong(key, f"tables [[{key}]]")
        return [Table(key, one, self.place, n, several=True) for n, one in enumerate(value, 1)]

    def nothing_else(self) -> None:
        """Raise UsageError for a field that was not read."""
        for key in self.values:
            if key not in self._read:
                near = difflib.get_close_matches(key, self._read, n=1)
                others = ", ".join(sorted(self._read))
                raise self.wrong(key, f"{near[0]!r}" if near else f"one of {others}")
