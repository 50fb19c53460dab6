"""Latency files of md-workbench that a test knows exactly, and the real ones where they are to be had."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iosonde.connectors.source import Settings
from iosonde.ingest.answers import Imported, Question, import_files

DATA = Path(os.environ.get("IOSONDE_DATA", Path(__file__).parents[4] / "shared" / "data"))
"""Real logs and tables; IOSONDE_DATA names another folder."""
MEASURING = DATA / "measuring"


def real(place: str) -> Path:
    """A real file of the shared data; the test is left out, and says why, where there is none."""
    path = DATA / place
    if not path.exists():
        pytest.skip(f"no {place} in {DATA} (IOSONDE_DATA names another folder)")
    return path


MISTRAL = "data/mdreal-mistral-lustre02-10nodes-200procs-10ranks-3iter.csv.gz"
COOLEY = "data/mdreal-cooley-gpfs-10nodes-2ranks-iter0.csv.gz"


def write(path: Path, rows: Iterable[str], header: str = "time,runtime") -> Path:
    """A latency file, packed if its name ends in gz."""
    text = "\n".join([header, *rows]) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def closed_loop(
    rng: np.random.Generator,
    seconds: float,
    ranks: int = 10,
    stalls: Iterable[tuple[float, float]] = (),
    slow_share: float = 0.05,
) -> list[tuple[str, int, float, float]]:
    """(op, rank, time, runtime) of ranks that stat, read, delete and create as fast as they can.

    In a stall nothing ends before it is over. ``slow_share`` of creates, reads and deletes take 16 ms, as
    on a file system that commits a journal now and then.
    """
    usual = {"stat": 0.0004, "read": 0.004, "delete": 0.0007, "create": 0.0008}
    rows = []
    for rank in range(ranks):
        now = 0.0
        while now < seconds:
            for op, typical in usual.items():
                took = typical * np.exp(0.2 * rng.normal())
                if op != "stat" and rng.random() < slow_share:
                    took += 0.016 * np.exp(0.3 * rng.normal())
                for begin, length in stalls:
                    if begin <= now + took and now < begin + length:
                        took = max(took, begin + length - now)
                rows.append((op, rank, now, took))
                now += took
    return rows


def gathered(path: Path, rows: Iterable[tuple[str, int, float, float]]) -> Path:
    """Rows of one iteration as a file that holds all ranks and ops."""
    lines = (f"{op},0,{rank},{time:.7f},{took:.4e}" for op, rank, time, took in rows)
    return write(path, lines, "op,iter,rank,time_s,runtime_s")


def import_runs(root: Path, paths: Sequence[Path], **said: Any) -> Imported:
    """Import files of benchmarks; ``said``: fields of ``Settings``."""
    return import_files(root, Question(paths, Settings(**said)), 0)
