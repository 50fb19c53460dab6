"""Reading and importing a day of 248 OSTs every 5 s: TimeSeries, h5lmt, SQLite of LMT.

    python -m benchmarks lmt_day [--osts 248] [--ticks 17280] [--folder DIR]

Two metrics (read and written bytes) of one day: 4.3 million rows each. Every form is read in a process of
its own, whose peak memory is printed; then `iosonde import` takes it into an empty store, and once more. Aims: 30 s and
2 GiB. Writing the files is not timed.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import h5py
import numpy as np

from benchmarks import process
from iosonde.connectors.source import Settings

START = datetime(2018, 1, 28, tzinfo=UTC)
FORMS = {
    "TimeSeries": "lustre.tokio_timeseries",
    "h5lmt": "lustre.h5lmt",
    "LMT SQLite": "lustre.lmt.sql",
}


def amounts(ticks: int, osts: int) -> np.ndarray:
    """Bytes of each step, with pauses, (ticks, osts)."""
    rng = np.random.default_rng(6)
    busy = rng.random((ticks, osts)) < 0.4
    return np.where(busy, rng.integers(0, 1 << 30, (ticks, osts)), 0).astype(np.float64)


def timeseries(path: Path, moved: np.ndarray) -> None:
    names = np.array([f"work-OST{i:04x}".encode() for i in range(moved.shape[1])])
    with h5py.File(path, "w") as file:
        file["datatargets/timestamps"] = int(START.timestamp()) + 5 * np.arange(len(moved))
        for name in ("readbytes", "writebytes"):
            data = file["datatargets"].create_dataset(
                name, data=moved, chunks=True, compression="gzip"
            )
            data.attrs["columns"], data.attrs["units"] = names, "bytes"


def h5lmt(path: Path, moved: np.ndarray) -> None:
    names = np.array([f"work-OST{i:04x}".encode() for i in range(moved.shape[1])])
    rates = np.zeros((moved.shape[1], len(moved) + 1))
    rates[:, 1:] = moved.T / 5
    with h5py.File(path, "w") as file:
        stamps = int(START.timestamp()) + 5 * np.arange(len(moved) + 1)
        file["FSStepsGroup/FSStepsDataSet"] = stamps.astype(np.int32)
        for place in ("OSTReadGroup/OSTBulkReadDataSet", "OSTWriteGroup/OSTBulkWriteDataSet"):
            data = file.create_dataset(place, data=rates, chunks=True, compression="gzip")
            data.attrs["OSTNames"] = names


def database(path: Path, moved: np.ndarray) -> None:
    counters = np.vstack([np.zeros(moved.shape[1]), np.cumsum(moved, axis=0)]).astype(np.int64)
    osts = range(1, moved.shape[1] + 1)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;"
            "CREATE TABLE TIMESTAMP_INFO (TS_ID, TIMESTAMP, PRIMARY KEY (TS_ID));"
            "CREATE TABLE OST_INFO (OST_ID, OST_NAME, HOSTNAME, PRIMARY KEY (OST_ID));"
            "CREATE TABLE OST_DATA (OST_ID, TS_ID, READ_BYTES, WRITE_BYTES, PCT_CPU, KBYTES_FREE,"
            " KBYTES_USED, INODES_FREE, INODES_USED, PRIMARY KEY (OST_ID, TS_ID));"
        )
        texts = (
            (START + timedelta(seconds=5 * i)).strftime("%Y-%m-%d %H:%M:%S")
            for i in range(len(counters))
        )
        db.executemany("INSERT INTO TIMESTAMP_INFO VALUES (?, ?)", enumerate(texts))
        db.executemany(
            "INSERT INTO OST_INFO VALUES (?, ?, ?)",
            [(i, f"work-OST{i - 1:04x}", f"n{i}") for i in osts],
        )
        for tick, row in enumerate(counters.tolist()):
            rows = [(i, tick, row[i - 1], row[i - 1], 0.0, 4000, 6000, 50, 60) for i in osts]
            db.executemany("INSERT INTO OST_DATA VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        db.commit()


def read(module: str, path: Path) -> tuple[int, int]:
    """Rows of one metric of a file, and the sum of its values."""
    connector = import_module(f"iosonde.connectors.{module}")
    rows, total = 0, 0.0
    for block in connector.read(
        path, Settings(zone=UTC), lambda error: print(error, file=sys.stderr)
    ):
        if getattr(block, "metric", "") == "read_bytes":
            rows += block.value.size
            total += float(np.nansum(block.value))
    return rows, int(total)


def stored(path: Path, store: Path) -> str:
    """Columns of importing the file into an empty store, and again."""
    words = ("import", path, "--zone", "UTC", "--store", store)
    first, again = process.command(*words), process.command(*words)
    size = sum(part.stat().st_size for part in store.rglob("*.parquet")) / 1e6
    shutil.rmtree(store)
    peak = max(first.peak_mib, again.peak_mib)
    return f"{first.wall_s:8.1f} {peak:9.0f} {again.wall_s:8.1f} {size:9.1f}"


def main(osts: int = 248, ticks: int = 17_280, folder: Path | None = None) -> None:
    """Print a line a form."""
    moved = amounts(ticks, osts)
    with tempfile.TemporaryDirectory(dir=folder) as room:
        print(f"{osts} OSTs, {ticks} steps, read and written bytes: {moved.size} rows each")
        head = f"{'form':12} {'file MB':>8} {'rows/s':>10} {'s':>6} {'peak MiB':>9}  {'sum':28}"
        print(f"{head} {'import s':>8} {'peak MiB':>9} {'again s':>8} {'store MB':>9}")
        for (form, module), make in zip(FORMS.items(), (timeseries, h5lmt, database), strict=True):
            path = Path(room) / module
            make(path, moved)
            (rows, total), took = process.apart(read, module, path)
            same = "exact" if total == int(moved.sum()) else f"WRONG, {int(moved.sum())} is right"
            told = f"{form:12} {path.stat().st_size / 1e6:8.0f} {2 * rows / took.wall_s:10.0f}"
            told += f" {took.wall_s:6.1f} {took.peak_mib:9.0f}  {f'{total} {same}':28}"
            print(told, stored(path, Path(room) / "store"), flush=True)
            path.unlink()
