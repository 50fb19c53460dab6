"""Answers as values: what people read, what programs read, a picture. Rooms make them, doors render them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from iosonde.model.frames import Frame


class Prose(NamedTuple):
    """A text, wrapped at the width of the page. ``first``: before its first line; ``rest``: before others.

    ``rest`` None: as wide as ``first``; ``tone``: the severity in whose colour it is shown, empty: none.
    """

    text: str
    first: str = ""
    rest: str | None = None
    tone: str = ""


class Coloured(NamedTuple):
    """A line of parts, each with the name of its colour: a severity, dim, bold, or "" for none."""

    parts: Sequence[tuple[str, str]]


class TableBlock(NamedTuple):
    """A table for people. ``left``: columns aligned left; ``worth``: those that go first where room is short."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    worth: Sequence[str] = ()


class PageFormat(NamedTuple):
    """Where an answer is shown. ``columns(n)``: its width, of a pipe ``n``; ``ascii_only``: it has no other letters."""

    columns: Callable[[int], int]
    coloured: bool
    ascii_only: bool


Block = str | Prose | Coloured | TableBlock | Callable[[PageFormat], str]
"""A part of an answer for people: a line as it stands ("" an empty one), or lines made for a page."""


class RowTable(NamedTuple):
    """Rows for CSV, a mapping each, of which the columns ``names`` are written."""

    names: Sequence[str]
    rows: Iterable[Mapping[str, Any]]


class AnswerForms(Protocol):
    """The answer to one question, for people and for programs. Each form is made when it is asked for."""

    def shown(self) -> Iterable[Block]:
        """Sentences and tables, in order."""

    def data(self) -> Mapping[str, Any]:
        """JSON-able, with ``schema_version``; missing is None."""


class TableForms(AnswerForms, Protocol):
    """An answer that is also a table for programs: CSV from records, CSV and Parquet from a frame."""

    def table(self) -> RowTable | Frame:
        """The rows."""


class PlainPicture(NamedTuple):
    """A figure: ``plain()`` is what is drawn as JSON-able data, ``drawn(width_in=, dark=, zone=)`` matplotlib's."""

    plain: Callable[[], Any]
    drawn: Callable[..., Any]
