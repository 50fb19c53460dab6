"""Parameters of the routes for other pages."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from iosonde.serve import params
from iosonde.serve.params import DIGITS, LAST_NS, PageQuery, Parameters, RefusalError

MILLISECOND_NS = 1_000_000
LONGEST_NS = 92 * 86_400 * 10**9
"""Longest range of annotations."""
_LAST_MS = LAST_NS // MILLISECOND_NS
_DAY_NS = 86_400 * 10**9
_Place = Annotated[str, Field(min_length=1, max_length=4096)]
_Milliseconds = Annotated[
    int, Field(ge=0, le=_LAST_MS, json_schema_extra={"format": "milliseconds"})
]


class PlaceQuery(Parameters):
    """Parameters of a badge."""

    target: _Place | None = Field(
        None, description="a target as /api/targets lists it (default: the worst of all)"
    )
    host: _Place | None = Field(None, description="seen from this host (default: the worst of all)")


class StatusQuery(PageQuery, PlaceQuery):
    """Parameters of ``/api/status``: the worst target is the first."""

    zone: params.Zone = None


class AnnotationsQuery(PageQuery, PlaceQuery):
    """Parameters of ``/api/annotations``, in the units of dashboards."""

    from_: Annotated[_Milliseconds | None, DIGITS] = Field(
        None,
        alias="from",
        description="begin of the range, ms since the epoch (default: a day before its end)",
    )
    to: Annotated[_Milliseconds | None, DIGITS] = Field(
        None, description="end of the range, ms since the epoch (default: now)"
    )
    zone: params.Zone = None
    limit: params.Limit = Field(
        100, description="number of events at most, the newest; `total` counts all that match"
    )
    offset: params.Offset = Field(0, description="number of the newest events to leave out")
    why: Annotated[int, Field(ge=0, le=5), DIGITS] = Field(
        0, description="of so many of the newest say why, about a second each"
    )

    def span_ns(self, now_ns: int) -> tuple[int, int]:
        """The range in ns since the epoch. Raises RefusalError: backwards, too long."""
        end = now_ns if self.to is None else self.to * MILLISECOND_NS
        begin = max(0, end - _DAY_NS) if self.from_ is None else self.from_ * MILLISECOND_NS
        if begin >= end:
            raise RefusalError(
                f"from {begin // MILLISECOND_NS} is not before to {end // MILLISECOND_NS}",
                expected="an instant before the end",
            )
        if end - begin > LONGEST_NS:
            raise RefusalError("the range is too long", expected="at most 92 days")
        return begin, end
