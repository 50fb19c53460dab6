"""Windows of 155 million samples with all statistics, beside a query by hand.

``python -m benchmarks season --days 30 --targets 10`` makes 155 million samples (1.8 GB), then asks in
processes of their own, turn by turn (hand, ours, ours, hand), and prints seconds, peak memory and ratio:

- *by hand*: the statement that somebody who knows SQL would write, with the points of all statistics and
  no interval;
- *windows*: all columns of windows.toml, with intervals; *levels*: with nineteen levels and their ends too;
- *rolled*: the same from roll-ups: when they are made, when they are there, and when a day is new.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

import duckdb

from benchmarks import process
from benchmarks.speed import stores
from iosonde.engine.layout.segments import rollup_segments
from iosonde.weather.store import Store

Run = tuple[int, process.Took]
WINDOW_NS = 600_000_000_000
_DAY_FILES = 24
_HAND = """
SELECT host, target, op, period_ns, due_ns // {window} * {window} AS start_ns,
    count(*) FILTER (outcome <> 'shed') AS n_due, count(*) FILTER (outcome = 'ok') AS n_seen,
    avg(ended_ns - began_ns) FILTER (outcome = 'ok') AS mean_ns,
    min(ended_ns - began_ns) FILTER (outcome = 'ok') AS min_ns,
    max(ended_ns - began_ns) FILTER (outcome = 'ok') AS max_ns,
    quantile_disc(ended_ns - began_ns, [{quantiles}]) FILTER (outcome = 'ok') AS q,
    quantile_disc(control_runq_ns, 0.5) FILTER (outcome = 'ok') AS runq_q50_ns,
    quantile_disc(began_ns - due_ns, 0.5) FILTER (outcome = 'ok') AS late_q50_ns,
    quantile_disc(ended_ns - due_ns, 0.99) AS response_q99_ns
FROM read_parquet('{files}', hive_partitioning = false) GROUP BY ALL ORDER BY ALL
"""


def hand(root: Path) -> int:
    """The bare query."""
    quantiles = "0.25, 0.5, 0.75, 0.9, 0.95, 0.99"
    files = f"{root}/samples/*/*/*.parquet"
    with duckdb.connect() as con:
        found = con.execute(_HAND.format(window=WINDOW_NS, quantiles=quantiles, files=files))
        return len(found.fetchnumpy()["n_due"])


def windows(root: Path) -> int:
    """All columns of windows.toml."""
    return len(Store(root).windows(WINDOW_NS))


def levels(root: Path) -> int:
    """With the block of levels."""
    return len(Store(root).windows(WINDOW_NS, levels=True))


def rolled(root: Path) -> int:
    """From roll-ups."""
    return len(Store(root).rolled_windows(WINDOW_NS))


def rolled_levels(root: Path) -> int:
    """From roll-ups, with the block of levels."""
    return len(Store(root).rolled_windows(WINDOW_NS, levels=True))


def _line(name: str, runs: list[Run], note: str = "") -> None:
    wall, cpu = (
        statistics.median(getattr(took, what) for _, took in runs) for what in ("wall_s", "cpu_s")
    )
    peak = max(took.peak_mib for _, took in runs)
    print(f"{name:<48} {wall:>9.2f} {cpu:>9.2f} {peak:>9.0f} {runs[0][0]:>9} {note}", flush=True)


def compare(root: Path, rounds: int) -> None:
    """Hand and ours in turns, in one run."""
    bare, ours = [], []
    for _ in range(rounds):
        for what, runs in ((hand, bare), (windows, ours), (windows, ours), (hand, bare)):
            runs.append(process.apart(what, root))
    ratio = statistics.median(
        mine.wall_s / theirs.wall_s for (_, mine), (_, theirs) in zip(ours, bare, strict=True)
    )
    _line("by hand, points only", bare)
    _line("windows, all statistics with intervals", ours, f"{ratio:.2f} of by hand")
    _line("windows with levels", [process.apart(levels, root)])


def roll(root: Path, rounds: int) -> None:
    """Roll-ups: made, read, and made for one more day."""
    shutil.rmtree(root / "rollups", ignore_errors=True)
    _line("from roll-ups, all to be made", [process.apart(rolled, root)])
    _line("from roll-ups", [process.apart(rolled, root) for _ in range(2 * rounds)])
    _line("from roll-ups, with levels", [process.apart(rolled_levels, root) for _ in range(rounds)])
    runs = []
    for _ in range(rounds):
        for segment in rollup_segments(root)[-_DAY_FILES:]:
            segment.path.unlink()
        runs.append(process.apart(rolled, root))
    _line("from roll-ups, one more day", runs)


def main(
    days: int = 30,
    targets: int = 10,
    rounds: int = 1,
    store: Path | None = None,  # kept, and used again if it is there
) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="iosonde-season-") as folder:
        root = store or Path(folder)
        samples = stores.make(root, stores.week_like(targets), days)
        size = sum(file.stat().st_size for file in (root / "samples").rglob("*.parquet"))
        print(
            f"{days} days of {targets} targets, {samples / 1e6:.1f} M samples, {size / 1e9:.2f} GB; windows of 10 min"
        )
        print(f"{'':<48} {'median s':>9} {'CPU s':>9} {'peak MiB':>9} {'windows':>9}")
        compare(root, rounds)
        roll(root, rounds)
        made = sum(file.stat().st_size for file in (root / "rollups").rglob("*.parquet"))
        print(f"roll-ups take {made / days / targets / 1e6:.3f} MB a day and target")
