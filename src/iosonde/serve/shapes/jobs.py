"""The JSON of answers about jobs, for ``/openapi.json``; see ``shapes``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from iosonde.serve.shapes.weather import Instant, JsonModel, OpenJsonModel

Name = Annotated[str, Field(description="may be empty")]
Key = Annotated[list[str], Field(description="file system, motif")]


class JobJson(JsonModel):
    """A job, or one of its runs."""

    job: str
    run: str
    """Which of the job's runs; empty: it has one."""
    step: str
    motif: Name
    file_system: Name
    start_ns: Instant | None
    end_ns: Instant | None
    performance: float | None
    unit: str
    """Unit of ``performance``."""
    fraction_of_peak: float | None
    user: Name
    account: Name
    name: Name
    nodes: int | None
    ranks: int | None
    run_s: float | None
    """Run time in seconds."""
    state: Name
    slowness: float | None
    """Times as long as the median of its kind."""
    slowness_by: Name
    """``I/O rate`` or ``run time``."""


class JobsJson(JsonModel):
    """The newest jobs of those that match."""

    schema_version: int
    n: int
    """All jobs."""
    total: int
    """Those that match."""
    jobs: list[JobJson]


class UmamiRowJson(OpenJsonModel):
    """One metric; ``value``, ``values``, axis and box are in ``unit``."""

    metric: str
    label: str
    unit: str
    role: str
    """Quartile class: bad, poor, ok, good, neutral, too little history, missing."""
    value: float | None
    rank: str
    n: int
    """Other runs with a value."""
    values: list[float | None]
    box: dict[str, float] | None
    """low q25 q50 q75 high of the others; null: too few."""


class UmamiFigureJson(OpenJsonModel):
    """What is drawn of a job and its history."""

    title: str
    times_s: list[float]
    """Begin of each run, s since the epoch."""
    place: int
    """Which of the runs is the job."""
    rows: list[UmamiRowJson]
    caption: list[str]
    gaps: list[int]
    """Runs to which no line leads: nothing ran for weeks before them."""


class UmamiJson(OpenJsonModel):
    """The verdict on a job, as `iosonde explain --format json` has it, and its diagram."""

    schema_version: int
    file_system: Name
    motif: Name
    verdict: str
    sentence: str
    evidence: list[str]
    notes: list[str]
    n_history: int
    """Other runs of its kind."""
    figure: UmamiFigureJson


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
    q: float
    """Share of false discoveries at which it is still found."""
    sentence: str


class EventJson(OpenJsonModel):
    """Changes that may have been at one instant."""

    at_ns: Instant
    earliest_ns: Instant
    latest_ns: Instant
    sentence: str
    changes: list[ChangeJson]


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
    events: list[EventJson]
    too_short: list[Key]
    series: list[dict[str, Any]]
    climates: list[dict[str, Any]]
    figure: dict[str, Any]
    runs: list[list[tuple[str, str]]]
    """Of each series (job, run) of every run."""


class UnknownJobJson(JsonModel):
    """Neither a probe nor a scheduler says what the job met."""

    known: bool
    sentence: str


class JobStorageJson(OpenJsonModel):
    """A target while a job ran, as ``iosonde explain --format json`` has it; lengths in s."""

    target: str
    hosts: list[str]
    slow_s: float
    clear_s: float
    unknown_s: float
    told_level: float | None
    """At least so many times slower than usual; null: it was never slow."""
    stretches: list[dict[str, Instant]]
    """begin_ns, end_ns of slow stretches."""
    sentence: str


class JobEventJson(JsonModel):
    """An event while a job ran."""

    id: str
    host: str
    target: str
    begin_ns: Instant
    end_ns: Instant | None
    text: str


class JobCourseJson(JsonModel):
    """Operations per second in cells of a job's time; null: nothing was recorded then."""

    sentence: str
    begin_ns: Instant
    step_ns: int
    own_per_s: list[float | None]
    all_per_s: list[float | None]
    """Of all nodes."""
    share: float


class JobBesideJson(JsonModel):
    """A job beside the storage and the load of its time."""

    known: bool
    scheduled: bool
    """Only a scheduler recorded it: it has no diagram."""
    job: str
    run: int
    runs: int
    begin_ns: Instant | None
    end_ns: Instant | None
    going_on: bool
    sentence: str
    about: list[str]
    run_time: list[str]
    own_io: list[str]
    storage: list[JobStorageJson]
    """The slowest target first."""
    events: list[JobEventJson]
    load: JobCourseJson | None
