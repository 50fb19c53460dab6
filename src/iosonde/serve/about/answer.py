"""``/api/about``, ``/api/about/cost``, ``/api/about/glossary``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query, Request
from starlette.responses import Response

from iosonde import __version__
from iosonde.model.json_types import as_json
from iosonde.model.ops import DEFAULT_TRAILING_NS, OP_WORDS, SLOW_AT, SLOW_LOWER_AT
from iosonde.serve import wire
from iosonde.serve.about.glossary import read_glossary
from iosonde.serve.answers import JsonBody, json_answer, json_body
from iosonde.serve.params import PageQuery, Parameters
from iosonde.serve.privacy.paths import ShownPaths
from iosonde.weather.cost.answers import costs

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.serve.privacy.pseudonyms import Pseudonyms
    from iosonde.serve.shared import Shared

Nothing = Annotated[Parameters, Query()]


class AboutRoutes:
    """Handlers of the routes. ``static``: the built page, which has the glossary."""

    def __init__(self, root: Path, names: Pseudonyms, shared: Shared, static: Path) -> None:
        self._root, self._names, self._shared, self._static = root, names, shared, static

    async def about(self, request: Request, _: Nothing) -> Response:
        """Version, store, words and thresholds for the page."""
        return json_answer(request, JsonBody(wire.dumps(self._about()), None))

    async def cost(self, request: Request, query: Annotated[PageQuery, Query()]) -> Response:
        """Cost of every running probe for its storage."""
        answer = await self._shared.answer(
            ("cost", query), lambda: json_body(wire.dumps(as_json(costs(self._root, query.part))))
        )
        return json_answer(request, answer)

    async def glossary(self, request: Request, _: Nothing) -> Response:
        """Words of docs/glossary.md; none if the page was not built."""
        body = await self._shared.answer(
            "glossary", lambda: json_body(wire.dumps(read_glossary(self._static)))
        )
        return json_answer(request, body)

    def _about(self) -> dict[str, Any]:
        root, hashed = self._root, self._names.hashed
        return {
            "version": __version__,
            "left_out": ShownPaths(root, self._names).left_out(),
            # The folder above a store is often called after a user.
            "store": root.absolute().name if hashed else str(root.absolute()),
            "names": "hashed" if hashed else "shown",
            "op_words": OP_WORDS,
            "slow_at": SLOW_AT,
            "slow_lower_at": SLOW_LOWER_AT,
            "baseline_trailing_ns": DEFAULT_TRAILING_NS,
        }
