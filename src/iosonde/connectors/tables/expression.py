"""Small arithmetic on columns that a mapping may ask for: names, numbers, + - * / and comparisons; no eval.

    own_bytes / (server_read_bytes + server_written_bytes)
    100 * (1 - (`free blocks` + `free frags`) / disk_size)
    files >= 0.5 * ranks

Names that are no plain words stand in back quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Floats


MOST_CHARACTERS = 1000
_MOST_DEPTH = 30
_MOST_TOKENS = 200
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,20}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,3})?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|`(?P<quoted>[^`]{1,200})`|(?P<mark><=|>=|==|!=|[-+*/()<>]))"
)
_COMPARE = ("<=", ">=", "==", "!=", "<", ">")


@dataclass(frozen=True)
class Expression:
    """A parsed expression: ``op`` is a mark, "name" or "number"."""

    op: str
    left: Expression | None = None
    right: Expression | None = None
    name: str = ""
    value: float = 0.0

    @property
    def names(self) -> frozenset[str]:
        """Every column that it needs."""
        own = frozenset({self.name}) if self.op == "name" else frozenset()
        parts = (part.names for part in (self.left, self.right) if part is not None)
        return own.union(*parts)

    def renamed(self, new: Callable[[str], str]) -> Expression:
        """The same on other columns."""
        return Expression(
            self.op,
            self.left and self.left.renamed(new),
            self.right and self.right.renamed(new),
            new(self.name) if self.op == "name" else "",
            self.value,
        )

    def value_of(self, column: Callable[[str], Floats]) -> Floats:
        """Row by row; NaN where a part is missing or divided by zero; comparisons give 1, 0 or NaN."""
        if self.op == "number":
            return np.float64(self.value)  # type: ignore[return-value]
        if self.op == "name":
            return column(self.name)
        assert self.left is not None
        assert self.right is not None
        a, b = self.left.value_of(column), self.right.value_of(column)
        with np.errstate(all="ignore"):
            result = np.asarray(_DO[self.op](a, b), dtype=np.float64)
        unknown = np.isnan(a) | np.isnan(b) | ~np.isfinite(result)
        return np.where(unknown, np.nan, result)


_DO: dict[str, Callable[[Floats, Floats], NDArray[np.generic]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "<=": np.less_equal,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    ">": np.greater,
}


def parse(text: str) -> Expression:
    """An expression. Raises ValueError with what is wrong and where."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"longer than {MOST_CHARACTERS} characters")
    reader = _Reader(_tokens(text))
    found = reader.comparison(0)
    if reader.kind:
        raise ValueError(f"{reader.text!r} is not expected at character {reader.at + 1}")
    return found


def _tokens(text: str) -> list[tuple[str, str, int]]:
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise ValueError(
                f"cannot read {text[at:].strip()[:20]!r}; names with odd characters stand in `back quotes`"
            )
        found.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
        at = match.end()
        if len(found) > _MOST_TOKENS:
            raise ValueError(f"more than {_MOST_TOKENS} names and marks")
    return [*found, ("", "the end", len(text))]


class _Reader:
    """Recursive descent over tokens."""

    def __init__(self, tokens: list[tuple[str, str, int]]) -> None:
        self._tokens = tokens
        self._place = 0

    @property
    def kind(self) -> str:
        return self._tokens[self._place][0]

    @property
    def text(self) -> str:
        return self._tokens[self._place][1]

    @property
    def at(self) -> int:
        return self._tokens[self._place][2]

    def _take(self, *marks: str) -> str | None:
        if self.kind == "mark" and self.text in marks:
            self._place += 1
            return self._tokens[self._place - 1][1]
        return None

    def comparison(self, depth: int) -> Expression:
        left = self._sum(depth)
        if mark := self._take(*_COMPARE):
            return Expression(mark, left, self._sum(depth))
        return left

    def _sum(self, depth: int) -> Expression:
        left = self._product(depth)
        while mark := self._take("+", "-"):
            left = Expression(mark, left, self._product(depth))
        return left

    def _product(self, depth: int) -> Expression:
        left = self._atom(depth)
        while mark := self._take("*", "/"):
            left = Expression(mark, left, self._atom(depth))
        return left

    def _atom(self, depth: int) -> Expression:
        if depth > _MOST_DEPTH:
            raise ValueError("too many parentheses")
        if self._take("-"):
            return Expression("-", Expression("number"), self._atom(depth + 1))
        if self._take("("):
            inner = self.comparison(depth + 1)
            if not self._take(")"):
                raise ValueError(f"expected ) at character {self.at + 1}, not {self.text!r}")
            return inner
        kind, text, at = self._tokens[self._place]
        if kind == "number":
            self._place += 1
            return Expression("number", value=float(text))
        if kind in ("name", "quoted"):
            self._place += 1
            return Expression("name", name=text)
        raise ValueError(f"expected a name or number at character {at + 1}, not {text!r}")
