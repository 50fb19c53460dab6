"""Rows of runs for programs: the same from ``iosonde runs`` and from a benchmark."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iosonde.bench.report.cautions import run_cautions
from iosonde.bench.runs.compare import compare
from iosonde.bench.runs.rows import SCHEMA_VERSION, frame_of
from iosonde.cli.shared import options
from iosonde.engine.files import write_frame, write_text
from iosonde.engine.left_out import with_left_out
from iosonde.model.runs import RunRow


def write_rows(
    rows: Sequence[RunRow],
    format_name: str,
    output: Path | None,
    *,
    every_factor: bool = False,
    verdicts: Sequence[dict[str, Any]] = (),
    root: Path | None = None,
) -> None:
    """Write Parquet or CSV; or JSON, one object with comparison and ``verdicts``. ``output`` None: stdout.

    ``root``: the store whose files may have been left out.
    """
    if format_name == "json":
        compared = [asdict(one) for one in compare(rows, every_factor=every_factor)]
        found: dict[str, Any] = {"runs": compared, "rows": [asdict(row) for row in rows]}
        ids = list(dict.fromkeys(row.run_id for row in rows))
        found["cautions"] = {
            run_id: run_cautions([row for row in rows if row.run_id == run_id]) for run_id in ids
        }
        if verdicts:
            found["verdicts"] = list(verdicts)
        if root is not None:
            found = with_left_out(found, root)
        text = json.dumps({"schema_version": SCHEMA_VERSION, **found}, allow_nan=False)
        if output is None:
            print(text)
        else:
            write_text(text + "\n", output)
    elif output is None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows"
            write_frame(frame_of(rows), path, format_name)
            options.copy_to_stdout(path)
    else:
        write_frame(frame_of(rows), output, format_name)
    if output is not None:
        options.note(f"wrote {output}")
