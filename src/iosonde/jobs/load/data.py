"""A load for programs: JSON-able data, rows, and arrays as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.jobs.load.words import NOUNS, say
from iosonde.model.units import iso_time

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.jobs.load.history import LoadHistory
    from iosonde.jobs.load.view import ColumnLoad, LoadView, TotalBand

CSV = ("begin", "end", "begin_ns", "end_ns", "name", "mean_per_s", "most_per_s")
"""Columns of rows."""


def load_data(view: LoadView, history: LoadHistory) -> dict[str, Any]:
    """Columns, totals, a band; names and numbers of cells apart."""
    grid = history.grid
    return {
        "n": view.columns,
        "by": view.asked.column,
        "noun": NOUNS[view.asked.column][0],
        "nouns": NOUNS[view.asked.column][1],
        "sentence": say(view),
        "recorded": {"begin_ns": grid.begin_ns, "end_ns": grid.end_ns, "step_ns": grid.step_ns},
        "begin_ns": view.axis.begin_ns,
        "step_ns": view.axis.step_ns,
        "cells": view.axis.cells,
        "ops": round(view.ops),
        "most_per_s": float(view.total.most.max(initial=0.0)),
        "half": view.half,
        "columns": [
            _part(part) | {"most_per_s": float(view.of.most[place].max(initial=0.0))}
            for place, part in enumerate(view.parts)
        ],
        "totals": {
            "edges_per_s": [float(f"{edge:.4g}") for edge in view.rates.edges_per_s.tolist()],
            "seconds": view.rates.seconds.tolist(),
        },
        "band": None if view.band is None else _band(view.band),
        "left_out": [str(one) for one in history.left_out],
    }


def _part(part: ColumnLoad) -> dict[str, Any]:
    return {"name": part.name, "ops": round(part.ops), "share": part.share}


def _band(band: TotalBand) -> dict[str, Any]:
    return {
        "low_per_s": band.low,
        "high_per_s": band.high,
        "seconds": band.seconds,
        "share_of_time": band.share_of_time,
        "ops": round(band.ops),
        "half": band.half,
        "ranked": [_part(part) for part in band.ranked],
    }


def cell_bytes(view: LoadView) -> bytes:
    """The arrays, one after the other."""
    pairs = (view.total, view.of)
    rows = [
        row
        for dense in pairs
        for at in range(len(dense.ops))
        for row in (dense.ops[at], dense.most[at])
    ]
    return np.concatenate([*rows, view.covered, view.inside]).astype("<f4").tobytes()


def cell_records(view: LoadView, zone: tzinfo | None) -> list[dict[str, Any]]:
    """A record a cell and column that did something, the total first; ``zone``: of its times (None: the machine's)."""
    edges = (view.axis.begin_ns + view.axis.step_ns * np.arange(view.axis.cells + 1)).tolist()
    times = [iso_time(edge, zone) for edge in edges]
    found = []
    for name, means, most in (
        ("(all nodes)", view.total.ops[0], view.total.most[0]),
        *((part.name, view.of.ops[row], view.of.most[row]) for row, part in enumerate(view.parts)),
    ):
        for cell in np.flatnonzero(most > 0).tolist():
            spans = (*times[cell : cell + 2], *edges[cell : cell + 2])
            values = (f"{means[cell]:.6g}", f"{most[cell]:.6g}")
            found.append(dict(zip(CSV, (*spans, name, *values), strict=True)))
    return found
