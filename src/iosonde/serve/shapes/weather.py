"""The JSON of answers about targets, for ``/openapi.json``: names, units, and what null means.

Answers leave as bytes (``wire``) and are not built from these models: pydantic would take longer than all the
rest. ``tests/serve/test_openapi.py`` holds real answers to them.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from iosonde.model.json_types import Instant, Ns, Op, Second, Severity
from iosonde.serve.answers import MEDIA_TYPES

Instants = list[Instant]
Durations = Annotated[list[Ns | None], Field(description="null: there is none")]
Ratios = Annotated[list[float | None], Field(description="slowdown, a ratio; null: there is none")]
Counts = Annotated[list[int], Field(description="number of operations")]


class JsonModel(BaseModel):
    """An object with exactly these members."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class OpenJsonModel(BaseModel):
    """An object with these members and more."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)


class Problem(JsonModel):
    """What is wrong."""

    what: str
    """What happened."""
    expected: str
    """What would have been right; may be empty."""
    hint: str = Field(alias="try")
    """What to try; may be empty."""


class Error(JsonModel):
    """Every error answer."""

    error: Problem


class OpState(OpenJsonModel):
    """The probe's live state of an operation. All ``_ns`` are nanoseconds."""

    op: Op
    state: str
    slowdown: float | None
    slowdown_lower: float | None
    slowdown_upper: float | None
    stretch_slowdown: float | None = None
    """Of the whole slow stretch that goes on, as the sentence has it; null: none does."""
    stretch_lower: float | None = None
    stretch_upper: float | None = None
    partly: bool = False
    """Only some of its operations are slow."""
    latest_ns: Ns | None
    median_ns: Ns | None
    baseline_ns: Ns | None
    inflight_ns: Ns | None
    """Age of an operation that has not ended."""
    inflight_due_ns: Instant | None
    """When it was due."""
    n_due: int | None
    n_seen: int | None
    host_busy: bool


class StateJson(OpenJsonModel):
    """The probe's live state, as ``iosonde now --format json`` has it; of a damaged one less."""

    written_ns: Instant | None
    period_ns: Ns | None
    window_ns: Ns | None
    notes: list[str]
    ops: list[OpState]


class TargetJson(JsonModel):
    """A target with what iosonde says about it."""

    host: str
    target: str
    slug: str
    """The name of the state's file; empty: there is none."""
    kind: str
    """usual, learning, host_busy, slow, lost, failing, hung, stopped, stale, damaged ..."""
    severity: Severity
    sentence: str
    brief: str
    """The same in two or three words."""
    slowdown: float | None
    """Of the slowest operation that is slow, else of all; null: none has a number."""
    as_of_ns: Instant
    state: StateJson


class PointsJson(JsonModel):
    """Single operations as columns, by due instant."""

    due_ns: Instants
    response_ns: Durations
    """Response time, from due to ended; null: not ended."""
    service_ns: Durations
    """From began to ended."""
    outcome: list[str]
    """ok, the error's name, timeout, skipped or pending."""
    held_up: list[bool]
    """Ended well, but could not begin when it was due: a user waited for its response time."""


class CellCounts(JsonModel):
    """Cells that are not empty, as columns: bin of time, bin of latency (``edges_ns[i]`` on), operations."""

    time: list[int]
    latency: list[int]
    count: Counts


class CellsJson(JsonModel):
    """Exact counts on a grid, where there are too many operations to list."""

    origin_ns: Instant
    """Begin of time bin 0."""
    step_ns: Ns
    edges_ns: list[Ns]
    """Edges of the latency bins."""
    ok: CellCounts
    failed: CellCounts
    n_without_latency: int


class Windows(JsonModel):
    """Windows with at least one operation as columns, by start."""

    start_ns: Instants
    n_due: Counts
    n_seen: Counts
    q50_ns: Durations
    q50_lower_ns: Durations
    q50_upper_ns: Durations
    q90_ns: Durations
    max_ns: Durations
    baseline_ns: Durations
    slowdown: Ratios
    slowdown_lower: Ratios
    slowdown_upper: Ratios
    slow: list[bool]
    host_busy: list[bool]
    """Slow only because the probing host was busy."""


class LeftOutJson(JsonModel):
    """A file of the store that is damaged, or a part of it is."""

    path: str
    what: str
    """What is wrong with it."""
    try_: Annotated[str, Field(alias="try")]


LeftOuts = Annotated[
    list[LeftOutJson], Field(description="files of the store that do not count, by path")
]


