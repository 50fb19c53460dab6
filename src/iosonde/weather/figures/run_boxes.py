"""Sheet of a benchmark's phases: a box per phase of all its operations, its ranks together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from iosonde.drawing.sheet import SECONDS, Pane, Sheet
from iosonde.model.frames import Frame, SeriesKey
from iosonde.model.ops import op_order, op_word
from iosonde.model.text import clean_text
from iosonde.model.units import format_count
from iosonde.weather.figures.boxes import WHISKERS, bars, outside
from iosonde.weather.figures.distributions import SeriesBox


def run_boxes_sheet(boxes: Mapping[SeriesKey, SeriesBox], run_ids: Sequence[str]) -> Sheet | None:
    """A box per run id in their order, a row per op, a column per target. None without samples.

    ``boxes``: series whose host is a run (see ``SampleFilter.runs``); service times of what ended ok.
    """
    if not boxes:
        return None
    called = short_names(run_ids)
    targets = sorted({key.target for key in boxes})
    panes = []
    for op in sorted({key.op for key in boxes}, key=op_order):
        for target in targets:
            here = [key for key in boxes if key.op == op and key.target == target]
            here.sort(key=lambda key: (run_ids.index(key.host), key.period_ns))
            if not here:
                continue
            n, due = sum(boxes[k].box.n for k in here), sum(boxes[k].n_due for k in here)
            note = f"n = {format_count(n)}" + (
                f", {format_count(due - n)} not ok" if due > n else ""
            )
            mark = bars([called[key.host] for key in here], [boxes[key].box for key in here])
            panes.append(Pane(op_word(op), clean_text(target), SECONDS, (mark,), n, note))
    n = sum(pane.n for pane in panes)
    caption = (f"{format_count(n)} operations, ranks together; {WHISKERS}", outside(panes))
    columns = tuple(clean_text(target) for target in targets)
    title = f"Phases of a run: {clean_text(_begin(run_ids) or run_ids[0])}"
    return Sheet("hosts", title, columns, tuple(panes), None, None, caption)


def by_phase(samples: Mapping[SeriesKey, Frame], run_ids: Sequence[str]) -> dict[SeriesKey, Frame]:
    """Samples of runs with the phase as the place: ranks pooled, without a host."""
    several = len({key.target for key in samples}) > 1
    called = short_names(run_ids)
    return {
        key._replace(
            host="", target=called[key.host] + (f", {key.target}" if several else "")
        ): frame
        for key, frame in samples.items()
    }


def short_names(run_ids: Sequence[str]) -> dict[str, str]:
    """Run ids without their common prefix: ``precreate``, ``benchmark``, ``i0``."""
    begin = _begin(run_ids)
    return {run_id: clean_text(run_id.removeprefix(f"{begin}-")) for run_id in run_ids}


def _begin(run_ids: Sequence[str]) -> str:
    """Common prefix of all ids up to a dash; "" for a single one."""
    if len(run_ids) < 2:
        return ""
    words = zip(*(run_id.split("-") for run_id in run_ids), strict=False)
    return "-".join(same[0] for same in takewhile(lambda every: len(set(every)) == 1, words))
