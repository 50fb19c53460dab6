"""Sheets of boxes: operations by host, statistics over many intervals (paper: figures 2, 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.drawing.marks import Bars
from iosonde.drawing.sheet import SECONDS, Pane, Sheet, places, seen_from
from iosonde.model.frames import SeriesKey
from iosonde.model.ops import OF_WINDOW, op_order, op_word
from iosonde.model.text import clean_text
from iosonde.model.units import format_count, format_option, format_seconds
from iosonde.stats.boxes import LEAST, Box
from iosonde.weather.figures.distributions import SeriesBox

WHISKERS = "boxes: quartiles, whiskers: the last within 1.5 box heights (log)"


def bars(categories: Sequence[str], boxes: Sequence[Box]) -> Bars:
    """Boxes in ns as a mark in seconds."""

    def column(name: str) -> np.ndarray:
        return np.array([getattr(box, name) for box in boxes], dtype=np.float64) / 1e9

    sizes = [len(box.outliers) for box in boxes]
    outliers = [box.outliers for box in boxes] or [np.empty(0)]
    counts = [box.outlier_n for box in boxes] or [np.empty(0, dtype=np.int64)]
    return Bars(
        categories=tuple(categories),
        n=np.array([box.n for box in boxes], dtype=np.int64),
        q25=column("q25"),
        q50=column("q50"),
        q75=column("q75"),
        low=column("low"),
        high=column("high"),
        outlier_value=np.concatenate(outliers) / 1e9,
        outlier_category=np.repeat(np.arange(len(boxes), dtype=np.int64), sizes),
        outlier_n=np.concatenate(counts).astype(np.int64),
    )


def hosts_sheet(boxes: Mapping[SeriesKey, SeriesBox]) -> Sheet | None:
    """A box per host, a row per op, a column per target. None without samples."""
    if not boxes:
        return None
    targets = sorted({key.target for key in boxes})
    ops = sorted({key.op for key in boxes}, key=op_order)
    periods = {key.period_ns for key in boxes}
    panes = []
    for op in ops:
        for target in targets:
            here = sorted(key for key in boxes if key.op == op and key.target == target)
            if not here:
                continue
            names = [_host(key, len(periods) > 1) for key in here]
            n, due = sum(boxes[k].box.n for k in here), sum(boxes[k].n_due for k in here)
            note = f"n = {format_count(n)}" + (
                f", {format_count(due - n)} not ok" if due > n else ""
            )
            mark = bars(names, [boxes[key].box for key in here])
            panes.append(Pane(op_word(op), clean_text(target), SECONDS, (mark,), n, note))
    n = sum(pane.n for pane in panes)
    hosts = len({key.host for key in boxes})
    title = f"Hosts: {', '.join(targets)} as seen from " + (
        "1 host" if hosts == 1 else f"{hosts} hosts"
    )
    caption = (f"{format_count(n)} operations; {WHISKERS}", outside(panes))
    return Sheet("hosts", title, tuple(targets), tuple(panes), None, None, caption)


def _host(key: SeriesKey, periods: bool) -> str:
    return clean_text(key.host) + (f", {format_option(key.period_ns)}" if periods else "")


def statistics_sheet(boxes: Mapping[SeriesKey, Mapping[str, Box]], window_ns: int) -> Sheet | None:
    """A box per statistic over all intervals, a row per op, a column per place. None without intervals."""
    if not boxes:
        return None
    names = places(boxes)
    panes = []
    for key in sorted(boxes, key=lambda key: (op_order(key.op), names[key])):
        each = [boxes[key][name] for name in OF_WINDOW]
        n = max(box.n for box in each)
        panes.append(
            Pane(
                op_word(key.op),
                names[key],
                SECONDS,
                (bars(OF_WINDOW, each),),
                n,
                f"{format_count(n)} intervals",
            )
        )
    length = format_seconds(window_ns)
    title = f"Statistics of {length}: {seen_from(boxes)}"
    least = f"each box: a statistic over all intervals of {length} that have it; fewer than {LEAST}: dots"
    caption = (least, f"{WHISKERS}; {outside(panes)}")
    columns = tuple(sorted(set(names.values())))
    return Sheet("statistics", title, columns, tuple(panes), None, None, caption)


def outside(panes: Sequence[Pane]) -> str:
    """Caption with the number of outliers, and how they were drawn."""
    marks = [mark for pane in panes for mark in pane.marks if isinstance(mark, Bars)]
    single = sum(int(np.count_nonzero(mark.outlier_n == 1)) for mark in marks)
    many = sum(int(mark.outlier_n[mark.outlier_n > 1].sum()) for mark in marks)
    text = f"outside of the whiskers: {format_count(single + many)}"
    return text + (
        f", of which {format_count(many)} were counted on a grid" if many else ", all drawn"
    )
