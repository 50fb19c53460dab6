"""``iosonde report``: a span of targets on one HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.model.errors import NothingMeasuredError
from iosonde.model.names import host_of_rank

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.model.frames import SlowdownQuery


def report(root: Path, query: SlowdownQuery, now_ns: int, zone: tzinfo | None = None) -> str | None:
    """A span of targets as HTML, times in ``zone``; None: there are no samples.

    Raises NothingMeasuredError (all samples are of a benchmark's ranks), StoreError.
    """
    from iosonde.weather.events.answers import event_log
    from iosonde.weather.report.page import report_page
    from iosonde.weather.store import Store

    store = Store(root)
    log = event_log(root, (query.since_ns, query.until_ns), now_ns)
    page = report_page(store, query, log, now_ns, zone)
    if page is None:
        asked = [ref.host for ref in store.targets() if query.target in (None, ref.target)]
        if asked and all(map(host_of_rank, asked)):
            raise NothingMeasuredError(
                f"all samples in {root} are benchmark ranks, which have no baseline",
                hint="'iosonde runs', or 'iosonde figure statistics --run RUN'",
            )
    return page
