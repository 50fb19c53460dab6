"""A sheet as a file: a picture, or a table of its content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.engine.files import csv_text

if TYPE_CHECKING:
    from iosonde.drawing.sheet import Sheet
    from iosonde.serve.pictures import PictureParameters


def sheet_file(sheet: Sheet, query: PictureParameters) -> bytes:
    """``sheet`` as ``query.format`` says: csv, png, svg or pdf; instants are in the zone of ``query``."""
    if query.format == "csv":
        from iosonde.drawing.table import HEAD, sheet_rows

        return csv_text(sheet_rows(sheet, query.zone), HEAD).encode()
    from iosonde.drawing.canvas import encoded
    from iosonde.drawing.render_sheet import draw_sheet

    canvas = draw_sheet(sheet, width_in=query.width, dark=query.dark, zone=query.zone)
    return encoded(canvas, query.format, query.scale)
