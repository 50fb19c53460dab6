"""LMT databases, TimeSeries and h5lmt files that a test knows exactly, and the real ones where they are to be had."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import tzinfo
from pathlib import Path
from types import ModuleType

import h5py
import numpy as np

from iosonde.connectors.source import Item, Settings
from iosonde.model.errors import InputFileError
from iosonde.model.metrics import MetricBlock
from tests.kit.samples import latencies

UMAMI = latencies.DATA / "umami"


def real(name: str) -> Path:
    """A file of the shared data, or the test is skipped."""
    return latencies.real(f"umami/{name}")


class Got:
    """Everything a connector yields and tells."""

    def __init__(
        self, connector: ModuleType, path: Path, zone: tzinfo | None = None, **more: object
    ) -> None:
        self.told: list[InputFileError] = []
        settings = Settings(zone=zone, **more)  # type: ignore[arg-type]
        self.items: list[Item] = list(connector.read(path, settings, self.told.append))
        self.blocks = [item for item in self.items if isinstance(item, MetricBlock)]

    def all(self, level: str, metric: str) -> list[MetricBlock]:
        return [b for b in self.blocks if (b.level, b.metric) == (level, metric)]

    def one(self, level: str, metric: str) -> MetricBlock:
        (block,) = self.all(level, metric)
        return block

    def flags(self) -> set[str]:
        return {note.flag for block in self.blocks for note in block.notes}


TABLES = """
CREATE TABLE TIMESTAMP_INFO (TS_ID, TIMESTAMP);
CREATE TABLE FILESYSTEM_INFO (FILESYSTEM_ID, FILESYSTEM_NAME);
CREATE TABLE OST_INFO (OST_ID, OSS_ID, OST_NAME, HOSTNAME);
CREATE TABLE OSS_INFO (OSS_ID, FILESYSTEM_ID, HOSTNAME);
CREATE TABLE MDS_INFO (MDS_ID, FILESYSTEM_ID, MDS_NAME, HOSTNAME);
CREATE TABLE OST_DATA (OST_ID, TS_ID, READ_BYTES, WRITE_BYTES, KBYTES_FREE, KBYTES_USED);
CREATE TABLE OSS_DATA (OSS_ID, TS_ID, PCT_CPU, PCT_MEMORY);
CREATE TABLE MDS_DATA (MDS_ID, TS_ID, PCT_CPU);
CREATE TABLE MDS_OPS_DATA (MDS_ID, TS_ID, OPERATION_ID, SAMPLES);
CREATE TABLE OPERATION_INFO (OPERATION_ID, OPERATION_NAME);
INSERT INTO FILESYSTEM_INFO VALUES (1, 'work');
INSERT INTO OST_INFO VALUES (1, 1, 'work-OST0000', 'a'), (2, 1, 'work-OST0001', 'a');
INSERT INTO OSS_INFO VALUES (1, 1, 'a');
INSERT INTO MDS_INFO VALUES (1, 1, 'work-MDT0000', 'm');
INSERT INTO OPERATION_INFO VALUES (1, 'open'), (2, 'ping');
"""


def database(
    path: Path,
    times: Iterable[tuple[object, object]],
    osts: Iterable[Sequence[object]] = (),
    more: str = "",
) -> Path:
    """``times``: (TS_ID, text). ``osts``: (OST_ID, TS_ID, read, written, KiB free, KiB used)."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(TABLES)
        db.executemany("INSERT INTO TIMESTAMP_INFO VALUES (?, ?)", times)
        db.executemany("INSERT INTO OST_DATA VALUES (?, ?, ?, ?, ?, ?)", osts)
        db.executescript(more)
        db.commit()
    return path


def series(
    path: Path,
    stamps: Sequence[int],
    tables: dict[str, tuple[Sequence[str], object, str]],
) -> Path:
    """A TimeSeries file; ``tables``: ``group/name`` -> (columns, values (T, N), units)."""
    with h5py.File(path, "w") as file:
        file.attrs["version"] = "1"
        for place, (columns, values, units) in tables.items():
            group = file.require_group(place.split("/")[0])
            if "timestamps" not in group:
                group.create_dataset("timestamps", data=np.array(stamps, dtype=np.int64))
            data = group.create_dataset(
                place.split("/")[1], data=np.array(values, dtype=np.float64)
            )
            data.attrs["columns"] = np.array([c.encode() for c in columns])
            data.attrs["units"] = units
    return path


def lying(
    path: Path, stamps: Sequence[int], tables: dict[str, tuple[dict[str, list[str]], object]]
) -> Path:
    """An h5lmt file; ``tables``: place -> (names by attribute, values (N, T))."""
    with h5py.File(path, "w") as file:
        file["FSStepsGroup/FSStepsDataSet"] = np.array(stamps, dtype=np.int32)
        for place, (names, values) in tables.items():
            file[place] = np.array(values)
            for attribute, texts in names.items():
                file[place].attrs[attribute] = np.array([t.encode() for t in texts])
    return path
