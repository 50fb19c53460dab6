"""Sheet of a run's time: a random part of the points, and every slow one (paper: latency timelines)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iosonde.drawing.marks import Level
from iosonde.drawing.sheet import SECONDS, Pane, Sheet, places
from iosonde.model.frames import Frame, SeriesKey
from iosonde.model.ops import op_order, op_word
from iosonde.model.units import format_count, format_duration
from iosonde.weather.sample_marks import drawn


def sparse_sheet(
    samples: Mapping[SeriesKey, Frame], since_ns: int, until_ns: int, above_ns: int, seed: int
) -> Sheet | None:
    """A row per op, a column per target. None without samples.

    ``samples``: what ``weather.samples_to_draw.thinned`` gives.
    """
    if not samples:
        return None
    names = places(samples)
    limit = format_duration(above_ns)
    panes = []
    drew = of_all = slow = 0
    for key in sorted(samples, key=lambda key: (op_order(key.op), names[key])):
        frame = samples[key]
        marks = drawn(frame)
        n, every = len(marks.points), int(frame["of_all"][0])
        above = int(np.count_nonzero(marks.points.value > above_ns / 1e9))
        drew, of_all, slow = drew + n, of_all + every, slow + above
        note = f"{format_count(n)} of {format_count(every)}, {format_count(above)} above"
        limits = Level(f"every operation above {limit}", above_ns / 1e9)
        panes.append(Pane(op_word(key.op), names[key], SECONDS, (limits, marks.points), n, note))
    columns = tuple(sorted(set(names.values())))
    share = f"{format_count(drew)} of {format_count(of_all)} operations drawn"
    caption = f"{share}: a random part (seed {seed}), and all {format_count(slow)} above {limit}"
    title = f"Sparse timeline: {', '.join(columns[:3])}" + (" and more" if len(columns) > 3 else "")
    times = since_ns / 1e9, until_ns / 1e9
    return Sheet("points", title, columns, tuple(panes), *times, (caption,))
