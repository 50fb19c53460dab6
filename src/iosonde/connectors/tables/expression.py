"""Arithmetic on columns for mappings: names, numbers, + - * / and comparisons, also of texts; no eval.

    own_bytes / (server_read_bytes + server_written_bytes)
    100 * (1 - (`free blocks` + `free frags`) / disk_size)
    files >= 0.5 * ranks
    compiler == "intel"

Names that are no plain words stand in back quotes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Floats, Texts


MOST_CHARACTERS = 1000
_MOST_TOKENS = 200
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,20}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,3})?)"
    r"|(?P<text>\"[^\"]{0,200}\"|'[^']{0,200}')"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|`(?P<quoted>[^`]{1,200})`|(?P<mark><=|>=|==|!=|[-+*/()<>]))"
)


@dataclass(frozen=True)
class Expression:
    """A parsed expression: ``op`` is an operator, "name", "number", "text" or "words" (a column of texts)."""

    op: str
    left: Expression | None = None
    right: Expression | None = None
    name: str = ""
    value: float = 0.0

    @property
    def names(self) -> frozenset[str]:
        """All columns of numbers that it refers to."""
        return self._named("name")

    @property
    def texts(self) -> frozenset[str]:
        """All columns that it compares with a text."""
        return self._named("words")

    def _named(self, op: str) -> frozenset[str]:
        own = frozenset({self.name}) if self.op == op else frozenset()
        parts = (part._named(op) for part in (self.left, self.right) if part is not None)
        return own.union(*parts)

    def renamed(self, new: Callable[[str], str]) -> Expression:
        """The expression with other column names."""
        return Expression(
            self.op,
            self.left and self.left.renamed(new),
            self.right and self.right.renamed(new),
            new(self.name) if self.op in ("name", "words") else self.name,
            self.value,
        )

    def value_of(
        self, column: Callable[[str], Floats], words: Callable[[str], Texts] | None = None
    ) -> Floats:
        """Evaluate for each row; NaN for a missing operand or a division by zero; comparisons give 1, 0 or NaN.

        ``words``: columns of texts, "" where missing.
        """
        if self.op == "number":
            return np.float64(self.value)  # type: ignore[return-value]
        if self.op == "name":
            return column(self.name)
        assert self.left is not None
        assert self.right is not None
        if self.right.op == "text":
            assert words is not None
            cells = words(self.left.name)
            same = (cells == self.right.name) == (self.op == "==")
            return np.where(cells == "", np.nan, same.astype(np.float64))
        a, b = self.left.value_of(column, words), self.right.value_of(column, words)
        with np.errstate(all="ignore"):
            result = np.asarray(_DO[self.op](a, b), dtype=np.float64)
        unknown = np.isnan(a) | np.isnan(b) | ~np.isfinite(result)
        return np.where(unknown, np.nan, result)


_MARKS: dict[type[ast.operator | ast.cmpop], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"},
    **{ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.Gt: ">"},
}
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
    """Parse an expression. Raises ValueError with the reason and place."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"longer than {MOST_CHARACTERS} characters")
    tokens = _tokens(text)
    # One token a line, and names and numbers by their places: what Python says of a line is of a token.
    lines = [token if kind == "mark" else f"_{n}" for n, (kind, token, _) in enumerate(tokens[:-1])]
    try:
        tree = ast.parse(" \\\n".join(lines) + "\n", mode="eval")
    except (SyntaxError, MemoryError, RecursionError) as error:
        at = (getattr(error, "lineno", None) or 1) - 1
        if "never closed" in str(error):
            raise ValueError(f"expected ) for the ( at character {tokens[at][2] + 1}") from None
        past = at < len(lines) and (getattr(error, "offset", None) or 0) > len(lines[at])
        raise _unexpected(tokens, min(at + past, len(lines))) from None
    return _built(tree.body, tokens)


def _unexpected(tokens: list[tuple[str, str, int]], place: int) -> ValueError:
    _, text, at = tokens[place]
    if place == 0 or (tokens[place - 1][0] == "mark" and tokens[place - 1][1] != ")"):
        return ValueError(f"expected a name or number at character {at + 1}, not {text!r}")
    return ValueError(f"{text!r} is not expected at character {at + 1}")


def _built(node: ast.expr, tokens: list[tuple[str, str, int]]) -> Expression:
    """Convert Python's syntax tree; raises ValueError for nodes outside arithmetic."""
    match node:
        case ast.Name(id=name):
            kind, text, _ = tokens[int(name[1:])]
            if kind == "number":
                return Expression("number", value=float(text))
            if kind == "text":
                raise ValueError(
                    f"{text} is a text, of which only NAME == {text} or != can be asked"
                )
            return Expression("name", name=text)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return Expression("-", Expression("number"), _built(inner, tokens))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _MARKS:
            return Expression(_MARKS[type(op)], _built(left, tokens), _built(right, tokens))
        case ast.Compare(left=ast.Name(), ops=[op], comparators=[ast.Name(id=name)]) if tokens[
            int(name[1:])
        ][0] == "text" and type(op) in (ast.Eq, ast.NotEq):
            column = _built(node.left, tokens)
            if column.op != "name":
                raise _unexpected(tokens, int(name[1:]))
            text = tokens[int(name[1:])][1][1:-1]
            return Expression(
                _MARKS[type(op)],
                Expression("words", name=column.name),
                Expression("text", name=text),
            )
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return Expression(_MARKS[type(op)], _built(left, tokens), _built(right, tokens))
        case ast.Call(func=inner) | ast.Compare(comparators=[inner, *_]):
            raise _unexpected(tokens, inner.end_lineno or 0)
        case ast.Tuple():  # ()
            raise _unexpected(tokens, (node.end_lineno or 1) - 1)
    raise _unexpected(tokens, node.lineno - 1)


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
