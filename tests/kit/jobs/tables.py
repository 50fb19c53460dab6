"""Tables of jobs that a test knows exactly, and the real ones where they are to be had."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from iosonde.connectors.source import Settings
from iosonde.connectors.tables.mapping_toml import read_mapping
from iosonde.connectors.tables.table import ReadTable, choose, read_table
from tests.kit.samples.latencies import DATA

TABLES = DATA / "umami" / "tables"
MONTH = Path(__file__).parents[3] / "examples" / "umami-month"
GIB = 2**30
HEAD = "id,fs,app,rw,start,end,perf,own,sr,sw"
MAPPING = """
[job]
job_id = "id"
file_system = "fs"
begin = { column = "start", unit = "s" }
end = { column = "end", unit = "s" }

[[motif]]
column = "app"

[[motif]]
column = "rw"
values = { 0 = "read", 1 = "write" }

[metrics]
performance_bytes_per_s = { column = "perf", unit = "MiB/s" }
own_bytes = { column = "own", unit = "GiB" }
server_read_bytes = "sr"
server_written_bytes = "sw"
"""


def row(place: int = 0, **other: object) -> str:
    """A row of ``HEAD``: 4 GiB that servers saw as 5."""
    start = 1_700_000_000 + 86_400 * place
    cells = {
        "id": 100 + place,
        "fs": "work",
        "app": "writer",
        "rw": 1,
        "start": start,
        "end": start + 100,
        "perf": 50 + place,
        "own": 4,
        "sr": GIB,
        "sw": 4 * GIB,
        **other,
    }
    return ",".join(str(cells[name]) for name in HEAD.split(","))


def write(path: Path, *rows: str, head: str = HEAD) -> Path:
    """A table, packed if its name ends in gz."""
    text = "\n".join([head, *rows]) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def read(path: Path, mapping: str = MAPPING, **settings: object) -> tuple[ReadTable, list[str]]:
    """What is read, and what was told."""
    told: list[str] = []
    chosen = choose(path, [read_mapping(mapping, "jobs.toml", "jobs")] if mapping else [])
    found = read_table(path, Settings(**settings), lambda error: told.append(str(error)), chosen)
    return found, told


def simulated(path: Path, rng: np.random.Generator, n: int = 60) -> Path:
    """Runs on two file systems: load slows those of ``a`` only, those of ``b`` are faster and always loaded."""
    rows = []
    for place in range(2 * n):
        load = rng.uniform(0, 1)
        fs, perf, sr = ("a", 100 - 60 * load, load) if place % 2 else ("b", 200, 5 + load)
        perf += rng.normal() * 3
        rows.append(row(place, fs=fs, perf=f"{perf:.4f}", sr=int(sr * GIB), sw=4 * GIB))
    return write(path, *rows)
