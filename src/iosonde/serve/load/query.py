"""Parameters of the routes of loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from iosonde.jobs.load.answers import COLUMNS, Asked
from iosonde.serve import params
from iosonde.serve.params import DIGITS, PageQuery, Parameters, RefusalError, Text
from iosonde.serve.pictures import PictureParameters

if TYPE_CHECKING:
    By = str
else:
    By = Literal[COLUMNS]

MOST_CELLS = 4096
MOST_COLUMNS = 200


class LoadQuery(Parameters):
    """Parameters of ``/api/load`` and ``/api/load/cells``."""

    by: By = Field("user", description="what a column is")
    since_ns: params.Since = None
    until_ns: Annotated[
        params.Instant | None, Field(description="end of the range (default: the last record)")
    ] = None
    cells: Annotated[int, Field(ge=1, le=MOST_CELLS), DIGITS] = Field(
        1024, description="so many cells of time at most"
    )
    top: Annotated[int, Field(ge=1, le=MOST_COLUMNS), DIGITS] = Field(
        40, description="so many columns at most, the largest first"
    )
    margin: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = Field(
        0.0, description="cells before and after the range, so many times its length"
    )
    low_per_s: Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)] = Field(
        0.0, description="lowest total of a band, operations per second"
    )
    high_per_s: Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)] = Field(
        0.0, description="total that the band ends before; 0: no band"
    )


class LoadTableQuery(LoadQuery, PictureParameters):
    """Parameters of ``/api/load``."""


class LoadJobsQuery(PageQuery):
    """Parameters of ``/api/load/jobs``."""

    by: By = Field("user", description="what a column is")
    name: Text | None = Field(
        None, description="one column, as /api/load names it (default: all of them)"
    )
    since_ns: Annotated[params.Instant, Field(description="begin of the range")]
    until_ns: Annotated[params.Instant, Field(description="end of the range")]
    limit: params.Limit = Field(5, description=params.LIMIT)


def asked(query: LoadQuery) -> Asked:
    """View requested. Raises RefusalError: a range or a band that ends before it starts."""
    since = 0 if query.since_ns is None else query.since_ns
    until = params.LAST_NS if query.until_ns is None else query.until_ns
    params.refuse_backwards(since, until)
    band = None
    if query.high_per_s > 0 or query.low_per_s > 0:
        if query.low_per_s >= query.high_per_s:
            raise RefusalError(
                f"low_per_s {query.low_per_s:g} is not below high_per_s {query.high_per_s:g}",
                expected="a band that ends above its begin",
            )
        band = query.low_per_s, query.high_per_s
    column = next(one for one in COLUMNS if one == query.by)
    return Asked(column, since, until, query.cells, query.top, band, query.margin)
