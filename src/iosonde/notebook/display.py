"""Display of answers: as text, as HTML for light and dark notebooks, as a picture, as columns."""

from __future__ import annotations

import base64
import difflib
import html
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.errors import UsageError
from iosonde.model.text import clean_text
from iosonde.notebook.columns import data_frame, plain_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure as Figure  # noqa: PLC0414 - the only place here
    from numpy.typing import NDArray
    from pandas import DataFrame  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from iosonde.notebook.columns import Columns

MOST_ROWS, MOST_COLUMNS, MOST_LINES = 10, 12, 12
"""Most rows, columns and lines displayed; ``columns`` and ``lines`` have all."""
_WIDEST = 48
_SCALE = 0.75
"""Scale of pictures in a notebook: about 100 pixels per inch."""


class Answer(ABC):
    """Result of a question. ``data``: from the analysis; ``columns``: numpy arrays by name; ``lines``: sentences.

    ``notes``: what else to know, such as what was left out.
    """

    data: Any
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    @abstractmethod
    def columns(self) -> Columns:
        """Numpy arrays by name, all of one length. Instants are datetime64[ns], UTC; missing NaT, NaN or None."""

    def to_pandas(self) -> DataFrame:
        """``columns`` as a data frame. Raises MissingPartError: pandas is not installed."""
        return data_frame(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data that JSON can hold: ``lines``, ``notes``, and ``rows``; missing is None."""
        rows = plain_rows(self.columns)
        return {"lines": list(self.lines), "notes": list(self.notes), "rows": rows}

    def __getitem__(self, name: Any) -> Any:
        """Column by name. Raises UsageError: there is none of this name."""
        columns = self.columns
        if isinstance(name, str) and name in columns:
            return columns[name]
        near = difflib.get_close_matches(str(name), columns, n=3)
        raise UsageError(
            f"there is no column {name!r}",
            expected=f"one of {len(columns)} columns by name",
            hint=", ".join(near) or ".columns",
        )

    def __iter__(self) -> Iterator[Any]:
        """Iterate over names of columns, like a data frame."""
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        """True if there is a column of this name."""
        return name in self.columns

    def _shown(self) -> Columns | None:
        """Columns to display; None: words or a picture are better."""
        return self.columns

    def __repr__(self) -> str:
        columns = self._shown()
        table = [] if columns is None else _text_table(columns, self.columns)
        notes = [f"note: {clean_text(note)}" for note in self.notes]
        lines = [*map(clean_text, _few(self.lines)), *table, *_few(notes)]
        return "\n".join(lines) or f"<{type(self).__name__}>"

    def _repr_html_(self) -> str:
        columns = self._shown()
        table = "" if columns is None else _html_table(columns, self.columns)
        return _html_lines(self.lines) + table + _html_notes(self.notes)


class TableResult(Answer):
    """Columns and nothing else."""

    def __init__(self, columns: Columns, data: Any = None, lines: Sequence[str] = ()) -> None:
        self._columns, self.data, self.lines = columns, data, tuple(lines)

    @property
    def columns(self) -> Columns:
        """All columns."""
        return self._columns

    def __len__(self) -> int:
        return _length(self._columns)


class Pictured(Answer):
    """An answer with a picture."""

    def plot(self, *, width_in: float = 8.0, dark: bool = False) -> Figure:
        """Draw a matplotlib figure, which a notebook shows even without pyplot.

        Raises MissingPartError (no matplotlib), UsageError (width).
        """
        return displayable(self._drawn(width_in, dark))

    @property
    def figure(self) -> Figure:
        """The figure with default size and colours."""
        return self.plot()

    def save(self, path: str | Path, *, width_in: float = 8.0, dark: bool = False) -> None:
        """Write the picture: PNG, SVG or PDF by the name's ending; equal data give equal bytes. Raises StoreError."""
        from iosonde.drawing.canvas import write

        write(self._drawn(width_in, dark), Path(path))

    @abstractmethod
    def _drawn(self, width_in: float, dark: bool) -> Figure:
        """Draw the picture; width in inches."""

    def _picture_text(self) -> str:
        """Text in place of the picture."""
        return f"<{type(self).__name__}>"

    def _shown(self) -> Columns | None:
        return None

    def _repr_html_(self) -> str:
        """Words and picture as HTML."""
        code = base64.b64encode(_png(self.figure)).decode()
        return f'{super()._repr_html_()}<img src="data:image/png;base64,{code}">'

    def _ipython_display_(self) -> None:
        """Display words, then the picture separately: a notebook file stores it so, and other readers show it."""
        from IPython.display import display

        if self.lines:
            words = {"text/plain": "\n".join((*_few(self.lines), *_few(self.notes)))}
            words["text/html"] = _html_lines(self.lines) + _html_notes(self.notes)
            display(words, raw=True)  # type: ignore[no-untyped-call, unused-ignore]
        picture = {"text/plain": self._picture_text(), "image/png": _png(self.figure)}
        display(picture, raw=True)  # type: ignore[no-untyped-call, unused-ignore]


def displayable(figure: Figure) -> Figure:
    """The figure, displayable in a notebook without pyplot."""
    setattr(figure, "_repr_png_", lambda: _png(figure))  # noqa: B010 - matplotlib's class has no such name
    return figure


def _png(figure: Figure) -> bytes:
    from iosonde.drawing.canvas import encoded

    return encoded(figure, "png", scale=_SCALE)


def _few(lines: Sequence[str]) -> list[str]:
    """First lines."""
    if len(lines) <= MOST_LINES:
        return list(lines)
    return [*lines[: MOST_LINES - 1], f"... {len(lines) - MOST_LINES + 1} more"]


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values()))) if columns else 0


