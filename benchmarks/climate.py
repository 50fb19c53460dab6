"""How long a climate takes, part by part, from a table with a row a job: run by hand, on one core.

OMP_NUM_THREADS=1 taskset -c 0 python -m benchmarks.climate TABLE
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from iosonde.connectors.source import Settings
from iosonde.jobs.climate.climate import climate, picked
from iosonde.jobs.climate.figure import climate_figure
from iosonde.jobs.climate.metrics import metric_changes, safe_metrics
from iosonde.jobs.climate.motifs import motifs
from iosonde.jobs.climate.regimes import climates_of
from iosonde.jobs.climate.render import save_climate
from iosonde.jobs.climate.series import series_of
from iosonde.jobs.climate.validation import validated
from iosonde.jobs.table.source import from_files

T = TypeVar("T")


def main() -> None:
    rows: list[tuple[str, float, float]] = []

    def timed(name: str, work: Callable[[], T]) -> T:
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        rows.append((name, time.perf_counter() - wall, time.process_time() - cpu))
        return result

    table = timed(
        "read and clean the table", lambda: from_files([Path(sys.argv[1])], [], Settings(), len)
    )
    some = picked(table, None, None, None, None)
    timed("changes of all series", lambda: series_of(some, 10))
    safe = timed("which metrics leak", lambda: safe_metrics(some))
    timed("changes of metrics", lambda: metric_changes(some, safe))
    timed("climates (with imports)", lambda: climates_of(some, safe))
    found = timed("all of these again, and events", lambda: climate(table))
    figure = climate_figure(found)
    with tempfile.TemporaryDirectory() as folder:
        timed("picture (with imports)", lambda: save_climate(figure, Path(folder) / "c.png"))
    timed("motifs (with imports)", lambda: motifs(table))
    timed("validation of predictions", lambda: validated(table))
    print(f"{len(table)} jobs, {len(found.series)} series, {len(safe)} metrics\n")
    for name, wall, cpu in rows:
        print(f"{name:32}{wall:8.2f} s wall {cpu:8.2f} s CPU")


if __name__ == "__main__":
    main()
