"""A store of many days and targets, written as sealing leaves it, for the season's benchmark.

The noise is that of ``benchmarks.month``: lognormal service time and timer overshoot, run-queue waits
with a heavy tail, random offsets, and one operation in a thousand that is late, skipped or failed. An
hour's noise is drawn once and turned by a random amount for every target and hour, so that making
150 million rows takes minutes.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import duckdb
import numpy as np

from benchmarks.month import MEDIANS_NS, OPS, PERIOD_NS, START_NS
from iosonde.engine.contract import SAMPLE_TYPES
from iosonde.engine.layout.segments import parquet_path
from iosonde.model.ops import OPS as NAMES

PARQUET = "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2"
"""As sealed but for the level of compression, which readers do not feel and writing does."""
HOST = "login2"
HOURS = 24
SEED = 4
BYTES_A_DAY = 6_500_000
"""Of one target, above what was measured."""
_SIZE = 3600
"""Ticks of an hour's segment."""


def make(root: Path, days: int, targets: int, seed: int = SEED, first: int = 0) -> None:
    """Days ``first`` to ``days`` of the store, an hour a file as sealed."""
    needed = (days - first) * targets * BYTES_A_DAY
    root.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(root).free
    if needed > free * 0.8:
        sys.exit(f"{root} has {free / 1e9:.1f} GB free; expected {needed / 1e9:.1f} GB and some")
    noise = _noise(np.random.default_rng(seed))
    with duckdb.connect() as con:
        con.execute("SET threads = 2")
        for hour in range(first * HOURS, days * HOURS):
            start_ns = START_NS + hour * _SIZE * PERIOD_NS
            path = parquet_path(root, HOST, f"{SEED:016x}-{hour:06d}", start_ns)
            if not path.exists():
                random = np.random.default_rng([seed, hour])
                _register(con, start_ns, targets, noise, random)
                _write(con, path)


def _noise(random: np.random.Generator) -> dict[str, np.ndarray]:
    n = _SIZE * 16
    return {
        "late": random.lognormal(np.log(1e5), 0.3, n).astype(np.int64),
        "service": random.lognormal(0, 0.5, n),
        "offset": random.integers(0, 32_768, n) << 20,
        "runq": np.where(
            random.random(n) < 0.1, random.integers(0, 10**6, n), random.integers(0, 3000, n)
        ),
        "fate": random.random(n),
    }


def _register(con, start_ns: int, targets: int, noise, random: np.random.Generator) -> None:
    """An hour's rows of all targets as the table ``made``, in the order of a sealed segment."""
    parts: dict[str, list[np.ndarray]] = {}
    for target in range(targets):
        for op in sorted(range(OPS), key=lambda op: NAMES[op]):
            columns = _series(start_ns, op, noise, random)
            columns["target"] = np.full(_SIZE, target, dtype=np.uint8)
            columns["op"] = np.full(_SIZE, op, dtype=np.uint8)
            for name, column in columns.items():
                parts.setdefault(name, []).append(column)
    con.register("made", {name: np.concatenate(column) for name, column in parts.items()})


def _write(con, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}")
    con.execute(f"COPY (SELECT {_columns()} FROM made) TO '{draft}' ({PARQUET})")
    draft.rename(path)


def _series(start_ns: int, op: int, noise, random: np.random.Generator) -> dict[str, np.ndarray]:
    """One op of one target for an hour."""

    def turned(name: str) -> np.ndarray:
        return np.roll(noise[name], int(random.integers(0, _SIZE * 16)))[:_SIZE]

    fate = turned("fate")
    due = start_ns + op * (PERIOD_NS // OPS) + np.arange(_SIZE, dtype=np.int64) * PERIOD_NS
    began = due + np.where(fate < 4e-4, PERIOD_NS // 5, 0) + turned("late")
    service = (MEDIANS_NS[op] * random.lognormal(0, 0.1) * turned("service")).astype(np.int64)
    return {
        "due_ns": due,
        "began_ns": began,
        "ended_ns": began + service,
        "offset_bytes": turned("offset"),
        "runq": turned("runq"),
        "outcome": np.select([fate > 1 - 3e-4, fate > 1 - 6e-4], [1, 2], 0).astype(np.uint8),
    }


def _columns() -> str:
    """SQL of the samples table's columns."""
    names = ", ".join(f"'{name}'" for name in NAMES)
    made = {
        "schema_version": "1",
        "host": f"'{HOST}'",
        "target": "'/work' || target",
        "op": f"([{names}])[op + 1]",
        "period_ns": f"{PERIOD_NS}",
        "size_bytes": "CASE WHEN op < 2 THEN 1048576 ELSE 3901 END",
        "offset_bytes": "CASE WHEN op < 2 THEN offset_bytes END",
        "outcome": "(['ok', 'skipped', 'EIO'])[outcome + 1]",
        "began_ns": "CASE WHEN outcome <> 1 THEN began_ns END",
        "cache": "CASE WHEN op < 2 THEN 'direct' ELSE 'unknown' END",
        "control_runq_ns": "runq",
        "seed": f"{SEED}",
        "run_id": f"'{SEED:016x}'",
    }
    return ", ".join(
        f"({made.get(name, name)})::{kind} AS {name}" for name, kind in SAMPLE_TYPES.items()
    )