def _cells(columns: Columns, whole: Columns) -> tuple[list[str], list[list[str]], str]:
    """Heads, rows as text (of a long table the first and the last ones), and the full size if cut."""
    names = list(columns)[:MOST_COLUMNS]
    n = _length(columns)
    half = MOST_ROWS // 2
    rows = range(n) if n <= MOST_ROWS else [*range(half), *range(n - half, n)]
    heads = [f"{name} (UTC)" if columns[name].dtype.kind == "M" else name for name in names]
    body = [[_cell(columns[name], row) for name in names] for row in rows]
    if n > MOST_ROWS:
        body.insert(half, ["..."] * len(names))
    rows_of, of = _length(whole), len(whole)
    size = f"{rows_of} rows" if rows_of != 1 else "1 row"
    if len(body) < rows_of or n > MOST_ROWS or len(names) < of:
        return heads, body, f"{size} x {of} columns"
    return heads, body, size if n == 0 else ""


def _cell(column: NDArray[Any], row: int) -> str:
    value = column[row]
    if column.dtype.kind == "M":
        return "NaT" if np.isnat(value) else str(value.astype("datetime64[s]")).replace("T", " ")
    if value is None:
        return "NA"
    if isinstance(value, float | np.floating):
        return "NaN" if np.isnan(value) else f"{value:.5g}"
    text = clean_text(str(value))
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def _text_table(columns: Columns, whole: Columns) -> list[str]:
    heads, body, rest = _cells(columns, whole)
    rows = [heads, *body]
    widths = [max(len(row[place]) for row in rows) for place in range(len(heads))]
    left = [columns[name].dtype == object for name in list(columns)[: len(heads)]]
    lines = [
        "  ".join(
            text.ljust(width) if to_left else text.rjust(width)
            for text, width, to_left in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in rows
    ]
    return [*lines, rest] if rest else lines


def _html_table(columns: Columns, whole: Columns) -> str:
    """HTML table of the class that notebooks colour in both themes."""
    heads, body, rest = _cells(columns, whole)
    left = [columns[name].dtype == object for name in list(columns)[: len(heads)]]
    sides = ["left" if to_left else "right" for to_left in left]

    def line(tag: str, cells: list[str]) -> str:
        parts = (
            f'<{tag} style="text-align: {side}">{html.escape(text)}</{tag}>'
            for side, text in zip(sides, cells, strict=True)
        )
        return f"<tr>{''.join(parts)}</tr>"

    rows = "\n".join(line("td", row) for row in body)
    table = f'<table border="1" class="dataframe"><thead>{line("th", heads)}</thead><tbody>\n{rows}\n</tbody></table>'
    return table + (f"<p>{html.escape(rest)}</p>" if rest else "")


def _html_lines(lines: Sequence[str]) -> str:
    """HTML of the first line as the answer, others as details, in the theme's colours."""
    said = [html.escape(clean_text(line)) for line in _few(lines)]
    if not said:
        return ""
    items = "".join(f"<li>{line}</li>" for line in said[1:])
    return f"<p><b>{said[0]}</b></p>" + (f"<ul>{items}</ul>" if items else "")


def _html_notes(notes: Sequence[str]) -> str:
    said = (f"<li>note: {html.escape(clean_text(note))}</li>" for note in _few(notes))
    return f"<ul>{''.join(said)}</ul>" if notes else ""
