"""``/api/panel``: one operation of a target, with its windows, baseline and slow spans, as a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import OPS
from iosonde.serve import wire
from iosonde.serve.answers import MEDIA_TYPES, attachment
from iosonde.serve.drawn.sheets import sheet_file
from iosonde.serve.params import RefusalError, SeriesQuery, series_request
from iosonde.serve.pictures import PictureParameters
from iosonde.weather.series.answers import slowdown

if TYPE_CHECKING:
    from iosonde.serve.shared import Shared
    from iosonde.weather.store import Store

    Op = str
else:
    Op = Literal[OPS]


class PanelQuery(PictureParameters, SeriesQuery):
    """Parameters of ``/api/panel``: a range of a series, and a file's form."""

    op: Op = Field(description="which operation")


class PanelRoute:
    """Handler of ``/api/panel``. ``shared`` has the drawing thread."""

    def __init__(self, store: Store, shared: Shared, clock: Callable[[], int]) -> None:
        self._store, self._shared, self._clock = store, shared, clock

    async def answer(self, query: Annotated[PanelQuery, Query()]) -> Response:
        """Content of a panel of the page: its marks as data or as a table, or its picture."""
        now_ns = self._clock()
        asked = series_request(query, now_ns)
        until_ns = now_ns if asked.until_ns is None else asked.until_ns
        found = SlowdownQuery(
            host=query.host,
            target=query.target,
            ops=(query.op,),
            since_ns=asked.since_ns,
            until_ns=until_ns,
            window_ns=query.window_ns,
        )
        body = await self._shared.answer(("panel", query), lambda: self._made(found, query, now_ns))
        if query.format == "json":
            headers = {"cache-control": "no-store"}
            return Response(body, media_type=MEDIA_TYPES["json"], headers=headers)
        return attachment(body, query.format, (query.target, query.op))

    def _made(self, asked: SlowdownQuery, query: PanelQuery, now_ns: int) -> bytes:
        sheets = slowdown(self._store, asked, now_ns).sheets()
        if not sheets:
            raise RefusalError(
                "there are no samples for this panel",
                expected="a range in which something was measured",
                status=404,
            )
        sheet = max(sheets, key=lambda sheet: sum(pane.n for pane in sheet.panes))
        if query.format == "json":
            from iosonde.drawing.sheet import plain

            return wire.dumps(plain(sheet))
        return sheet_file(sheet, query)
