"""A diagram as plain data for programs: numbers in the units of ``model.job_metrics``, missing is None."""

from __future__ import annotations

import math
from typing import Any

from iosonde.jobs.umami.diagram import MetricRow, Umami

SCHEMA_VERSION = 2


def as_json(umami: Umami) -> dict[str, Any]:
    """All data: the runs with all their values, and ``records``."""
    return {
        "schema_version": SCHEMA_VERSION,
        "job_id": umami.job_id,
        "step": umami.step,
        "file_system": umami.file_system,
        "motif": umami.motif,
        "history": umami.history,
        "n_history": umami.others,
        "since_ns": umami.since_ns,
        "place": umami.place,
        "times_s": [known(value) for value in umami.times_s.tolist()],
        "notes": list(umami.notes),
        "rows": [
            {**record, "values": [known(value) for value in row.values.tolist()]}
            for record, row in zip(records(umami), umami.rows, strict=True)
        ],
    }


def records(umami: Umami) -> list[dict[str, Any]]:
    """A record per metric: its value, class and history in numbers."""
    return [_record(row) for row in umami.rows]


def flat_records(umami: Umami) -> tuple[list[str], list[dict[str, Any]]]:
    """Names of columns, and ``records`` as rows of them."""
    rows = [{**row, "flags": " ".join(row["flags"])} for row in records(umami)]
    return list(rows[0]) if rows else ["metric"], rows


def _record(row: MetricRow) -> dict[str, Any]:
    stood, box = row.stood, row.stood.box
    return {
        "metric": row.metric,
        "label": row.about.label,
        "unit": row.about.unit,
        "good": row.about.good,
        "value": known(stood.value),
        "class": str(stood.standing),
        "tied": stood.tied,
        "n_history": stood.n,
        "share_below": known(stood.share),
        "p5": known(box.low),
        "q25": known(box.q25),
        "q50": known(box.q50),
        "q75": known(box.q75),
        "p95": known(box.high),
        "flags": list(row.flags),
    }


def known(value: float) -> float | None:
    """The value, or None for NaN."""
    return value if math.isfinite(value) else None
