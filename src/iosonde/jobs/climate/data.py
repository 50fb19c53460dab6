"""Climates as plain data for programs: every number with unit, n and interval, and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import UTC
from typing import TYPE_CHECKING, Any

from iosonde.jobs.climate import words
from iosonde.jobs.climate import worth_words as worth
from iosonde.jobs.climate.clusters import UNCLUSTERED
from iosonde.jobs.climate.series import LevelChange
from iosonde.model.json_types import as_json
from iosonde.model.units import iso_time

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.jobs.climate.climate import Climate, OnDate
    from iosonde.jobs.climate.events import ClimateEvent
    from iosonde.jobs.climate.metrics import MetricChange
    from iosonde.jobs.climate.motifs import Motifs
    from iosonde.jobs.climate.regimes import FileSystemClimate
    from iosonde.jobs.climate.series import JobSeries
    from iosonde.jobs.climate.validation import Validated
    from iosonde.model.jobs import JobTable

SCHEMA_VERSION = 1
_CHANGE = tuple(field.name for field in fields(LevelChange) if field.name != "own")


def climate_data(
    found: Climate, on: OnDate | None = None, valid: Sequence[Validated] = ()
) -> dict[str, Any]:
    """Changes, events, segments, climates; with ``on`` the changes on a day; validation if requested."""
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "sentence": words.say_climate(found),
        "since_ns": found.since_ns,
        "until_ns": found.until_ns,
        "too_short": [list(key) for key in found.too_short],
        "unsure": found.unsure,
        "changes": [change_data(one) for one in found.changes],
        "events": [_event(one) for one in found.events],
        "series": [_series(one) for one in found.series],
        "climates": [_climates(one) for one in found.regimes],
        "metrics": [_metric(one) for one in found.metrics],
    }
    if on is not None:
        data["on"] = {
            "day_ns": on.day_ns,
            "sentences": words.say_on_date(on),
            "changes": [change_data(one) for one in on.changes],
            "events": [_event(one) for one in on.events],
            "began": [list(one) for one in on.began],
            "steady": [list(one) for one in on.steady],
        }
    if valid:
        data["validation"] = [_validated(one) for one in valid]
    return dict(as_json(data))


def motifs_data(found: Motifs, table: JobTable) -> dict[str, Any]:
    """Clusters, agreement with known motifs, and for each job its cluster and suggested motif."""
    return dict(
        as_json(
            {
                "schema_version": SCHEMA_VERSION,
                "sentence": worth.say_motifs(found),
                "features": list(found.features),
                "unclustered_ratio": found.unclustered,
                "adjusted_rand": found.agreement,
                "adjusted_rand_with_unclustered": found.agreement_all,
                "compared": found.compared,
                "clusters": [
                    {"cluster": number, **asdict(one)}
                    for number, one in enumerate(found.clusters, 1)
                ],
                "jobs": motif_rows(found, table),
            }
        )
    )


def motif_rows(found: Motifs, table: JobTable) -> list[dict[str, Any]]:
    """A row per job: ``cluster`` None for unclustered ones."""
    return [
        {
            "job_id": job,
            "step": step,
            "motif": motif,
            "cluster": None if label == UNCLUSTERED else label + 1,
            "suggested": suggested,
        }
        for job, step, motif, label, suggested in zip(
            table.job_id.tolist(),
            table.step.tolist(),
            table.motif.tolist(),
            found.label.tolist(),
            found.suggested.tolist(),
            strict=True,
        )
    ]


def change_data(one: LevelChange) -> dict[str, Any]:
    """A change, flat except for changes in the jobs themselves."""
    own = [entry._asdict() for entry in one.own]
    return {**asdict(one), "ratio": one.ratio, "own": own, "sentence": words.say_change(one)}


def change_rows(
    changes: Sequence[LevelChange], zone: tzinfo = UTC
) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Names of columns, and changes as rows of them; ``at``, ``earliest``, ``latest`` are ISO 8601 in ``zone``."""
    instants = {name.removesuffix("_ns"): name for name in _CHANGE if name.endswith("_ns")}
    names = (*_CHANGE[:2], *instants, *_CHANGE[2:], "ratio", "sentence")
    return names, [
        change_data(one)
        | {short: iso_time(getattr(one, name), zone) for short, name in instants.items()}
        for one in changes
    ]


def _event(one: ClimateEvent) -> dict[str, Any]:
    return {
        "at_ns": one.at_ns,
        "earliest_ns": one.earliest_ns,
        "latest_ns": one.latest_ns,
        "sentence": words.say_event(one),
        "along": words.say_along(one),
        "asked": one.asked,
        "silent_ns": list(one.silent_ns),
        "steady": [list(key) for key in one.steady],
        "changes": [change_data(change) for change in one.changes],
        "metrics": [_metric(metric) for metric in one.metrics],
    }


def _metric(one: MetricChange) -> dict[str, Any]:
    flat = {name: value for name, value in vars(one).items() if name != "about"}
    return {**flat, "unit": one.about.unit, "label": one.about.label}


def _series(one: JobSeries) -> dict[str, Any]:
    return {
        "file_system": one.file_system,
        "motif": one.motif,
        "n": len(one.values),
        "kappa": one.kappa,
        "segments": [
            {**asdict(part), "of_own_peak_ratio": part.of_own_peak} for part in one.segments
        ],
    }


def _climates(one: FileSystemClimate) -> dict[str, Any]:
    return {
        "file_system": one.file_system,
        "sentence": words.say_climates(one),
        "motifs": list(one.motifs),
        "metrics": list(one.metrics),
        "alike": one.alike,
        "regimes": [
            {
                **asdict(regime),
                "distinct": [entry._asdict() for entry in regime.distinct],
                "sentence": words.say_regime(regime, one.file_system),
            }
            for regime in one.regimes
        ],
    }


def _validated(one: Validated) -> dict[str, Any]:
    found = one.found
    data: dict[str, Any] = {
        "file_system": one.file_system,
        "runs": one.runs,
        "metrics": list(one.metrics),
        "sentences": worth.say_validation(one),
    }
    if found is not None:
        data |= {**asdict(found), "useful": found.useful, "leaks": found.leaks}
    return data
