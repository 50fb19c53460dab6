"""Files of benchmark runs: a part per process during the run, one file at its end."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.folders import files_in, folders_in
from iosonde.model.names import slug

_DATE = re.compile(r"date=([0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))")
_PART = ".part.jsonl"


class RunFile(NamedTuple):
    """File of a finished run."""

    run: str
    """Slug of its id."""
    date: str
    path: Path


class RunPart(NamedTuple):
    """Rows that one process of a run in flight has appended."""

    run: str
    """Slug of its id."""
    process: str
    path: Path


def run_files(root: Path) -> list[RunFile]:
    """Finished runs, by date and name."""
    found = [
        RunFile(path.stem, day[1], path)
        for folder in folders_in(root / "runs")
        if (day := _DATE.fullmatch(folder.name))
        for path in files_in(folder, ".parquet")
    ]
    return sorted(found, key=lambda file: (file.date, file.run))


def run_parts(root: Path) -> list[RunPart]:
    """Parts of runs that are in flight, or died."""
    found = []
    for path in files_in(root / "runs", ".jsonl"):
        run, dot, process = path.name.removesuffix(_PART).rpartition(".")
        if path.name.endswith(_PART) and dot and run:
            found.append(RunPart(run, process, path))
    return sorted(found)


def run_path(root: Path, run_id: str, began_ns: int) -> Path:
    """Path of a finished run that started at ``began_ns``."""
    return root / "runs" / f"date={utc_date(began_ns)}" / f"{slug(run_id)}.parquet"


def part_path(root: Path, run_id: str, process: int | str) -> Path:
    """Path to which a process of a run appends."""
    name = slug(str(process)).replace(".", "-")
    return root / "runs" / f"{slug(run_id)}.{name}{_PART}"
