"""Pictures of a run, if the store has the samples or transfers for them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from iosonde.bench.bandwidth.sheets import bandwidth_sheet
from iosonde.bench.metadata.sheets import bench_sheets
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.runs import RunRow
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.drawing.sheet import Sheet


class RunPicture(NamedTuple):
    """``name``: ``rates`` (over time, and each rank's file), ``density``, ``timeline`` or ``components``."""

    name: str
    sheet: Sheet


def run_pictures(
    root: Path, rows: Sequence[RunRow], components: Sheet | None
) -> tuple[RunPicture, ...]:
    """Non-empty pictures. ``components``: picture of ``locate``. Raises StoreError."""
    first = rows[0]
    found: list[tuple[str, Sheet | None]] = [("components", components)]
    if first.instrument == "bandwidth":
        if components is None:
            found.append(
                ("rates", bandwidth_sheet(root, [row for row in rows if row.rank is None]))
            )
    else:
        with suppress(
            UsageError, NothingMeasuredError
        ):  # a run without samples has no such picture
            density, timeline = bench_sheets(Store(root), [rows])
            found += [("density", density), ("timeline", timeline)]
    return tuple(
        RunPicture(name, sheet)
        for name, sheet in found
        if sheet is not None and any(pane.n for pane in sheet.panes)
    )
