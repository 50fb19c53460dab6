"""An empty matplotlib figure, and a full one as a file or bytes: no pyplot, no global state."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.drawing.style import Style
from iosonde.model.errors import MissingPartError, StoreError, UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS_IN = (3.0, 40.0)
"""Least and largest width of a picture."""
DPI = 130
"""Resolution of PNG pictures, and of rasterised parts of the others."""
FORMS = ("png", "svg", "pdf")
"""File formats of pictures."""
_DATES = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Metadata without the creation date: equal data give equal bytes."""


def possible_width(width_in: float) -> None:
    """Raise UsageError for a width in which nothing fits or that no program opens."""
    least, most = WIDTHS_IN
    if not least <= width_in <= most:
        raise UsageError(
            f"a picture {width_in:g} inches wide cannot be drawn",
            expected=f"{least:g} to {most:g} inches",
        )


def new_canvas(width_in: float, height_in: float, style: Style) -> Figure:
    """An empty picture. Raises MissingPartError (no matplotlib)."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPartError(
            "pictures need matplotlib", hint="'pip install matplotlib'"
        ) from error
    return Figure(figsize=(width_in, height_in), facecolor=style.ground)


def write(canvas: Figure, path: Path) -> None:
    """Write the picture: PNG, SVG or PDF by the name's ending. Raises UsageError (another ending), StoreError."""
    form = path.suffix[1:].lower()
    if form not in FORMS:
        raise UsageError(
            f"{path}: a picture cannot be {f'a .{form} file' if form else 'a file without an ending'}",
            expected="a name that ends in .png, .svg or .pdf",
        )
    try:
        _save(canvas, path, form, DPI)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).split("(")[0].strip()
        raise StoreError(
            f"cannot write {path}: {reason}", expected="a writable .png, .svg or .pdf file"
        ) from error


def encoded(canvas: Figure, form: str, scale: float = 1.0) -> bytes:
    """The picture as ``png``, ``svg`` or ``pdf``; ``scale`` times as many pixels."""
    buffer = io.BytesIO()
    _save(canvas, buffer, form, DPI * scale)
    return buffer.getvalue()


def _save(canvas: Figure, place: Path | io.BytesIO, form: str, dpi: float) -> None:
    import matplotlib

    ids: Any = {"svg.hashsalt": "iosonde"}
    with matplotlib.rc_context(ids):
        canvas.savefig(
            place,
            format=form,
            dpi=dpi,
            facecolor=canvas.get_facecolor(),
            metadata=_DATES.get(form),
        )
