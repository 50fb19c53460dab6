"""The JSON of answers about jobs, for ``/openapi.json``; see ``shapes``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from iosonde.jobs.climate.answers import ClimateFigure
from iosonde.jobs.umami.answers import UmamiFigure
from iosonde.model.json_types import Instant
from iosonde.serve.shapes.weather import JsonModel, OpenJsonModel

Name = Annotated[str, Field(description="may be empty")]
Key = Annotated[list[str], Field(description="file system, motif")]


class UmamiJson(OpenJsonModel):
    """The verdict on a job, as `iosonde explain --format json` has it, and its diagram."""

    schema_version: int
    file_system: Name
    motif: Name
    verdict: str
    sentence: str
    evidence: list[str]
    rejected: str
    history: str
    notes: list[str]
    n_history: int
    """Other runs of its kind."""
    figure: UmamiFigure


class ChangeJson(OpenJsonModel):
    """A lasting change; ``before`` and ``after`` are medians, fractions of the best run."""

    file_system: Name
    motif: Name
    at_ns: Instant
    earliest_ns: Instant
    latest_ns: Instant
    before: float
    after: float
    ratio: float | None
    n_before: int
    n_after: int
    own: list[dict[str, Any]]
    """What the jobs themselves did differently afterwards."""
    q: float
    """Share of false discoveries at which it is still found."""
    sentence: str


class ClimateEventJson(OpenJsonModel):
    """Changes that may have been at one instant."""

    at_ns: Instant
    earliest_ns: Instant
    latest_ns: Instant
    sentence: str
    along: list[str]
    changes: list[ChangeJson]


class SegmentJson(OpenJsonModel):
    """Runs between two changes; ``median`` is a fraction of the best run of all time."""

    start_ns: Instant
    end_ns: Instant
    n: int
    median: float
    of_own_peak_ratio: float | None


class ClimateSeriesJson(OpenJsonModel):
    """All runs of a file system and motif."""

    file_system: Name
    motif: Name
    segments: list[SegmentJson]


class RegimeJson(OpenJsonModel):
    """A stretch of days of one climate."""

    sentence: str


class ClimatesJson(OpenJsonModel):
    """Climates of a file system."""

    file_system: Name
    sentence: str
    regimes: list[RegimeJson]


class NoJobs(JsonModel):
    """There are no jobs at all."""

    n: int


class ClimateJson(OpenJsonModel):
    """Lasting changes, events and climates of jobs; what is drawn; which run each dot is."""

    n: int
    """All jobs, whatever is asked."""
    file_systems: list[str]
    motifs: list[str]
    sentence: str
    since_ns: Instant
    until_ns: Instant
    changes: list[ChangeJson]
    events: list[ClimateEventJson]
    too_short: list[Key]
    series: list[ClimateSeriesJson]
    climates: list[ClimatesJson]
    figure: ClimateFigure
    runs: list[list[tuple[str, str]]]
    """Of each series (job, run) of every run."""
