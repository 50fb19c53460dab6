"""An empty matplotlib figure, and a full one as a file or bytes: no pyplot, no global state."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.model.errors import MissingPartError, StoreError
from iosonde.plots.style import Style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 130
"""Pixels an inch of PNG pictures, and of what is rasterised in the others."""


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
    """Write the picture: PNG, SVG or PDF by the name's ending. Raises StoreError."""
    try:
        canvas.savefig(path, dpi=DPI, facecolor=canvas.get_facecolor())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).split("(")[0].strip()
        raise StoreError(
            f"cannot write {path}: {reason}", expected="a writable .png, .svg or .pdf file"
        ) from error


def encoded(canvas: Figure, form: str, scale: float = 1.0) -> bytes:
    """The picture as ``png``, ``svg`` or ``pdf``; ``scale`` times as many pixels."""
    buffer = io.BytesIO()
    canvas.savefig(buffer, format=form, dpi=DPI * scale, facecolor=canvas.get_facecolor())
    return buffer.getvalue()
