"""Query parameters: types with their limits, and parameters of targets.

FastAPI reads a route's parameters into its model and describes them in ``/openapi.json``; a value that does
not fit becomes the 400 of ``errors``. What several parameters say together is checked here: a ``RefusalError``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, TypeVar
from zoneinfo import ZoneInfo

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from iosonde.model.errors import IosondeError
from iosonde.model.ops import DEFAULT_WINDOW_NS
from iosonde.model.units import format_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

T = TypeVar("T")

MOST_WINDOWS = 5_000
"""Most windows of one answer."""
LONGEST_WINDOW_NS = 31 * 86_400 * 10**9
LAST_NS = 4_102_444_800_000_000_000
"""2100-01-01: a later instant is an error (such as mixed-up units)."""


AGAIN_S = 5
"""Seconds after which to retry."""


class RefusalError(IosondeError):
    """A request that cannot be answered. ``status`` is the HTTP status."""

    def __init__(self, what: str, *, expected: str = "", hint: str = "", status: int = 400) -> None:
        super().__init__(what, expected=expected, hint=hint)
        self.status = status


class BusyError(RefusalError):
    """Too many concurrent questions of a kind; retry after ``AGAIN_S``."""

    def __init__(self) -> None:
        super().__init__(
            "too many questions like this one are being answered",
            expected=f"the same again in {AGAIN_S} s",
            status=503,
        )


def _digits(value: Any) -> Any:
    # int() would take other digits, underscores, signs and spaces too.
    if isinstance(value, str) and not (value.isascii() and value.isdecimal() and len(value) <= 20):
        raise ValueError
    return value


def _boolean(value: Any) -> Any:
    if value not in ("true", "false"):
        raise ValueError
    return value


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # a KeyError means that there is none of this name
        raise RefusalError(
            f"there is no time zone {name[:80]!r}", expected="a name such as Europe/Berlin"
        ) from None


DIGITS = BeforeValidator(_digits)
"""Validator after the limits of an integer, which thus reach its schema."""
NANOSECONDS = Field(json_schema_extra={"format": "nanoseconds"})
Instant = Annotated[int, Field(ge=0, le=LAST_NS), NANOSECONDS, DIGITS]
"""Nanoseconds since the epoch."""
Flag = Annotated[bool, BeforeValidator(_boolean)]
Text = Annotated[str, Field(max_length=200)]
Host = Annotated[
    str, Field(min_length=1, max_length=4096, description="a host as /api/targets lists it")
]
Target = Annotated[
    str, Field(min_length=1, max_length=4096, description="a target as /api/targets lists it")
]
Since = Annotated[Instant | None, Field(description="begin of the range, ns since the epoch")]
Until = Annotated[
    Instant | None, Field(description="end of the range, ns since the epoch (default: now)")
]
Zone = Annotated[
    ZoneInfo | None,
    BeforeValidator(_zone),
    Field(description="time zone of sentences and pictures (default: the server's)"),
]


class Parameters(BaseModel):
    """Parameters of a route; others are refused. This class: none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def read(cls, request: Request) -> Self:
        """Parse the parameters of a hot route, none repeated, as ``Annotated[..., Query()]`` does.

        FastAPI takes 50 us to look for six parameters, more than a shared answer takes otherwise; this takes 3.
        """
        try:
            return cls.model_validate(dict(request.query_params))
        except ValidationError as error:
            places = [{**one, "loc": ("query", *one["loc"])} for one in error.errors()]
            raise RequestValidationError(places) from None

    @classmethod
    def openapi(cls) -> dict[str, Any]:
        """OpenAPI parameters of a route that parses them by ``read``."""
        schema = cls.model_json_schema()
        required = schema.get("required", ())
        return {
            "parameters": [
                {"name": name, "in": "query", "required": name in required, "schema": one}
                | {"description": one["description"]}
                for name, one in schema["properties"].items()
            ]
        }


Limit = Annotated[int, Field(ge=1, le=1000), DIGITS]
Offset = Annotated[int, Field(ge=0, le=1_000_000), DIGITS]
LIMIT = "number of entries at most; `total` counts all that match"
OFFSET = "number of entries to leave out at the beginning"


class PageQuery(Parameters):
    """Part of a list; the answer has ``total``, the length of the whole list."""

    limit: Limit = Field(100, description=LIMIT)
    offset: Offset = Field(0, description=OFFSET)

    def part(self, every: Sequence[T]) -> Sequence[T]:
        """Requested entries."""
        return every[self.offset : self.offset + self.limit]


Brief = Annotated[
    bool,
    BeforeValidator(_boolean),
    Field(description="where there are more than 40 targets, leave out notes and operations"),
]


class TargetsQuery(Parameters):
    """Parameters of ``/api/targets``."""

    zone: Zone = None
    brief: Brief = False


class SeriesQuery(Parameters):
    """Parameters of ``/api/series``, as in the address."""

    host: Host
    target: Target
    since_ns: Since = Field(None, description="begin, ns since the epoch (default: 15 minutes)")
    until_ns: Until = None
    window_ns: Annotated[int, Field(ge=1_000_000, le=LONGEST_WINDOW_NS), NANOSECONDS, DIGITS] = (
        Field(DEFAULT_WINDOW_NS, description="length of a window, ns")
    )
    points: Flag = Field(True, description="single operations too, not windows alone")


class FeedQuery(Parameters):
    """Parameters of ``/api/feed``. Without a target: the targets only."""

    host: Host | None = Field(None, description="of the target whose rows are sent")
    target: Target | None = Field(None, description="whose rows are sent (default: none)")
    after_ns: Instant | None = Field(
        None, description="rows that became visible after this instant only, ns since the epoch"
    )
    zone: Zone = None
    brief: Brief = False


class SeriesRequest(NamedTuple):
    """A range of a target. ``until_ns`` None: up to now. ``points`` False: windows only."""

    host: str
    target: str
    since_ns: int
    until_ns: int | None
    window_ns: int
    points: bool


def series_request(query: SeriesQuery, now_ns: int) -> SeriesRequest:
    """Range of a query; by default the last 15 minutes. Raises RefusalError."""
    window = query.window_ns
    end = now_ns if query.until_ns is None else query.until_ns
    since = max(0, end - 900 * 10**9) if query.since_ns is None else query.since_ns
    refuse_backwards(since, end)
    refuse_many_windows(since, end, window)
    since = since // window * window  # whole windows, and one answer for all who look at them
    return SeriesRequest(query.host, query.target, since, query.until_ns, window, query.points)


def feed_start(query: FeedQuery, last_event_id: int | None) -> FeedQuery:
    """Query of a client that continues after its last event. Raises RefusalError."""
    if (query.host is None) != (query.target is None):
        raise RefusalError("only one of host and target is given", expected="both or none")
    return query if last_event_id is None else query.model_copy(update={"after_ns": last_event_id})


def refuse_backwards(since: int, end: int) -> None:
    """Raise RefusalError for a range that ends before it starts."""
    if since >= end:
        raise RefusalError(
            f"since_ns {since} is not before until_ns {end}", expected="an instant before the end"
        )


def refuse_many_windows(since: int, end: int, window: int) -> None:
    """Raise RefusalError for a range of too many windows."""
    if (end - since) // window > MOST_WINDOWS:
        least = -(-(end - since) // MOST_WINDOWS)
        raise RefusalError(
            f"{(end - since) // window} windows of {format_option(window)} are too many",
            expected=f"at most {MOST_WINDOWS} windows",
            hint=f"window_ns of at least {least}, or a shorter range",
        )