class UnjudgedJson(JsonModel):
    """An interval that was not judged."""

    host: str
    target: str | None
    """Null: all targets of the host."""
    op: str | None
    """Null: all operations."""
    begin_ns: Instant
    end_ns: Instant | None
    """Null: it lasts."""
    reason: str
    """learning, few_operations, long_step, no_probe, damaged or other_baseline."""
    learned_ns: Ns | None
    """Length of the windows that a provisional baseline rests on; null: nothing was judged."""
    needs_ns: Ns | None
    """Length of windows, or of history, that a judgement would need."""
    sentence: str


class StretchJson(JsonModel):
    """A slow stretch of an operation, as ``iosonde events`` has it; its begin and end do not depend on the range."""

    start_ns: Instant
    end_ns: Instant
    """When it was seen last, where it goes on or nobody knows."""
    slowdown: float | None
    slowdown_lower: float | None
    slowdown_upper: float | None
    n: int
    ongoing: bool
    unknown_since_ns: Instant | None
    """The probe stopped then, while it went on."""


class OpSeries(JsonModel):
    """One operation; ``points`` or ``cells``, or neither where only windows are asked for."""

    points: PointsJson | None
    cells: CellsJson | None
    n_points: int | None
    stretches: list[StretchJson]
    windows: Windows


class SeriesJson(JsonModel):
    """One target over a range of time, by operation."""

    host: str
    target: str
    since_ns: Instant
    until_ns: Instant
    window_ns: Ns
    as_of_ns: Instant
    """The store was read after this instant; the feed has what became visible later."""
    left_out: LeftOuts
    ops: dict[Op, OpSeries]


class Chunk(JsonModel):
    """New operations of the feed."""

    as_of_ns: Instant
    ops: dict[Op, PointsJson]


class PaneJson(JsonModel):
    """One small plot."""

    row: str
    column: str
    unit: str
    """Of the vertical axis: s, x (a ratio), /s ..."""
    marks: list[dict[str, Any]]
    """What is drawn; ``mark`` says which kind it is."""
    n: int
    """Operations or intervals in the marks."""
    note: str
    span_s: tuple[Second, Second] | None
    empty: str
    """What stands in it while ``n`` is 0."""
    across: str
    """What its horizontal axis counts, where that has numbers."""


class Figure(JsonModel):
    """Small multiples as data."""

    kind: str
    title: str
    columns: list[str]
    panes: list[PaneJson]
    since_s: Second | None
    until_s: Second | None
    caption: list[str]
    stack: int
    """So many panes in a row stand below each other."""
    levels: list[str]
    levels_of: str
    """What ``levels`` names along the horizontal axis, where that is not time."""


class AboutJson(JsonModel):
    """What the server says of itself."""

    version: str
    left_out: LeftOuts
    store: str
    """Its path; its name alone where names are hashed."""
    names: str
    """Names of users, accounts and jobs: shown, or hashed."""
    op_words: dict[Op, str]
    """The plural noun of each operation."""
    slow_at: float
    slow_lower_at: float
    baseline_trailing_ns: Ns


Responses = dict[int | str, dict[str, Any]]
ERRORS: Responses = {
    "4XX": {"model": Error, "description": "The request cannot be answered as it is."},
    "5XX": {"model": Error, "description": "The store cannot be read, or iosonde made a mistake."},
}
_REFERENCE = "#/components/schemas/{model}"
_CHUNK = Chunk.model_json_schema(ref_template=_REFERENCE)
del _CHUNK["$defs"]  # other routes have them
_EVENT = [
    {"type": "array", "items": {"$ref": _REFERENCE.format(model="TargetJson")}},
    _CHUNK,
    {"type": "array", "items": {"type": "string"}},
]
FEED: Responses = {
    200: {
        "description": "Server-sent events: targets every second (of many in brief every three, and whole, as a "
        "list of one, the target that is asked for: target); points, with host and target, whose id is the "
        "next Last-Event-ID; reload: fetch the series again; trouble: lines about what cannot be read, on change.",
        "content": {
            "text/event-stream": {"schema": {"type": "string", "contentSchema": {"anyOf": _EVENT}}}
        },
    }
}


def pictures(*more: str) -> Responses:
    """The other forms of an answer: pictures, and ``more`` of MEDIA_TYPES."""
    return files(*more, "png", "svg", "pdf")


def files(*forms: str) -> Responses:
    """Forms of an answer that are no JSON."""
    schema = {"type": "string", "contentMediaType": "application/octet-stream"}
    return {200: {"content": {MEDIA_TYPES[form]: {"schema": schema} for form in forms}}}
