"""Sheets of a benchmark: distribution of latencies, and times of slow operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from iosonde.drawing.marks import Level, Points
from iosonde.drawing.sheet import Sheet
from iosonde.model.frames import SlowdownQuery
from iosonde.model.runs import RunRow
from iosonde.model.text import clean_text
from iosonde.weather.figures.densities import densities
from iosonde.weather.figures.density import density_sheet
from iosonde.weather.figures.request import ABOVE_NS, SEED, SPARSE, runs_named
from iosonde.weather.figures.sparse import sparse_sheet
from iosonde.weather.samples.periods import runs
from iosonde.weather.samples_to_draw import thinned
from iosonde.weather.store import Store


def bench_sheets(
    store: Store, each: Sequence[Sequence[RunRow]]
) -> tuple[Sheet | None, Sheet | None]:
    """Density and timeline of all phases of some runs, by their rows; None without operations.

    Raises UsageError for a run without samples.
    """
    labels = run_labels([rows[0] for rows in each])
    span = runs_named(list(labels), runs(store.root))
    query = SlowdownQuery(since_ns=span.since_ns, until_ns=span.until_ns, runs=span.run_ids)
    points = thinned(store, query, SPARSE, ABOVE_NS, SEED)
    named = [
        replace(one, name=_name(one.name, labels))
        for one in densities(store, query)
        if not one.name.endswith("-cleanup")
    ]
    targets = ", ".join(dict.fromkeys(clean_text(rows[0].target) for rows in each))
    density = density_sheet(named)
    if density is not None:
        density = replace(density, title=f"How latencies are distributed: {targets}")
    timeline = sparse_sheet(points, span.since_ns, span.until_ns, ABOVE_NS, SEED)
    return density, None if timeline is None else _timeline(timeline, targets)


def run_labels(runs_: Sequence[RunRow]) -> dict[str, str]:
    """Distinguishing label of each run, by id: target, N and other letters that differ; else empty."""
    facts = [
        {"target": row.target, "N": row.ranks, **{k: row.parameters.get(v) for k, v in _LETTERS}}
        for row in runs_
    ]
    differing = [name for name in facts[0] if len({one[name] for one in facts}) > 1]
    return {
        row.run_id: ", ".join(
            clean_text(str(one[name])) if name == "target" else f"{name} {one[name]}"
            for name in differing
        )
        for row, one in zip(runs_, facts, strict=True)
    }


_LETTERS = (("D", "data_sets"), ("P", "objects"), ("I", "iterations"), ("S", "size_bytes"))


def _timeline(sheet: Sheet, targets: str) -> Sheet:
    """The sheet titled by its target; without the limit of slow operations, which squeezes the others, if none was
    slow.
    """
    panes = tuple(
        pane
        if any(isinstance(m, Points) and (m.value > ABOVE_NS / 1e9).any() for m in pane.marks)
        else replace(
            pane,
            marks=tuple(m for m in pane.marks if not isinstance(m, Level)),
            note=pane.note.removesuffix(", 0 above"),
        )
        for pane in sheet.panes
    )
    return replace(sheet, title=f"When operations took how long: {targets}", panes=panes)


def _name(run_id: str, labels: Mapping[str, str]) -> str:
    """Phase of a sample's run, and the run's label."""
    for run, label in labels.items():
        if run_id.startswith(f"{run}-"):
            phase = run_id[len(run) + 1 :]
            return f"{phase}, {label}" if label else phase
    return run_id
