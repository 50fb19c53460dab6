"""Layout of the panes of a sheet: plain arithmetic in inches, nothing is drawn here."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.drawing.axes import text_width
from iosonde.drawing.legend_words import legend_lines, wrapped
from iosonde.drawing.marks import Bars, Curve, RatioMarks, Strip
from iosonde.drawing.marks_matplotlib import shortened
from iosonde.drawing.sheet import Sheet

_LEAST_IN = 2.5
"""Least width of a pane if the picture allows it."""
_MOST_COLUMNS = 3
"""Most columns of a sheet with one column of panes: more would be too small to compare."""
_AXES_IN = 1.25
_LEVELS_AXES_IN = 2.3
"""Height of a pane over named levels: it is the picture."""
_CURVES_IN = 1.7
_GAP_IN = 0.24
_OUT_IN = 0.1
_STRIP_IN, _STRIP_GAP_IN = 0.18, 0.06
_TIMES_IN = 0.34
"""A time axis, with the date below its times."""


@dataclass(frozen=True)
class SheetLayout:
    """Sizes in inches; panes are counted row by row."""

    width_in: float
    height_in: float
    margin_in: float
    label_in: float
    """Width of the labels left of a pane."""
    pane_in: float
    axes_in: float
    step_in: float
    """From the top of a pane's axes to the next one's below it."""
    head_in: float
    """From the top of the picture to the first axes."""
    columns: int
    panes: int
    two_lines: bool
    stack: int = 1
    between_in: float = 0.0
    """Extra space below a stack of panes if each has its own time axis."""

    def box(self, number: int) -> tuple[float, float, float, float]:
        """left, bottom, width, height of a pane's axes, as shares of the picture."""
        stacks, inside = divmod(number, self.stack)
        stack_row, column = divmod(stacks, self.columns)
        row = stack_row * self.stack + inside
        left = self.margin_in + self.label_in
        left += column * (self.label_in + self.pane_in + _GAP_IN)
        top = self.head_in + row * self.step_in + stack_row * self.between_in
        return (
            left / self.width_in,
            1 - (top + self.axes_in) / self.height_in,
            self.pane_in / self.width_in,
            self.axes_in / self.height_in,
        )

    def strip(self, number: int) -> tuple[float, float, float, float]:
        """left, bottom, width, height of the strip below a pane, as shares of the picture."""
        left, bottom, width, _ = self.box(number)
        down = (_STRIP_GAP_IN + _STRIP_IN) / self.height_in
        return left, bottom - down, width, _STRIP_IN / self.height_in

    def lowest(self, number: int) -> bool:
        """True if no pane is below this one."""
        stacks, inside = divmod(number, self.stack)
        if inside + 1 < self.stack:
            return False
        return self.between_in > 0 or stacks + self.columns >= self.panes // self.stack


def layout(sheet: Sheet, width_in: float) -> SheetLayout:
    """Layout of all panes at a width."""
    margin = 0.15
    bars = [
        mark for pane in sheet.panes for mark in pane.marks if isinstance(mark, Bars | RatioMarks)
    ]
    strips = [mark for pane in sheet.panes for mark in pane.marks if isinstance(mark, Strip)]
    numbers = any(pane.across for pane in sheet.panes)
    label = max([0.5, *(text_width(strip.name, 9) for strip in strips)])
    if bars:
        names = [shortened(name) for mark in bars for name in mark.categories]
        label = 0.12 + max(text_width(name, 8) for name in names)
    elif sheet.levels or numbers:
        label = 0.62
    fit = max(1, int((width_in - 2 * margin - _OUT_IN + _GAP_IN) / (_LEAST_IN + label + _GAP_IN)))
    wanted = len(sheet.columns) if len(sheet.columns) > 1 else _MOST_COLUMNS
    stacks = len(sheet.panes) // sheet.stack
    if sheet.stack > 1:
        rows_of = len({pane.row for pane in sheet.panes})
        wanted = rows_of if rows_of > 1 else _MOST_COLUMNS
        fit = -(-wanted // -(-wanted // fit))  # four do not stand as three and one
    columns = max(1, min(fit, wanted, stacks))
    if len(sheet.columns) == 1:
        columns = -(-stacks // -(-stacks // columns))  # nor here
    # Half a label of the time axis may stand out at the right.
    inner = width_in - 2 * margin - _OUT_IN
    pane = (inner - (columns - 1) * _GAP_IN) / columns - label
    most = max((len(mark.categories) for mark in bars), default=0)
    axes = (
        max(0.5, 0.2 * most + 0.1)
        if bars
        else _LEVELS_AXES_IN
        if sheet.levels or numbers
        else _AXES_IN
    )
    two_lines = any(_crowded(sheet, number, pane) for number in range(len(sheet.panes)))
    above = 0.4 if two_lines else 0.26
    curves = any(isinstance(mark, Curve) for pane in sheet.panes for mark in pane.marks)
    axes = _CURVES_IN if curves else axes
    below = 0.26 if bars or curves else 0.38 if sheet.levels or numbers else 0.16
    below += _STRIP_GAP_IN + _STRIP_IN if strips else 0.0
    stack_rows = -(-stacks // columns)
    rows = stack_rows * sheet.stack
    between = _TIMES_IN if any(pane.span_s for pane in sheet.panes) else 0.0
    title = len(wrapped(sheet.title, 12.5, width_in - 2 * margin))
    head = 0.14 + 0.21 * title + 0.17 * legend_lines(sheet, width_in, pane) + 0.08 + above
    caption = sum(len(wrapped(text, 7.5, width_in - 0.3)) for text in sheet.caption)
    step = axes + above + below
    foot = (0.1 if bars or curves or sheet.levels or numbers else 0.32) + 0.14 * caption + 0.16
    height = head + step * rows + between * (stack_rows - 1) - above + foot
    return SheetLayout(
        width_in,
        height,
        margin,
        label,
        pane,
        axes,
        step,
        head,
        columns,
        len(sheet.panes),
        two_lines,
        sheet.stack,
        between,
    )


def _crowded(sheet: Sheet, number: int, pane_in: float) -> bool:
    """True if title and note of a pane would overlap on one line."""
    pane = sheet.panes[number]
    title = pane.row if len(sheet.columns) == 1 else f"{pane.row}  .  {shortened(pane.column, 34)}"
    return text_width(title, 9.5) * 1.12 + text_width(pane.note, 7.5) + 0.1 > pane_in
