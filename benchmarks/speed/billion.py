"""A centre's store of a billion samples: windows, slowdown and events in 8 GiB.

    python -m benchmarks billion --rows 1e6 1e7            # 1e9 wants a quiet machine
    python -m benchmarks billion --rows 1e6 1e7 1e8 1e9 --folder /big
    python -m benchmarks billion --shape 20x64            # a fifth of the hosts of a billion, as long

Each size has one rate (an operation every 10 s) and a file a host and day: only hosts and days grow. Asked, host by
host, in a process of its own whose memory is limited: windows of ten minutes with all statistics, slowdown, events.
Prints seconds, processor time, microseconds of it a sample, peak memory, and the exponent of growth of the processor
time, which another load on the machine changes least.
"""

from __future__ import annotations

import math
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import process
from benchmarks.speed import stores
from iosonde.model.frames import SlowdownQuery
from iosonde.model.units import DAY_NS
from iosonde.weather.series.stretches import with_stretches
from iosonde.weather.store import Store

SHAPE = stores.Shape(("/work", "/home", "/scratch"), 10_000_000_000, DAY_NS)
WINDOW_NS = 600_000_000_000
LIMIT_BYTES = 8 << 30
END_NS = stores.START_NS + 400 * DAY_NS
_MOST_HOSTS = 100


def layout_of(rows: float) -> tuple[int, int]:
    """Hosts and days of about so many rows."""
    units = max(2.0, rows / SHAPE.rows)
    hosts = max(1, min(_MOST_HOSTS, round(math.sqrt(units * _MOST_HOSTS / 64))))
    return hosts, max(2, round(units / hosts))


def windows(store: Store, host: str) -> int:
    """All columns of windows.toml of a host."""
    return len(store.windows(WINDOW_NS, host=host))


def slowdown(store: Store, host: str) -> int:
    """Slowdown of a host with its slow spans."""
    query = SlowdownQuery(host=host, window_ns=WINDOW_NS)
    return int(np.sum(with_stretches(store, query, END_NS).windows["slow"]))


def events(store: Store, host: str) -> int:
    """Slow events of a host."""
    from iosonde.weather.events.timeline import happened

    return len(happened(store, SlowdownQuery(host=host), END_NS, []).slow)


QUESTIONS = {"windows": windows, "slowdown": slowdown, "events": events}


def ask(root: Path, question: str) -> int:
    """A question about every host, within the limit of memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT_BYTES, LIMIT_BYTES))
    store = Store(root)
    hosts = sorted({folder.name.removeprefix("host=") for folder in root.glob("samples/*/host=*")})
    return sum(QUESTIONS[question](store, host) for host in hosts)


def measure(folder: Path, hosts: int, days: int) -> dict[str, float]:
    """Make a store, ask it everything, remove it; CPU seconds by question."""
    root, began = folder / "store", time.monotonic()
    made = stores.make(root, SHAPE, days, hosts)
    made_s = time.monotonic() - began
    size = sum(path.stat().st_size for path in root.rglob("*.parquet"))
    print(
        f"\n{made:,} samples: {hosts} hosts, {days} days, {len(SHAPE.targets)} targets; {size / 1e9:.2f} GB, "
        f"{size / made:.1f} B a sample, made in {made_s:.0f} s"
    )
    seconds = {"rows": float(made)}
    for question in QUESTIONS:
        found, took = process.apart(ask, root, question)
        seconds[question] = took.cpu_s
        print(
            f"  {question:<9} {took.wall_s:8.1f} s {took.cpu_s:8.1f} CPU s  {1e6 * took.cpu_s / made:7.2f} us a sample"
            f"  {took.peak_mib:6.0f} MiB at most  {found:,} found",
            flush=True,
        )
    rolled = sum(path.stat().st_size for path in (root / "rollups").rglob("*.parquet"))
    print(f"  roll-ups  {rolled / 1e9:.2f} GB")
    shutil.rmtree(root)
    return seconds


def main(
    rows: Sequence[float] = (1e6, 1e7),
    shape: str = "",  # HOSTSxDAYS, instead of rows
    folder: Path | None = None,  # where the stores lie meanwhile (a temporary one)
) -> None:
    """Print a table a size, then the exponents."""
    hosts, _, days = shape.partition("x")
    shapes = [(int(hosts), int(days))] if shape else [layout_of(size) for size in rows]
    with tempfile.TemporaryDirectory(prefix="iosonde-billion-", dir=folder) as room:
        measured = [measure(Path(room), *one) for one in shapes]
    if len(measured) > 1:
        sizes = np.log([one["rows"] for one in measured])
        for question in QUESTIONS:
            slope = np.polyfit(sizes, np.log([one[question] for one in measured]), 1)[0]
            print(f"{question}: CPU time grows as samples to the power {slope:.2f}")
